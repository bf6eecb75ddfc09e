"""The exact solver: reference problems, certificates, degenerate and random problems, starts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import conic_twins
import numpy as np
import pytest
from cases import rest_slow
from certificates import bank_bounds
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem, random_stack
from reference_problems import GRID, NAMES, Problem, reference_problem

from mklbench.algorithms import mkl
from mklbench.kernels import PrecomputedBank
from mklbench.solution import Solution

# The conic solver says so where it misses its 1e-9.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

Array = np.ndarray

# SVM calls that the solver may take to a gap.
CALLS = {1e-2: 9, 1e-4: 12}


def solve(stack: Array, y: Array, C: float, **options: Any) -> Solution:
    """Solve, and check what holds for every solution."""
    bank = PrecomputedBank(stack)
    with np.errstate(all="raise", under="ignore"):
        solution = mkl.solve(bank, y, C, **options)
    box = C * np.ones(len(y))
    for label, factor in options.get("class_weight", {}).items():
        box[y == label] *= factor
    check_certificate(bank, y, box, solution)
    check_weights(solution.weights)
    return solution


def check_certificate(bank: PrecomputedBank, y: Array, box: Array, solution: Solution) -> None:
    """Certify the numbers returned, with nothing else of the solver's."""
    alpha = y * solution.dual_coef
    assert (alpha >= 0).all()
    assert (alpha <= box).all()
    assert abs(solution.dual_coef.sum()) <= 1e-11 * alpha.sum()
    bounds = bank_bounds(bank, y, solution, box)
    rounding = 1e-11 + 1e-16 * alpha.sum()
    assert bounds.relative_gap == pytest.approx(solution.gap, rel=1e-6, abs=rounding)
    value = alpha.sum() - 0.5 * solution.weights @ bank.quadratic_forms(solution.dual_coef)
    assert solution.objective == pytest.approx(value, rel=1e-9)
    rounding = 1e-12 * bounds.upper
    assert bounds.lower - rounding <= solution.objective <= bounds.upper + rounding


def check_weights(weights: Array) -> None:
    assert (weights >= 0).all()
    assert weights.sum() == 1.0


def check_optimal(stack: Array, y: Array, C: float, **options: object) -> Solution:
    """Solve to 1e-8 and compare the objective with that of the conic solver."""
    solution = solve(stack, y, C, tol=1e-8, **options)
    assert solution.converged
    assert solution.gap <= 1e-8
    assert_allclose(solution.objective, conic_twins.mkl(stack, y, C).value, rtol=1e-6)
    return solution


@lru_cache(maxsize=1)
def bank_of(base: str) -> PrecomputedBank:
    return PrecomputedBank(reference_problem(f"{base}-C1").K)


@pytest.fixture(scope="module", params=rest_slow(GRID, "synthetic-C10"))
def reference(request: pytest.FixtureRequest) -> tuple[Problem, PrecomputedBank]:
    problem = reference_problem(request.param)
    return problem, bank_of(request.param.rsplit("-", 1)[0])


class TestReferenceProblems:
    def test_every_known_optimum_is_compared_with(self) -> None:
        assert len(NAMES) == 9
        assert set(NAMES) <= set(GRID)

    @pytest.mark.parametrize("tol", CALLS)
    def test_gap_calls_and_optimum(
        self, reference: tuple[Problem, PrecomputedBank], tol: float
    ) -> None:
        problem, bank = reference
        solution = mkl.solve(bank, problem.y, problem.C, tol=tol)
        check_certificate(bank, problem.y, np.full(len(problem.y), problem.C), solution)
        check_weights(solution.weights)
        assert solution.converged
        assert solution.gap <= tol
        assert solution.n_svm_calls <= CALLS[tol]
        if problem.optimum is not None:
            assert solution.objective == pytest.approx(problem.optimum.value, rel=tol)
            assert solution.objective * (1 + tol) >= problem.optimum.lower_bound

    def test_a_gap_below_single_precision(self, reference: tuple[Problem, PrecomputedBank]) -> None:
        problem, bank = reference
        solution = mkl.solve(bank, problem.y, problem.C, tol=1e-8)
        check_certificate(bank, problem.y, np.full(len(problem.y), problem.C), solution)
        assert solution.converged
        assert solution.gap <= 1e-8
        assert solution.n_svm_calls <= 2 * CALLS[1e-4]
        if problem.optimum is not None:
            # The conic solver's values are right to 3e-5 or better.
            assert solution.objective == pytest.approx(problem.optimum.value, rel=3e-5)

    def test_most_weights_are_exactly_zero(
        self, reference: tuple[Problem, PrecomputedBank]
    ) -> None:
        """The kernels outside the support are those that the optimum does not ask for."""
        problem, bank = reference
        solution = mkl.solve(bank, problem.y, problem.C, tol=1e-8)
        q = bank.quadratic_forms(solution.dual_coef)
        unwanted = q < (1 - 1e-2) * q.max()
        assert unwanted.any()
        assert (solution.weights[unwanted] == 0).all()


