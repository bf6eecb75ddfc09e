"""Radius-margin MKL and GRAM: gradients by differences, optima by a conic solver."""

from __future__ import annotations

from types import ModuleType

import conic_twins
import cvxpy as cp
import numpy as np
import pytest
from conic_twins import root
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from problems import categories, differences, random_problem, random_stack

from mklbench import certify
from mklbench.algorithms import gram, radius_margin
from mklbench.certify import Bounds
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective

Array = NDArray[np.float64]
BOTH = pytest.mark.parametrize("algorithm", [radius_margin, gram])


def conic_radius_margin(stack: Array, y: Array, C: float) -> float:
    """Return the least of 1/2 sum_m ||w_m||^2 / v_m + C sum xi over w, b, v >= 0 and R^2(v) <= 1.

    R^2(v) <= 1 as there is a centre c = (sqrt(v_m) c_m) is not affine in v, but its dual is a
    maximum of linear functions: it is enforced on the fly, by the beta of a ball.
    """
    n, M = len(y), len(stack)
    roots = [root(K) for K in stack]
    w = [cp.Variable(len(R)) for R in roots]
    v, b, xi = cp.Variable(M, nonneg=True), cp.Variable(), cp.Variable(n, nonneg=True)
    outputs = sum(R.T @ part for R, part in zip(roots, w, strict=True)) + b
    price = sum(cp.quad_over_lin(part, v[m]) for m, part in enumerate(w))
    constraints = [cp.multiply(y, outputs) >= 1 - xi]
    diagonals = np.array([K.diagonal() for K in stack])
    beta = np.full(n, 1 / n)
    for _ in range(60):
        radii = diagonals @ beta - np.einsum("i,mij,j->m", beta, stack, beta)
        constraints.append(radii @ v <= 1)
        problem = cp.Problem(cp.Minimize(0.5 * price + C * cp.sum(xi)), constraints)
        problem.solve(solver=cp.CLARABEL)
        K = np.tensordot(v.value, stack, axes=1)
        beta = conic_ball(K)
        if beta @ K.diagonal() - beta @ K @ beta <= 1 + 1e-6:
            break
    else:
        raise AssertionError("the cutting planes did not end")
    return float(problem.value)


def conic_ball(K: Array) -> Array:
    beta = cp.Variable(len(K), nonneg=True)
    value = K.diagonal() @ beta - cp.sum_squares(root(K) @ beta)
    cp.Problem(cp.Maximize(value), [cp.sum(beta) == 1]).solve(solver=cp.CLARABEL)
    return np.maximum(beta.value, 0.0) / np.maximum(beta.value, 0.0).sum()


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_optimum_of_radius_margin(C: float) -> None:
    stack, y = random_stack(n=30)
    solution = radius_margin.solve(PrecomputedBank(stack), y, C, tol=1e-4, max_iter=300)
    optimum = conic_radius_margin(stack, y, C)
    assert solution.converged
    assert_allclose(solution.objective, optimum, rtol=3e-4)
    assert (solution.objective - optimum) / solution.objective <= solution.gap + 1e-5
    K = np.tensordot(solution.weights, stack, axes=1)
    assert_allclose(conic_twins.squared_radius(K), 1.0, rtol=1e-5)
    assert_allclose(conic_twins.svm(K, y, C).value, solution.objective, rtol=1e-3)


def test_gradient_of_radius_margin() -> None:
    stack, y = random_stack(n=30)
    bank = PrecomputedBank(stack)
    search = radius_margin._RadiusMarginSearch(
        bank, Objective(bank, Problem.of(y, 10.0, svm_tol=1e-8)), tol=1e-12
    )
    check_gradient(search, len(stack))


def test_gradient_of_gram() -> None:
    stack, y = random_stack(n=30)
    check_gradient(gram._RatioSearch(PrecomputedBank(stack), y, lam=0.01, tol=1e-12), len(stack))


