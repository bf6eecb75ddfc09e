"""The page on scikit-learn: its code runs, one block after the other."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "with-scikit-learn.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Return what the page's code leaves behind."""
    found: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for block in re.findall(r"^```python\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL):
            exec(compile(block, "with-scikit-learn.md", "exec"), found)
    return found | {"said": said.getvalue()}


def test_weights_bound_the_coefficients_as_the_page_says(names: dict[str, Any]) -> None:
    alpha = np.abs(names["weighted"].dual_coef_)
    bounds = 10 * names["weights"]
    assert (alpha <= bounds * (1 + 1e-9)).all()
    assert (alpha > 10.001).any()  # some above what one without a weight may have
    counts = np.bincount(names["y_train"])
    of_class = len(names["y_train"]) / (2 * counts)
    assert (np.abs(names["balanced"].dual_coef_) <= 10 * of_class[names["y_train"]] + 1e-9).all()


def test_a_search_hands_the_weights_on(names: dict[str, Any]) -> None:
    best = names["search"].best_estimator_
    again = names["MKL"](kernel="gaussians", **names["search"].best_params_)
    again.fit(names["X_train"], names["y_train"], sample_weight=names["weights"])
    np.testing.assert_array_equal(best.dual_coef_, again.dual_coef_)


def test_a_fit_says_what_the_page_shows_but_for_the_seconds(names: dict[str, Any]) -> None:
    (shown,) = re.findall(r"^```text\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)

    def without_seconds(text: str) -> list[str]:
        return [line.rpartition(",")[0] for line in text.splitlines()]

    assert without_seconds(names["said"]) == without_seconds(shown)
    assert len(names["watched"].history_) == len(shown.splitlines())


def test_three_classes_are_calibrated_on_columns_and_on_own_matrices(names: dict[str, Any]) -> None:
    for scores in (names["of_columns"], names["of_matrices"]):
        assert len(scores) == 3
        assert scores.mean() > -0.5  # a third each is log(1/3) = -1.1
    iris, rows = names["iris"], np.arange(150)
    train, test = rows[::2], rows[1::2]
    for ensemble in (False, True):
        calibrated = clone(names["calibrated"]).set_params(ensemble=ensemble)
        found = calibrated.fit(train, iris.target[train]).predict_proba(test)
        assert found.shape == (len(test), 3)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
        assert (found.argmax(axis=1) == iris.target[test]).mean() > 0.9


def test_a_stack_is_calibrated_as_the_page_says(names: dict[str, Any]) -> None:
    iris, K, MKL, GramStack = (names[name] for name in ("iris", "K_iris", "MKL", "GramStack"))
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    own = GramStack(K[:, train][:, :, train])
    model = CalibratedClassifierCV(MKL(kernel="precomputed"), ensemble=False, cv=3)
    of_stack = model.fit(own, iris.target[train]).predict_proba(GramStack(K[:, test][:, :, train]))
    of_rows = clone(names["calibrated"]).set_params(ensemble=False).fit(train, iris.target[train])
    np.testing.assert_allclose(of_stack, of_rows.predict_proba(test), atol=1e-12)
    with pytest.raises(ValueError, match="without their columns, as CalibratedClassifierCV"):
        model.set_params(ensemble=True).fit(own, iris.target[train])


def test_probabilities_are_those_of_the_labels(names: dict[str, Any]) -> None:
    probabilities = names["probabilities"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    surest = probabilities.max(axis=1) > 0.9
    right = probabilities.argmax(axis=1) == names["y_test"]
    assert right[surest].mean() > 0.9
