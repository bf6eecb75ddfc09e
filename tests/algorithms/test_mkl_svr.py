"""MKL for regression: against a conic solver, in other units, and at its edges."""

from __future__ import annotations

from typing import Any

import conic_twins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from problems import differences, random_problem, random_stack

from mklbench import certify
from mklbench.algorithms import mkl_svr, svr
from mklbench.certify import PrimalDualPoint, Tube
from mklbench.kernels import PrecomputedBank
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution

# The conic solver says so where it misses its 1e-9.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

Array = np.ndarray

N, N_KERNELS = 40, 6


def problem(seed: int = 0, n: int = N) -> tuple[Array, Array]:
    """Return Gram matrices (M, n, n) and real targets (n,) that depend on two of their features."""
    X, _ = random_problem(n, N_KERNELS, seed)
    return random_stack(n, N_KERNELS, seed)[0], np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2


def solve(stack: Array, y: Array, C: float, epsilon: float, **options: Any) -> Solution:
    """Solve, and check what holds for every solution, from the numbers returned alone."""
    bank = PrecomputedBank(stack)
    solution = mkl_svr.solve(bank, y, C, epsilon=epsilon, **options)
    a, d = solution.dual_coef, solution.weights
    assert (d >= 0).all()
    assert d.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.abs(a).max() <= C
    assert abs(a.sum()) <= 1e-10 * max(np.abs(a).sum(), 1e-300)
    # Targets are moved by their mean, as rounding of sum a would else be multiplied by it.
    moved = Solution(**{**vars(solution), "intercept": solution.intercept - y.mean()})
    point = PrimalDualPoint.on_bank(bank, Tube(y - y.mean(), C, epsilon), moved)
    bounds = certify.bounds(point, Simplex())
    rounding = 1e-9 + 1e-14 * C * len(y) / max(bounds.upper, 1e-300)
    assert bounds.relative_gap == pytest.approx(solution.gap, rel=1e-4, abs=rounding)
    assert solution.objective == pytest.approx(point.objective, rel=1e-9, abs=1e-12)
    return solution


def check_optimal(stack: Array, y: Array, C: float, epsilon: float) -> Solution:
    """Solve to 1e-6 and compare with the conic solver."""
    solution = solve(stack, y, C, epsilon, tol=1e-6)
    assert solution.converged
    twin = conic_twins.mkl_svr(stack, y, C, epsilon)
    assert solution.objective == pytest.approx(twin.value, rel=5e-6)
    assert_allclose(solution.weights, twin.weights, atol=1e-3)
    return solution