def check_gradient(search: radius_margin._RadiusMarginSearch | gram._RatioSearch, M: int) -> None:
    u = np.linspace(0.5, 2.0, M)
    _, gradient = search._visit(u)
    numeric = differences(lambda at: search._visit(at)[0], u, 1e-4)
    assert_allclose(gradient, numeric, rtol=2e-3, atol=1e-4 * np.abs(gradient).max())
    assert abs(gradient @ u) <= 1e-4 * np.abs(gradient).max()  # G does not depend on the scale


@pytest.mark.parametrize("lam", [0.0, 0.05])
def test_optimum_of_gram(lam: float) -> None:
    """Beside a search that knows nothing of the convex problem: Nelder and Mead on log weights."""
    from scipy.optimize import minimize

    stack, y = random_stack(n=24)
    stack = stack[:3]

    def ratio(logs: Array) -> float:
        K = np.tensordot(np.exp(logs), stack, axes=1)
        beta = conic_ball(K)
        K = K / (beta @ K.diagonal() - beta @ K @ beta)
        return float(1.0 / conic_twins.closest_points(K, y, lam)[0])

    found = minimize(ratio, np.zeros(3), method="Nelder-Mead", options={"maxfev": 40})
    solution = gram.solve(PrecomputedBank(stack), y, lam=lam, tol=1e-5, max_iter=300)
    assert solution.objective <= found.fun * (1 + 1e-4)
    assert solution.objective * (1 - 1e-5) <= found.fun
    assert solution.history[0]["objective"] >= solution.objective


def test_bounds_of_the_ratio_hold() -> None:
    stack, y = random_stack(n=24)
    best = gram.solve(PrecomputedBank(stack), y, lam=0.0, tol=1e-4, max_iter=300).objective
    rng = np.random.default_rng(0)
    for _ in range(50):
        beta, gamma = rng.dirichlet(np.full(24, 0.3)), rng.dirichlet(np.full(24, 0.3))
        for side in (y > 0, y < 0):
            gamma[side] /= gamma[side].sum()
        radii = stack.diagonal(axis1=1, axis2=2) @ beta
        radii -= np.einsum("i,mij,j->m", beta, stack, beta)
        forms = np.einsum("i,mij,j->m", y * gamma, stack, y * gamma)
        assert certify.ratio_bounds(Bounds(1.0, 1e-3), radii, forms).lower <= best * (1 + 1e-9)


@pytest.mark.slow
def test_equal_samples_leave_no_gap_of_radius_margin() -> None:
    """The balls of single points tell nothing there: L-BFGS ends with gaps of 1 % and more."""
    stack, y = categories(3)
    solution = radius_margin.solve(PrecomputedBank(stack), y, 100.0, max_iter=300)
    optimum = conic_radius_margin(stack, y, 100.0)
    assert solution.converged
    assert solution.n_iter <= 300
    assert solution.objective * (1 - solution.gap) <= optimum * (1 + 1e-5)
    assert optimum <= solution.objective * (1 + 1e-4)


@BOTH
def test_a_constant_kernel_takes_no_part(algorithm: ModuleType) -> None:
    stack, y = random_stack(n=30)
    padded = np.concatenate([stack, np.full_like(stack[:1], 3.0)])
    assert algorithm.solve(PrecomputedBank(padded), y).weights[-1] == 0
    with pytest.raises(InputError, match="all 1 kernels are constant"):
        algorithm.solve(PrecomputedBank(padded[-1:]), y)


def test_gram_needs_classes_that_are_apart() -> None:
    X, y = random_problem(60, 2)
    bank = PrecomputedBank((X @ X.T)[None])
    with pytest.raises(InputError, match="lam=0 asks for kernels that separate the classes"):
        gram.solve(bank, y, lam=0.0)
    assert gram.solve(bank, y).converged
    assert radius_margin.solve(bank, y).converged