def check_history(solution: Solution) -> None:
    """One entry an accepted SVM and one of the result; J decreases but for LIBSVM's inaccuracy."""
    calls = [entry["n_svm_calls"] for entry in solution.history]
    objectives = np.array([entry["objective"] for entry in solution.history])
    assert solution.n_iter == len(solution.history) - 1
    assert calls[0] == 1
    assert (np.diff(calls[:-1]) >= 1).all()
    assert calls[-1] == solution.n_svm_calls
    assert solution.history[-1]["gap"] <= solution.gap + 1e-12
    assert (np.diff(objectives) <= 1e-2 * objectives[:-1]).all()


class TestOptimum:
    @pytest.mark.parametrize("C", [0.01, 1.0, 30.0, 1e3])
    @pytest.mark.parametrize("seed", rest_slow(range(4), 0))
    def test_equals_that_of_a_conic_solver(self, seed: int, C: float) -> None:
        stack, y = random_stack(n=40, n_kernels=6, seed=seed)
        check_optimal(stack, y, C)

    @pytest.mark.parametrize("class_weight", [{-1: 0.2}, {1: 7.0, -1: 0.5}])
    def test_bounds_of_classes(self, class_weight: dict[int, float]) -> None:
        stack, y = random_stack()
        box = 3.0 * np.where(y > 0, class_weight.get(1, 1.0), class_weight.get(-1, 1.0))
        solution = solve(stack, y, 3.0, tol=1e-8, class_weight=class_weight)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, box).value, rtol=1e-6)


class TestInvariance:
    @pytest.mark.parametrize("factor", [1e-6, 1e6])
    def test_units_of_the_kernels(self, factor: float) -> None:
        """K times a factor and C divided by it divide J by it, and move no weight."""
        stack, y = random_stack(n=50, n_kernels=8)
        there = solve(stack, y, 5.0, tol=1e-8)
        here = solve(factor * stack, y, 5.0 / factor, tol=1e-8)
        assert here.converged
        assert_allclose(factor * here.objective, there.objective, rtol=1e-7)
        assert_allclose(here.weights, there.weights, atol=1e-3)


class TestDegenerateProblems:
    @pytest.mark.parametrize("C", [0.01, 1e3])
    def test_duplicate_kernels(self, C: float) -> None:
        stack, y = random_stack()
        thrice = check_optimal(np.concatenate([stack] * 3), y, C)
        once = solve(stack, y, C, tol=1e-8)
        assert_allclose(thrice.objective, once.objective, rtol=1e-7)

    @pytest.mark.parametrize("C", [0.01, 1e3])
    def test_one_kernel_is_an_svm(self, C: float) -> None:
        stack, y = random_stack()
        solution = check_optimal(stack[:1], y, C)
        assert_array_equal(solution.weights, [1.0])
        assert_allclose(solution.objective, conic_twins.svm(stack[0], y, C).value, rtol=1e-6)

    @pytest.mark.parametrize(("C", "place"), [(0.01, 0), (1.0, 5), (1e3, 2)])
    def test_a_zero_kernel_gets_no_weight(self, C: float, place: int) -> None:
        stack, y = random_stack()
        solution = check_optimal(np.insert(stack, place, 0.0, axis=0), y, C)
        assert solution.weights[place] == 0.0

    @pytest.mark.parametrize("n_positive", [1, 3, 4])
    def test_nothing_but_zero_kernels(self, n_positive: int) -> None:
        """Alpha is at its bound on the smaller class and as much in sum on the other."""
        y = np.where(np.arange(8) < n_positive, 1.0, -1.0)
        solution = solve(np.zeros((3, 8, 8)), y, 5.0, tol=1e-8)
        assert solution.converged
        assert solution.objective == pytest.approx(2 * 5.0 * n_positive)

    def test_fewer_samples_than_kernels(self) -> None:
        stack, y = random_stack(n=6, n_kernels=40)
        for C in (0.1, 10.0, 1e4):
            check_optimal(stack, y, C)


