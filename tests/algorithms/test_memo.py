"""MEMO: its gradient by differences, its maxima beside searches of a grid, its limits in theta."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from problems import differences, random_stack

from mklbench.algorithms import memo
from mklbench.kernels import PrecomputedBank

Array = NDArray[np.float64]
N, LAM = 24, 0.02


def small(M: int = 3) -> tuple[Array, Array]:
    """Return Gram matrices (M, n, n) of mean diagonal 1, of different complexity, and labels."""
    stack, y = random_stack(n=N)
    K = stack[:M]
    return K / K.diagonal(axis1=1, axis2=2).mean(axis=1)[:, None, None], y


def spectral_ratio(K: Array) -> float:
    return float(np.trace(K) / np.linalg.norm(K))


def objective(mu: Array, stack: Array, y: Array, theta: float, lam: float = LAM) -> float:
    """Return G, the margin by a conic solver, from the definition."""
    K = np.tensordot(mu, stack, axes=1)
    likeness = np.linalg.norm(K) ** 2 / np.mean([np.linalg.norm(each) ** 2 for each in stack])
    return float(conic_twins.closest_points(K, y, lam)[0]) + 0.5 * theta * float(likeness)


@pytest.mark.parametrize("theta", [0.0, 0.3, 5.0])
def test_the_gradient(theta: float) -> None:
    stack, y = small(5)
    search = memo._Ascent(PrecomputedBank(stack), y, theta, LAM, 1e-12, 10**6)
    mu = np.array([0.1, 0.3, 0.2, 0.15, 0.25])
    point = search.evaluate(mu, theta)
    numeric = differences(lambda at: search.evaluate(at, theta).value, mu, 1e-5)
    assert_allclose(point.gradient, numeric, rtol=1e-4)
    assert_allclose(point.value, objective(mu, stack, y, theta), rtol=1e-6)


@pytest.mark.parametrize("theta", [0.0, 0.3, 10.0])
def test_no_weights_of_a_grid_are_better(theta: float) -> None:
    stack, y = small()
    solution = memo.solve(PrecomputedBank(stack), y, theta=theta, lam=LAM, tol=1e-5)
    assert solution.weights.sum() == pytest.approx(1.0)  # of kernels of mean diagonal 1
    assert_allclose(solution.objective, objective(solution.weights, stack, y, theta), rtol=1e-5)
    shares = np.arange(0, 6) / 5
    grid = [np.array([a, b, 1 - a - b]) for a in shares for b in shares if a + b <= 1 + 1e-9]
    best = max(objective(np.maximum(mu, 0.0), stack, y, theta) for mu in grid)
    assert solution.objective >= best * (1 - 1e-5)


def test_at_theta_0_the_gap_is_a_duality_gap() -> None:
    stack, y = small(5)
    optimum = memo.solve(PrecomputedBank(stack), y, theta=0.0, lam=LAM, tol=1e-6).objective
    for tol in (0.3, 0.05, 1e-3):
        search = memo._Ascent(PrecomputedBank(stack), y, 0.0, LAM, tol, 300)
        point = search.maximum()
        assert point.gap <= tol
        assert point.objective <= optimum * (1 + 1e-6) <= point.objective * (1 + point.gap) + 1e-6


def test_a_larger_theta_gives_a_less_complex_kernel_and_a_smaller_margin() -> None:
    stack, y = small(5)
    found = [
        memo.solve(PrecomputedBank(stack), y, theta=theta, lam=LAM, tol=1e-5, max_iter=500)
        for theta in (0.0, 0.1, 1.0, 100.0)
    ]
    kernels = [np.tensordot(solution.weights, stack, axes=1) for solution in found]
    complexities = [spectral_ratio(K) for K in kernels]
    margins = [conic_twins.closest_points(K, y, LAM)[0] for K in kernels]
    assert (np.diff(complexities) <= 1e-6).all()
    assert (np.diff(margins) <= 1e-6).all()
    assert complexities[-1] < complexities[0]
    least = min(spectral_ratio(K) for K in stack)
    assert complexities[-1] == pytest.approx(least, rel=1e-6)
