"""SimpleMKL against a conic solver, on special banks, and on the reference problems."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from cases import rest_slow
from certificates import bank_bounds
from narrowing import present
from numpy.testing import assert_allclose
from problems import random_problem, random_stack
from reference_problems import reference_problem

from benchmarks.reference import synthetic_samples
from mklbench.algorithms import simplemkl
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, feature_gaussians, product_gaussians


class TestOptimum:
    @pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
    def test_equals_that_of_a_conic_solver(self, C: float) -> None:
        stack, y = random_stack(seed=1)
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=C, tol=1e-4)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, C).value, rtol=1e-4)

    def test_equals_that_of_a_conic_solver_for_boxes_of_classes(self) -> None:
        stack, y = random_stack()
        solution = simplemkl.solve(
            PrecomputedBank(stack), y, C=3.0, tol=1e-4, class_weight={-1: 0.2}
        )
        value = conic_twins.mkl(stack, y, np.where(y > 0, 3.0, 0.6)).value
        assert_allclose(solution.objective, value, rtol=1e-4)

    def test_weights_of_a_unique_optimum(self) -> None:
        stack, y = random_stack(n=60, n_kernels=3)
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=1.0, tol=1e-5)
        assert_allclose(solution.weights, conic_twins.mkl(stack, y, 1.0).weights, atol=1e-2)

    def test_kernels_in_use_have_the_largest_quadratic_form(self) -> None:
        stack, y = random_stack(n=60, n_kernels=12)
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=0.5, tol=1e-5)
        q = PrecomputedBank(stack).quadratic_forms(solution.dual_coef)
        used = solution.weights > 1e-3
        assert 1 < used.sum() < 12
        assert_allclose(q[used], q.max(), rtol=1e-2)

    def test_the_optimum_is_sparse_where_few_kernels_matter(self) -> None:
        X, y = synthetic_samples()
        solution = simplemkl.solve(feature_gaussians(X[:, :20]), y, C=0.2)
        assert 0 < np.count_nonzero(solution.weights) < 20

    @pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
    def test_the_gap_is_certified_and_reached(self, tol: float) -> None:
        stack, y = random_stack()
        bank = PrecomputedBank(stack)
        solution = simplemkl.solve(bank, y, C=10.0, tol=tol)
        bounds = bank_bounds(bank, y, solution, 10.0)
        assert solution.gap == pytest.approx(bounds.relative_gap, abs=1e-12)
        assert solution.gap <= tol
        value = conic_twins.mkl(stack, y, 10.0).value
        assert bounds.lower <= value * (1 + 1e-7)
        assert bounds.upper >= value * (1 - 1e-7)

    def test_the_inner_solver_is_made_accurate_enough(self) -> None:
        """From a very inexact SVM the same optimum is reached."""
        stack, y = random_stack()
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=10.0, tol=1e-4, svm_tol=1.0)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, 10.0).value, rtol=1e-4)


class TestWeights:
    def test_are_on_the_simplex(self) -> None:
        for seed in range(4):
            stack, y = random_stack(seed=seed, n_kernels=7)
            weights = simplemkl.solve(PrecomputedBank(stack), y, C=10.0).weights
            assert (weights >= 0).all()
            assert_allclose(weights.sum(), 1.0, rtol=1e-12)

    def test_follow_the_order_of_the_kernels(self) -> None:
        stack, y = random_stack(n_kernels=6)
        order = np.array([3, 0, 5, 1, 4, 2])
        there = simplemkl.solve(PrecomputedBank(stack), y, C=1.0, tol=1e-5)
        here = simplemkl.solve(PrecomputedBank(stack[order]), y, C=1.0, tol=1e-5)
        assert_allclose(here.objective, there.objective, rtol=1e-5)
        assert_allclose(here.weights, there.weights[order], atol=1e-2)

    def test_do_not_depend_on_the_labels_signs(self) -> None:
        stack, y = random_stack()
        there, back = (
            simplemkl.solve(PrecomputedBank(stack), labels, C=1.0, tol=1e-5) for labels in (y, -y)
        )
        assert_allclose(back.weights, there.weights, atol=1e-2)
        assert_allclose(back.intercept, -there.intercept, atol=1e-2)


class TestSpecialBanks:
    def test_duplicate_kernels_share_a_weight(self) -> None:
        stack, y = random_stack()
        twice = PrecomputedBank(np.concatenate([stack, stack]))
        solution = simplemkl.solve(twice, y, C=10.0, tol=1e-4)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, 10.0).value, rtol=1e-4)

    def test_one_kernel_is_an_svm(self) -> None:
        stack, y = random_stack()
        solution = simplemkl.solve(PrecomputedBank(stack[:1]), y, C=1.0, tol=1e-4)
        assert_allclose(solution.weights, [1.0])
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.svm(stack[0], y, 1.0).value, rtol=1e-4)

    def test_a_zero_kernel_gets_no_weight(self) -> None:
        stack, y = random_stack()
        with_zero = PrecomputedBank(np.insert(stack, 2, 0.0, axis=0))
        solution = simplemkl.solve(with_zero, y, C=10.0, tol=1e-4)
        assert solution.converged
        assert solution.weights[2] < 1e-3
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, 10.0).value, rtol=1e-4)

    def test_nothing_but_zero_kernels(self) -> None:
        """The SVM then has alpha = C on the smaller class and as much on the other."""
        y = np.array([1.0, 1.0, 1.0, -1.0])
        solution = simplemkl.solve(PrecomputedBank(np.zeros((2, 4, 4))), y, C=3.0)
        assert_allclose(solution.objective, 6.0)
        assert solution.converged

    def test_kernels_on_very_different_scales(self) -> None:
        stack, y = random_stack()
        stack = stack * np.array([1.0, 100.0, 0.01, 1.0, 1.0])[:, None, None]
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=1.0, tol=1e-3)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, 1.0).value, rtol=1e-3)

    @pytest.mark.parametrize("C", [1e2, 1e10])
    def test_separable_data_with_a_huge_box(self, C: float) -> None:
        """The box is not active, so the value does not depend on it."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((30, 2))
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        X[:, 0] += y
        bank = feature_gaussians(X, gammas=[0.1, 1.0, 10.0])
        solution = simplemkl.solve(bank, y, C=C)
        assert solution.converged
        stack = np.array([bank.combine(unit) for unit in np.eye(6)])
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, 100.0).value, rtol=1e-2)