def mixed_problem(seed: int) -> tuple[Array, Array, float]:
    """Return 1 to 20 kernels of all kinds on 4 to 60 samples, labels, and C in 1e-3 ... 1e4."""
    rng = np.random.default_rng(seed)
    n, n_kernels = int(rng.integers(4, 61)), int(21 ** rng.uniform())
    X = rng.standard_normal((n, 5))
    score = X[:, 0] + rng.uniform(0.0, 2.0) * rng.standard_normal(n)
    y = np.where(score > rng.standard_normal(), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    stack: list[Array] = []
    for _ in range(n_kernels):
        x = X[:, rng.integers(5)]
        gamma = 10.0 ** rng.uniform(-2.0, 1.0)
        kinds = [
            np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2)),
            np.exp(-gamma * (x[:, None] - x) ** 2),
            np.outer(x, x),
            np.eye(n),
            np.zeros((n, n)),
            *stack[-1:],  # the same again
        ]
        stack.append(kinds[rng.integers(len(kinds))])
    return np.array(stack), y, float(10.0 ** rng.uniform(-3.0, 4.0))


@pytest.mark.parametrize("seed", rest_slow(range(100), *range(15)))
def test_random_problems(seed: int) -> None:
    solution = solve(*mixed_problem(seed))
    assert solution.converged
    assert solution.gap <= 1e-4
    assert solution.n_svm_calls <= 25
    check_history(solution)


class TestHardProblems:
    def test_alpha_too_large_for_single_precision(self) -> None:
        """Times 2^-24, their sum is more than the tolerance of the margins."""
        X, y = random_problem(60, 3)
        difference = X.T[:, :, None] - X.T[:, None, :]
        stack = np.concatenate([X.T[:, :, None] * X.T[:, None, :], np.exp(-0.1 * difference**2)])
        solution = solve(stack, y, 1e5, tol=1e-7)
        assert np.abs(solution.dual_coef).sum() > 5e5
        assert solution.converged
        assert solution.n_svm_calls <= 12
        check_history(solution)

    def test_more_samples_than_a_model_takes(self) -> None:
        stack, y = random_stack(n=500, n_kernels=3)
        solution = solve(stack, y, 10.0, tol=1e-6)
        assert solution.converged
        assert solution.n_svm_calls <= 12


class TestStart:
    def test_at_the_optimum(self) -> None:
        stack, y = random_stack(n=80, n_kernels=20)
        cold = solve(stack, y, 100.0, tol=1e-6)
        warm = solve(stack, y, 100.0, start=cold.weights)
        assert warm.converged
        assert warm.n_svm_calls <= 2 < cold.n_svm_calls

    @pytest.mark.parametrize("vertex", [0, 3])
    def test_at_a_vertex(self, vertex: int) -> None:
        stack, y = random_stack(n=60, n_kernels=6)
        cold = solve(stack, y, 30.0, tol=1e-8)
        warm = solve(stack, y, 30.0, tol=1e-8, start=np.eye(6)[vertex])
        assert warm.converged
        assert_allclose(warm.objective, cold.objective, rtol=2e-8)

    def test_at_a_zero_kernel(self) -> None:
        """The function there is constant and says nothing of the other kernels."""
        stack, y = random_stack()
        with_zero = np.insert(stack, 0, 0.0, axis=0)
        warm = solve(with_zero, y, 10.0, tol=1e-8, start=np.eye(6)[0])
        assert warm.converged
        assert_allclose(warm.objective, solve(stack, y, 10.0, tol=1e-8).objective, rtol=2e-8)


class TestIterations:
    def test_a_limit_is_kept_and_more_brings_the_gap_down(self) -> None:
        stack, y = random_stack(n=80, n_kernels=20)
        solutions = [solve(stack, y, 100.0, tol=1e-8, max_iter=limit) for limit in (1, 2, 3, 4)]
        gaps = [solution.gap for solution in solutions]
        assert [solution.n_svm_calls for solution in solutions] == [1, 2, 3, 4]
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[-1] < 0.1 * gaps[0]


def test_a_tolerance_below_rounding_ends_at_rounding() -> None:
    K, y = random_stack(n=60)
    solution = mkl.solve(PrecomputedBank(K), y, 1.0, tol=1e-300)
    assert solution.converged
    assert solution.gap <= 1e-12
    assert solution.n_svm_calls < 50
