"""SMKL: the exact method against a conic solver on each set of kernels, and the paper's method."""

from __future__ import annotations

import itertools
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from mklbench.algorithms import smkl
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank
from mklbench.solution import Solution

C, LAM, K = 10.0, 0.5, 2


@cache
def problem() -> tuple[np.ndarray, np.ndarray]:
    """Return Gram matrices (4, 24, 24) and labels."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=24) > 0, 1.0, -1.0)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    grams = [np.exp(-gamma * squared) for gamma in (2.0, 0.3, 0.05)]
    return np.array([X @ X.T, *grams]), y


def solve(**options: object) -> Solution:
    stack, y = problem()
    given = {"lam": LAM, "cardinality": K, "svm_tol": 1e-6, **options}
    return smkl.solve(PrecomputedBank(stack), y, C, **given)  # type: ignore[arg-type]


def conic(stack: np.ndarray, y: np.ndarray, cardinality: int | None) -> float:
    """Return the least of J(d) + lam ||d||^2 on the simplex, or of the paper's relaxation.

    J is written as in the paper, as the least of C sum xi + theta / 2 where the matrix of theta,
    the outputs f and K_d is positive semidefinite.
    """
    n, M = len(y), len(stack)
    d, z, w = cp.Variable(M, nonneg=True), cp.Variable(M, nonneg=True), cp.Variable(M, nonneg=True)
    xi, b = cp.Variable(n, nonneg=True), cp.Variable()
    S = cp.Variable((n + 1, n + 1), PSD=True)
    combined = sum(d[m] * stack[m] for m in range(M))
    held = [cp.sum(d) == 1, S[1:, 1:] == combined, cp.multiply(y, S[0, 1:] + b) >= 1 - xi]
    if cardinality is None:
        norm = cp.sum_squares(d)
    else:
        held += [z <= 1, cp.sum(z) <= cardinality]
        held += [cp.quad_over_lin(d[m], z[m]) <= w[m] for m in range(M)]
        norm = cp.sum(w)
    programme = cp.Problem(cp.Minimize(C * cp.sum(xi) + 0.5 * S[0, 0] + LAM * norm), held)
    programme.solve(solver=cp.CLARABEL)
    return float(programme.value)


def test_exact_is_the_best_of_all_sets_by_a_conic_solver() -> None:
    stack, y = problem()
    least = min(
        conic(stack[list(chosen)], y, None) for chosen in itertools.combinations(range(4), K)
    )
    solution = solve(method="exact", tol=1e-6, max_iter=200)
    assert solution.converged
    assert_allclose(solution.objective, least, rtol=1e-5)
    assert np.count_nonzero(solution.weights) <= K


def test_the_gap_of_the_alternating_method_holds() -> None:
    best = solve(method="exact", tol=1e-6, max_iter=200).objective
    solution = solve()
    assert solution.objective >= best - 1e-6
    assert solution.objective * (1.0 - solution.gap) <= best + 1e-6
    assert np.count_nonzero(solution.weights) <= K
    assert_allclose(solution.weights.sum(), 1.0)


def test_the_lower_bound_is_below_the_relaxation_of_the_paper() -> None:
    stack, y = problem()
    solution = solve()
    assert solution.objective * (1.0 - solution.gap) <= conic(stack, y, K) + 1e-5


def test_best_responses_find_the_optimum_of_all_kernels_at_a_large_factor() -> None:
    """The problem is then convex, and the responses contract."""
    options = {"lam": 50.0, "cardinality": 4}
    found = solve(**options, tol=1e-9, max_iter=500).objective
    assert_allclose(
        found, solve(**options, method="exact", tol=1e-8, max_iter=500).objective, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("stack", "cardinality", "said"),
    [
        (np.array([np.diag([1.0, -1.0, 1.0, 1.0])] * 2), 1, "kernel 0 is not positive semidef"),
        (np.array([np.eye(4)] * 40), 8, "76904685 sets"),
    ],
)
def test_exact_refuses(stack: np.ndarray, cardinality: int, said: str) -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(InputError, match=said):
        smkl.solve(PrecomputedBank(stack), y, cardinality=cardinality, method="exact")