class TestOptimum:
    @pytest.mark.parametrize(
        ("C", "epsilon"), [(1e-3, 0.1), (0.1, 0.0), (1.0, 0.1), (1.0, 1.0), (100.0, 0.0)]
    )
    def test_of_a_conic_solver(self, C: float, epsilon: float) -> None:
        check_optimal(*problem(), C, epsilon)

    def test_in_few_calls(self) -> None:
        """A tube as wide as noise usually is, and C from far below to far above what is chosen."""
        for C in (0.1, 1.0, 10.0, 100.0):
            assert solve(*problem(1), C, 0.3, tol=1e-4).n_svm_calls <= 8

    def test_duplicate_rows_with_other_targets(self) -> None:
        stack, y = problem()
        twice = np.r_[np.arange(N), np.arange(N // 2)]
        for C in (1.0, 100.0):
            check_optimal(stack[:, twice][:, :, twice], np.r_[y, y[: N // 2] + 0.5], C, 0.1)

    def test_equal_kernels_share_what_one_has(self) -> None:
        stack, y = problem()
        doubled = solve(np.concatenate([stack, stack]), y, 3.0, 0.1, tol=1e-8)
        single = solve(stack, y, 3.0, 0.1, tol=1e-8)
        assert doubled.objective == pytest.approx(single.objective, rel=1e-7)
        assert_allclose(doubled.weights.reshape(2, -1).sum(axis=0), single.weights, atol=1e-4)

    def test_gradient(self) -> None:
        """dJ/dd_m = -1/2 a' K_m a, by central differences of the SVR's value."""
        stack, y = problem()
        d = np.full(N_KERNELS, 1 / N_KERNELS)

        def at(weights: Array) -> Solution:
            return svr.solve(PrecomputedBank(stack), y, 1.0, weights=weights, svm_tol=1e-8)

        a = at(d).dual_coef
        numeric = differences(lambda weights: at(weights).objective, d, 1e-4)
        assert_allclose(numeric, -0.5 * a @ stack @ a, rtol=2e-3)


class TestUnits:
    @given(st.floats(-6, 6), st.floats(-1e6, 1e6), st.integers(0, 3))
    @settings(max_examples=8, deadline=None)
    def test_of_the_targets_do_not_matter(self, power: float, shift: float, seed: int) -> None:
        stack, y = problem(seed)
        unit = 10.0**power
        shift *= unit
        there = mkl_svr.solve(PrecomputedBank(stack), y, 2.0, epsilon=0.1)
        here = mkl_svr.solve(
            PrecomputedBank(stack), unit * y + shift, 2.0 * unit, epsilon=0.1 * unit
        )
        assert here.objective == pytest.approx(unit**2 * there.objective, rel=2e-4)
        assert_allclose(here.dual_coef / unit, there.dual_coef, atol=0.05)
        assert (here.intercept - shift) / unit == pytest.approx(there.intercept, abs=0.01)

    def test_of_the_kernels_do_not_matter(self) -> None:
        """With s K, f and C stay, and a is divided by s."""
        stack, y = problem()
        there = solve(stack, y, 2.0, 0.1, tol=1e-7)
        for scale in (1e-8, 1e-3, 1e4):
            here = solve(scale * stack, y, 2.0 / scale, 0.1, tol=1e-7)
            assert scale * here.objective == pytest.approx(there.objective, rel=1e-6)


class TestEdges:
    @pytest.mark.parametrize("epsilon", [2.0, 100.0])
    def test_a_tube_wider_than_the_targets(self, epsilon: float) -> None:
        stack, _ = problem()
        y = np.linspace(-1.0, 3.0, N)
        solution = solve(stack, y, 10.0, epsilon)
        assert not solution.dual_coef.any()
        assert (solution.objective, solution.gap, solution.converged) == (0.0, 0.0, True)
        assert solution.intercept == 1.0

    def test_constant_targets(self) -> None:
        solution = solve(problem()[0], np.full(N, 7.5), 10.0, 0.0)
        assert (solution.intercept, solution.objective) == (7.5, 0.0)

    @pytest.mark.parametrize("C", [1e-12, 1e-8, 1e8])
    def test_tiny_and_huge_C(self, C: float) -> None:
        stack, y = problem()
        solution = solve(stack, y, C, 0.1)
        assert solution.converged

    def test_kernels_of_zeros_are_left_out(self) -> None:
        stack, y = problem()
        with_zeros = np.concatenate([np.zeros((2, N, N)), stack])
        solution = solve(with_zeros, y, 3.0, 0.1, tol=1e-7)
        assert_array_equal(solution.weights[:2], 0.0)
        assert solution.objective == pytest.approx(solve(stack, y, 3.0, 0.1, tol=1e-7).objective)

    def test_a_limit_on_the_calls(self) -> None:
        stack, y = problem(1)
        for most in (1, 2, 3):
            assert solve(stack, y, 100.0, 0.0, max_iter=most).n_svm_calls <= most


def test_a_start_at_the_optimum() -> None:
    stack, y = problem()
    there = solve(stack, y, 10.0, 0.1, tol=1e-6)
    again = solve(stack, y, 10.0, 0.1, start=there.weights)
    assert again.converged
    assert again.n_svm_calls <= 2
    assert again.objective == pytest.approx(there.objective, rel=1e-4)
