"""Stacks of Gram matrices, and row numbers of one, in scikit-learn's splitters and searches."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
)

from mklbench import KRR, MKL, UniformMKL
from mklbench.errors import InputError
from mklbench.kernels import GramStack, Precomputed
from mklbench.kernels.base import Array

N, M = 60, 4


@pytest.fixture(scope="module")
def samples() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, M))
    return X, np.sign(X[:, 0] + 0.3 * X[:, 1] + 0.2 * rng.normal(size=N))


@pytest.fixture(scope="module")
def stack(samples: tuple[Array, Array]) -> Array:
    X, _ = samples
    return np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))


@pytest.fixture(scope="module")
def on_features(samples: tuple[Array, Array]) -> Array:
    """Held-out decision values of the same kernels, made from features."""
    X, y = samples
    model = MKL(kernel="feature_gaussians", C=2.0, tol=1e-6)
    return cross_val_predict(model, X, y, cv=3, method="decision_function")


# The kernel and X of each form in which the same Gram matrices may come.
FORMS: dict[str, Callable[[Array], tuple[Any, Any]]] = {
    "GramStack": lambda stack: ("precomputed", GramStack(stack)),
    "kernels last": lambda stack: ("precomputed", np.moveaxis(stack, 0, -1)),
    "rows": lambda stack: (Precomputed(stack), np.arange(N)),
    "rows, kernels last": lambda stack: (Precomputed(np.moveaxis(stack, 0, -1)), np.arange(N)),
    "rows of a series": lambda stack: (Precomputed(stack), pd.Series(np.arange(N))),
    "a list of rows": lambda stack: (Precomputed(stack), list(range(N))),
    "a column of rows": lambda stack: (Precomputed(stack), np.arange(N)[:, None]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_split_as_features_are(
    samples: tuple[Array, Array], stack: Array, on_features: Array, form: str
) -> None:
    kernel, X = FORMS[form](stack)
    model = MKL(kernel=kernel, C=2.0, tol=1e-6)
    decision = cross_val_predict(model, X, samples[1], cv=3, method="decision_function")
    np.testing.assert_allclose(decision, on_features, atol=1e-3)


def test_cross_validate_with_several_scorers_and_regression(
    samples: tuple[Array, Array], stack: Array
) -> None:
    X, y = samples
    found = cross_validate(
        UniformMKL(kernel="precomputed"), GramStack(stack), y, scoring=["roc_auc", "accuracy"]
    )
    assert found["test_roc_auc"].mean() > 0.8
    ours = cross_val_score(KRR(kernel="precomputed"), GramStack(stack), X[:, 0])
    theirs = cross_val_score(KRR(kernel="feature_gaussians"), X, X[:, 0])
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_kernels_stand_first_or_last_at_prediction_whatever_they_did_at_fit(
    samples: tuple[Array, Array], stack: Array
) -> None:
    y = samples[1]
    cross = stack[:, 50:, :50]
    expected = MKL(kernel="precomputed").fit(stack[:, :50, :50], y[:50]).decision_function(cross)
    for X in (stack[:, :50, :50], np.moveaxis(stack[:, :50, :50], 0, -1)):
        model = MKL(kernel="precomputed").fit(X, y[:50])
        for Z in (cross, np.moveaxis(cross, 0, -1), GramStack(cross)):
            np.testing.assert_array_equal(model.decision_function(Z), expected)


def test_as_many_kernels_as_samples_stand_first() -> None:
    rng = np.random.default_rng(1)
    n = 12
    X, y = rng.normal(size=(2 * n, n)), np.tile([-1.0, 1.0], n)
    cube = np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))
    train, cross = cube[:, :n, :n], cube[:, n:, :n]
    model = UniformMKL(kernel="precomputed").fit(train, y[:n])
    features = UniformMKL(kernel="feature_gaussians").fit(X[:n], y[:n])
    expected = features.decision_function(X[n:])
    np.testing.assert_allclose(model.decision_function(cross), expected, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(GramStack(cross)), expected, atol=1e-6)
    with pytest.raises(InputError, match="kernel 0 of K is not symmetric"):
        UniformMKL(kernel="precomputed").fit(np.moveaxis(train, 0, -1), y[:n])


def test_rows_and_columns_of_a_stack_are_those_of_its_array(stack: Array) -> None:
    made = GramStack(stack)
    array = np.moveaxis(stack, 0, -1)
    assert made.shape == array.shape
    assert len(made) == N
    np.testing.assert_array_equal(np.asarray(made), array)
    rows, columns = np.array([3, 1, 4]), np.array([1, 5])
    mask = np.arange(N) % 2 == 0
    for key in (np.ix_(rows, columns), rows, mask, slice(2, 9), (slice(3), slice(5)), (rows, ...)):
        np.testing.assert_array_equal(np.asarray(made[key]), array[key])
    copied = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(copied.matrices, stack)
