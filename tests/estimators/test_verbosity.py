"""``verbose=1`` prints a line an iteration, and changes nothing of what is solved."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from every_kernel import KINDS_FIRST
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

import mklbench
from mklbench import MKL, VSKL, NKRRClassifier
from mklbench.estimators.base import KernelEstimator

A, LABELS = load_iris(return_X_y=True)
A = StandardScaler().fit_transform(A)[::2]
NAMES_OF_CLASSES = np.array(["setosa", "versicolor", "virginica"])[LABELS[::2]]
X, Y = A[25:], NAMES_OF_CLASSES[25:]
LINE = re.compile(
    r"\[(?P<estimator>\w+)( class (?P<label>'\w+'),)? iteration (?P<number>\d+)\] "
    r"J (?P<objective>\S+), (gap (?P<gap>\S+), )?(?P<active>\d+) active kernels?, \d+\.\d\d s"
)


def fitted(name: str, verbose: int) -> KernelEstimator:
    model: KernelEstimator = getattr(mklbench, name)(verbose=verbose)
    return model.fit(X, X[:, 0] if is_regressor(model) else Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", KINDS_FIRST)
def test_a_line_an_entry_of_the_history_where_the_page_says_so(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = fitted(name, 1)
    lines = capsys.readouterr().out.splitlines()
    told = [match for line in lines if (match := LINE.fullmatch(line))]
    assert len(told) == len(lines)
    about_verbose = (type(model).__doc__ or "").split("verbose : int, default=0\n")[1]
    if "Prints nothing" in about_verbose.split("\n")[0]:
        assert not lines
        return
    history = model.solutions_[0].history
    assert len(lines) == len(history)
    for number, (entry, match) in enumerate(zip(history, told, strict=True)):
        assert match["estimator"] == name
        assert int(match["number"]) == number
        assert float(match["objective"]) == pytest.approx(entry["objective"], rel=1e-5)
        assert int(match["active"]) == entry["n_active"]
        assert (match["gap"] is None) == (not np.isfinite(entry.get("gap", np.inf)))
        if match["gap"] is not None:
            assert float(match["gap"]) == pytest.approx(entry["gap"], rel=0.06)


@pytest.mark.parametrize("model", [MKL(), VSKL(), NKRRClassifier()], ids=lambda m: type(m).__name__)
def test_classes_are_told_apart_also_side_by_side(
    model: KernelEstimator, capsys: pytest.CaptureFixture[str]
) -> None:
    loud = clone(model).set_params(verbose=1).fit(A, NAMES_OF_CLASSES)
    told = [LINE.fullmatch(line) for line in capsys.readouterr().out.splitlines()]
    for label, history in zip(loud.classes_, loud.history_, strict=True):
        of_class = [match for match in told if match and match["label"] == repr(str(label))]
        objectives = [float(match["objective"]) for match in of_class]
        assert objectives == pytest.approx([entry["objective"] for entry in history], rel=1e-5)
    quiet = clone(model).fit(A, NAMES_OF_CLASSES)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(quiet.dual_coef_, loud.dual_coef_)
    assert quiet.history_ == loud.history_


def test_it_is_a_number() -> None:
    refused: Any
    for refused in (-1, "loud", 0.5):
        with pytest.raises(ValueError, match="The 'verbose' parameter of MKL must be"):
            MKL(verbose=refused).fit(X, Y)
