"""The page on scikit-learn: its code runs, one block after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "with-scikit-learn.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Return what the page's code leaves behind."""
    found: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "with-scikit-learn.md", "exec"), found)
    return found


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


def test_probabilities_are_those_of_the_labels(names: dict[str, Any]) -> None:
    probabilities = names["probabilities"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    surest = probabilities.max(axis=1) > 0.9
    right = probabilities.argmax(axis=1) == names["y_test"]
    assert right[surest].mean() > 0.9
