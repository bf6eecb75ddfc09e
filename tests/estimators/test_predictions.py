"""A prediction is that of one row, whatever else is in the batch and wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from every_kernel import BOUNDED, KINDS_FIRST, QUICK, UNBOUNDED, decisions, problem
from sklearn.base import is_classifier

import mklbench
from mklbench.errors import InputError
from mklbench.estimators.base import KernelEstimator
from mklbench.kernels import (
    BUILDERS,
    Precomputed,
    gaussians,
    resolve,
)
from mklbench.kernels.base import Array

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

EXTREMES = (1e10, 1e12, 1e160, 1e300)


def with_extremes(Z: Array, values: Sequence[float]) -> Array:
    """The rows of Z, and after them rows with one entry of each value, in turn in every column."""
    rows = np.repeat(Z[:1], len(values), axis=0)
    rows[np.arange(len(values)), np.arange(len(values)) % Z.shape[1]] = values
    return np.concatenate([Z, rows])


def scale_of(model: KernelEstimator, X: Array) -> float:
    """What decision values of training samples are made of: sum_i |a_i| max k + |b|."""
    kernels = resolve(model.kernel)(X)
    scales = []
    for solution in model.solutions_:
        coefficients = np.abs(solution.dual_coef).sum()
        if solution.thetas is None:
            largest = np.abs(kernels.gram(solution.weights)).max() ** solution.degree
        else:
            largest = solution.weights.sum()
        scales.append(coefficients * largest + abs(solution.intercept))
    return max(scales)


def assert_row_by_row(model: KernelEstimator, X: Array, Z: Array) -> None:
    together = decisions(model, Z)
    alone = np.concatenate([decisions(model, row[None]) for row in Z])
    assert np.isfinite(together).all()
    tolerance = 1e-12 * np.maximum(scale_of(model, X), np.abs(alone))
    assert (np.abs(together - alone) <= tolerance).all()
    if is_classifier(model):  # labels may differ where a value is 0 up to that rounding
        clear = Z[np.abs(alone) > tolerance]
        labels = np.concatenate([model.predict(row[None]) for row in clear])
        np.testing.assert_array_equal(model.predict(clear), labels)


@pytest.mark.parametrize("kernel", [*BOUNDED, *UNBOUNDED])
def test_a_row_is_predicted_alone_on_every_kernel(kernel: str) -> None:
    X, y, Z = problem()
    model = mklbench.KernelSVC({**BOUNDED, **UNBOUNDED}[kernel], C=10.0).fit(X, y)
    assert_row_by_row(model, X, with_extremes(Z, EXTREMES if kernel in BOUNDED else EXTREMES[:2]))


@pytest.mark.parametrize("kernel", ["simplemkl", "normalised", "cosine", "standardised simplemkl"])
def test_a_row_whose_kernels_overflow_is_named(kernel: str) -> None:
    X, y, Z = problem()
    model = mklbench.KernelSVC(UNBOUNDED[kernel], C=10.0).fit(X, y)
    with pytest.raises(InputError, match="row 31 of the new samples is where"):
        model.predict(with_extremes(Z, (1.0, 1e160)))


def test_every_builder_is_tested() -> None:
    assert set(BUILDERS) - {"precomputed"} <= {*BOUNDED, *UNBOUNDED}


@pytest.mark.parametrize("name", KINDS_FIRST)
def test_a_row_is_predicted_alone_by_every_estimator(name: str) -> None:
    X, y, Z = problem()
    model = getattr(mklbench, name)(**QUICK.get(name, {})).fit(X, y)
    overflows = model.kernel == "simplemkl"  # which has polynomials
    assert_row_by_row(model, X, with_extremes(Z, EXTREMES[:2] if overflows else EXTREMES))


@pytest.mark.parametrize("name", ["KernelSVC", "GMKL", "IKL", "LateFusion"])
def test_a_row_is_predicted_alone_in_three_classes(name: str) -> None:
    X, y, Z = problem()
    model = getattr(mklbench, name)(**QUICK.get(name, {})).fit(X, np.where(X[:, 2] > 1, 2, y))
    batch = with_extremes(Z, EXTREMES)
    alone = np.concatenate([decisions(model, row[None]) for row in batch])
    np.testing.assert_allclose(
        decisions(model, batch), alone, rtol=0, atol=1e-12 * scale_of(model, X)
    )


def test_a_row_is_predicted_alone_on_gram_matrices() -> None:
    X, y, Z = problem()
    every = np.concatenate([X, Z])
    K = np.array([gaussians(every, [gamma]).combine([1.0]) for gamma in (0.1, 1.0)])
    n, rows = len(X), np.arange(float(len(every)))[:, None]
    by_rows = mklbench.KernelSVC(Precomputed(K)).fit(rows[:n], y)
    assert_row_by_row(by_rows, rows[:n], rows[n:])
    stacked = mklbench.KernelSVC("precomputed").fit(K[:, :n, :n], y)
    together = stacked.decision_function(K[:, n:, :n])
    alone = [stacked.decision_function(K[:, [i], :n]) for i in range(n, len(every))]
    np.testing.assert_allclose(
        together, np.concatenate(alone), rtol=0, atol=1e-12 * scale_of(stacked, K[:, :n, :n])
    )


class TestOneExtremeTrainingRow:
    """It costs the others no digits."""
