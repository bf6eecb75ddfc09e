"""Real targets are no classes, and classes are no real targets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_digits

import mklbench
from mklbench import MKL, KernelSVC
from mklbench.errors import InputError
from mklbench.estimators.checks import check_classes

RNG = np.random.default_rng(0)


def test_the_diabetes_set_is_refused_by_a_classifier() -> None:
    """Its targets are whole numbers, in which scikit-learn sees 214 classes without a word."""
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=r"y has 214 different values in 442 rows.* regressor"):
        KernelSVC().fit(X, y)


@pytest.mark.parametrize("n", [40, 100, 200, 442])
def test_so_is_a_part_of_it(n: int) -> None:
    _, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="like real targets"):
        check_classes(RNG.permutation(y)[:n])


CLASSES: dict[str, NDArray[Any]] = {
    "two": np.repeat([0.0, 1.0], 20),
    "digits": load_digits().target.astype(float),
    "200 classes of 10": np.repeat(np.arange(200.0), 10),
    "1600 classes of 2": np.repeat(np.arange(1600.0), 2),
    "codes with gaps": np.repeat(RNG.choice(10_000, 500, replace=False).astype(float), 4),
    "a long tail": np.concatenate([np.repeat(np.arange(10.0) * 7, 30), np.arange(2) + 500.5 - 0.5]),
    "codes, each once": np.arange(30.0),
    "text, each once": np.array([f"species {i}" for i in range(50)]),
    "as many as IDs, in text": np.array([str(i**2) for i in range(50)]),
    "booleans": np.arange(30) % 2 == 0,
    "objects": np.array(["a", "b"] * 20, dtype=object),
}


@pytest.mark.parametrize("name", CLASSES)
def test_no_legitimate_set_of_classes_is_refused(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The number of unique classes")  # of scikit-learn
        check_classes(CLASSES[name])


def test_fractions_are_refused_wherever_they_stand() -> None:
    y = np.repeat([0.0, 1.0], 20)
    y[-1] = 0.25
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        check_classes(y)


@pytest.mark.parametrize("name", ["KRR", "NKRR", "KernelSVR", "MKLRegressor", "AlignRegressor"])
def test_targets_whose_squares_overflow_are_refused(name: str) -> None:
    X = RNG.normal(size=(30, 2))
    model = getattr(mklbench, name)()
    for size in (1e160, 1e300):
        with pytest.raises(ValueError, match=r"y holds .*: targets may be up to 1e\+50"):
            model.fit(X, size * X[:, 0])
    assert np.isfinite(model.fit(X, 1e50 * X[:, 0] / np.abs(X[:, 0]).max()).predict(X)).all()


@pytest.mark.parametrize("dtype", [object, "string", "category", "boolean"])
def test_a_label_that_is_missing_is_told_with_its_row(dtype: Any) -> None:
    labels = pd.Series([True, False] * 10).astype(dtype if dtype == "boolean" else object)
    y = labels.mask(np.arange(20) == 4)
    y = y if dtype == "boolean" else y.map({True: "a", False: "b"}).astype(dtype)
    with pytest.raises(InputError, match="y has no label at row 4: leave out the samples"):
        MKL().fit(np.arange(40.0).reshape(20, 2), y)
