"""HessianMKL: its derivatives, its quadratic programme, and its optimum, that of SimpleMKL."""

from __future__ import annotations

from types import ModuleType

import conic_twins
import cvxpy as cp
import numpy as np
import pytest
from cases import rest_slow
from numpy.testing import assert_allclose
from problems import differences, random_stack
from reference_problems import reference_problem

from mklbench.algorithms import hessianmkl, simplemkl
from mklbench.kernels import PrecomputedBank
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective

BOTH = pytest.mark.parametrize("algorithm", [hessianmkl, simplemkl])


class TestDerivatives:
    @pytest.mark.parametrize("C", [2.0, 10.0])
    def test_hessian_against_finite_differences(self, C: float) -> None:
        stack, y = random_stack(n=60, n_kernels=4)
        bank = PrecomputedBank(stack)
        objective = Objective(bank, Problem.of(y, C, svm_tol=1e-10))
        weights = np.array([0.4, 0.3, 0.2, 0.1])
        root = hessianmkl.hessian_root(bank, objective(weights), objective.machine.upper)
        rows = differences(lambda at: objective(at).gradient, weights, 1e-4)
        H = root.T @ root
        assert_allclose(H, rows, rtol=1e-2, atol=1e-3 * np.abs(H).max())

    def test_no_free_support_vector(self) -> None:
        stack, y = random_stack(n=40, n_kernels=3)
        bank = PrecomputedBank(stack)
        objective = Objective(bank, Problem.of(y, 1e-6, svm_tol=1e-6))
        point = objective(bank.uniform_weights())
        assert hessianmkl.hessian_root(bank, point, objective.machine.upper).shape == (0, 3)


class TestProgramme:
    @pytest.mark.parametrize("rank", [0, 2, 8])
    @pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
    def test_equals_that_of_a_conic_solver(self, rank: int, scale: float) -> None:
        rng = np.random.default_rng(rank)
        root = rng.standard_normal((rank, 8))
        gradient = rng.standard_normal(8)
        weights = rng.dirichlet(np.ones(8))
        found = hessianmkl.minimise_on_simplex(np.sqrt(scale) * root, scale * gradient, weights)
        assert (found >= 0).all()
        assert_allclose(found.sum(), 1.0)
        d = cp.Variable(8)
        model = gradient @ (d - weights)
        if rank:
            model += 0.5 * cp.sum_squares(root @ (d - weights))
        twin = cp.Problem(cp.Minimize(model), [d >= 0, cp.sum(d) == 1])
        twin.solve(solver=cp.CLARABEL)
        change = found - weights
        value = gradient @ change + 0.5 * np.sum((root @ change) ** 2)
        assert value == pytest.approx(twin.value, abs=1e-7)


class TestOptimum:
    @BOTH
    @pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
    def test_equals_that_of_a_conic_solver(self, algorithm: ModuleType, C: float) -> None:
        stack, y = random_stack(seed=1)
        solution = algorithm.solve(PrecomputedBank(stack), y, C=C, tol=1e-4)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, C).value, rtol=1e-4)

    @BOTH
    def test_duplicate_and_zero_kernels(self, algorithm: ModuleType) -> None:
        stack, y = random_stack()
        more = np.concatenate([stack, stack, np.zeros((1, 30, 30))])
        solution = algorithm.solve(PrecomputedBank(more), y, C=10.0, tol=1e-4)
        assert solution.converged
        assert_allclose(solution.objective, conic_twins.mkl(stack, y, 10.0).value, rtol=1e-4)

    @pytest.mark.parametrize(
        "name", rest_slow(["synthetic-C10", "liver-C1000", "wpbc-C100"], "synthetic-C10")
    )
    def test_reference_problem_in_few_svm_calls(self, name: str) -> None:
        problem = reference_problem(name)
        assert problem.optimum is not None
        bank = PrecomputedBank(problem.K)
        solution = hessianmkl.solve(bank, problem.y, problem.C, tol=1e-3)
        assert solution.converged
        assert_allclose(solution.objective, problem.optimum.value, rtol=1e-3)
        assert solution.n_svm_calls <= 40


def test_far_fewer_svm_calls_than_the_reduced_gradient() -> None:
    stack, y = random_stack(n=60, n_kernels=12)
    bank = PrecomputedBank(stack)
    ours = hessianmkl.solve(bank, y, C=10.0, tol=1e-4)
    theirs = simplemkl.solve(bank, y, C=10.0, tol=1e-4)
    assert ours.n_svm_calls < 0.5 * theirs.n_svm_calls