class TestIterations:
    def test_too_few_do_not_pass_for_convergence(self) -> None:
        stack, y = random_stack()
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=100.0, tol=1e-5, max_iter=2)
        assert not solution.converged
        assert solution.n_iter == 2
        assert solution.gap > 1e-5

    def test_a_small_change_of_the_objective_may_end_it(self) -> None:
        stack, y = random_stack(n_kernels=8)
        bank = PrecomputedBank(stack)
        solution = simplemkl.solve(bank, y, C=100.0, tol=1e-6, objective_tol=1e-2)
        objectives = np.array([entry["objective"] for entry in solution.history])
        changes = np.abs(np.diff(objectives)) / objectives[:-1]
        assert solution.converged
        assert changes[-1] < 1e-2
        assert (changes[:-1] >= 1e-2).all()
        assert solution.gap > 1e-6

    def test_the_objective_never_increases(self) -> None:
        stack, y = random_stack(n_kernels=8)
        solution = simplemkl.solve(PrecomputedBank(stack), y, C=100.0, tol=1e-4, svm_tol=1e-6)
        objectives = np.array([entry["objective"] for entry in solution.history])
        assert len(objectives) > 3
        assert (np.diff(objectives) <= 1e-6 * objectives[0]).all()
        assert objectives[-1] == solution.objective

    @pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
    def test_line_search_tolerance(self, value: float) -> None:
        stack, y = random_stack()
        with pytest.raises(InputError, match="line_search_tol="):
            simplemkl.solve(PrecomputedBank(stack), y, line_search_tol=value)

    def test_needs_a_bank(self) -> None:
        X, y = random_problem()
        with pytest.raises(InputError, match="simplemkl needs a bank of kernels"):
            simplemkl.solve(product_gaussians(X), y)  # type: ignore[arg-type]


# SVM calls that the authors' toolbox needs to a gap of 1e-2.
TOOLBOX_CALLS = {
    "synthetic-C10": 1051,
    "liver-C1000": 134,
    "wpbc-C100": 627,
    "ionosphere-C100": 1431,
}


@pytest.mark.parametrize("name", rest_slow(TOOLBOX_CALLS, "synthetic-C10", "liver-C1000"))
def test_reference_problem(name: str) -> None:
    problem = reference_problem(name)
    solution = simplemkl.solve(PrecomputedBank(problem.K), problem.y, C=problem.C)
    optimum = present(problem.optimum)
    assert solution.converged
    assert solution.gap <= 1e-2
    # J(d) is never below the optimum (beyond the SVM's inexactness), nor above it by the gap.
    assert solution.objective >= optimum.lower_bound * (1 - 1e-4)
    assert solution.objective <= optimum.value * (1 + solution.gap)
    assert solution.n_svm_calls <= TOOLBOX_CALLS[name]
