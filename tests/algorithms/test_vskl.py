"""mirrorVSKL against a conic solver, at its limits, and step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import conic_twins
import numpy as np
import pytest
from mixed_norm_groupings import GROUPINGS
from numpy.testing import assert_allclose
from problems import differences, no_line_separates, random_stack
from reference_problems import reference_problem

from benchmarks.reference import real_samples
from mklbench.algorithms import mkl, simplemkl, vskl
from mklbench.kernels import PrecomputedBank, simplemkl_bank
from mklbench.kernels.groups import groups_of
from mklbench.libsvm import Machine, SVMSolution
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective
from mklbench.penalties.mixed_norm import MixedNorm

EXPONENTS = [1, 1.5, 2, 3, math.inf]


class TestOptimum:
    @pytest.mark.parametrize("q", [1, 2, math.inf])
    def test_one_group_is_mkl(self, q: float) -> None:
        stack, y = random_stack(n=60, n_kernels=12)
        bank = PrecomputedBank(stack)
        solution = vskl.solve(bank, y, C=1.0, q=q, tol=1e-3)
        assert_allclose(solution.objective, mkl.solve(bank, y, C=1.0).objective, rtol=1e-3)
        assert_allclose(solution.weights.sum(), 1.0)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["synthetic-C10", "liver-C1000"])
    def test_mirror_descent_and_reduced_gradient_reach_the_conic_optimum(self, name: str) -> None:
        problem = reference_problem(name)
        assert problem.optimum is not None
        bank = PrecomputedBank(problem.K)
        for solve in (vskl.solve, simplemkl.solve):
            solution = solve(bank, problem.y, problem.C, tol=1e-3)
            assert solution.converged
            assert_allclose(solution.objective, problem.optimum.value, rtol=1e-3)


class TestGap:
    def test_the_inner_solver_is_made_accurate_enough(self) -> None:
        stack, y = random_stack()
        groups = GROUPINGS["two"]
        bank = PrecomputedBank(stack, groups)
        solution = vskl.solve(bank, y, C=10.0, tol=2e-4, svm_tol=1.0)
        assert solution.converged
        value = conic_twins.mixed_norm(stack, y, 10.0, groups, 2.0).value
        assert_allclose(solution.objective, value, rtol=2e-4)


class TestOracle:
    @pytest.mark.parametrize("q", EXPONENTS)
    def test_subgradient_against_finite_differences(self, q: float) -> None:
        stack, y = random_stack()
        bank = PrecomputedBank(stack, GROUPINGS["two"])
        penalty = MixedNorm(groups_of(bank), q)
        uniform = penalty.best_gamma(np.ones(2))
        objective = Objective(bank, Problem.of(y, 1.0, svm_tol=1e-8))
        shares = np.array([0.5, 0.2, 0.7, 0.3, 0.3])

        def G(at: np.ndarray) -> vskl._Answer:
            return vskl._ask(objective, penalty, [], at, uniform, 1e-9)

        answer = G(shares)
        slopes = -0.5 * answer.point.forms / penalty.groups.spread(answer.gamma)
        rises = differences(lambda at: G(at).point.objective, shares, 1e-3)
        assert_allclose(rises, slopes, rtol=5e-3)

    @pytest.mark.parametrize("q", [2, 3, math.inf])
    def test_few_ascents_are_enough(self, q: float, mirror: Path) -> None:
        """The paper observed at most 4."""
        X, y = real_samples("liver")
        solution = vskl.solve(simplemkl_bank(X), y, C=100.0, q=q, groups="features")
        ascents = [entry["ascents"] for entry in solution.history]
        assert solution.converged
        assert max(ascents) <= 4
        assert np.mean(ascents) < 2


class TestIterations:
    def test_the_best_iterate_is_returned(self) -> None:
        """With steps far too large the last one is not."""
        stack, y = random_stack()
        solution = vskl.solve(
            PrecomputedBank(stack), y, C=100.0, tol=1e-6, max_iter=15, step_size=100.0
        )
        objectives = [entry["objective"] for entry in solution.history]
        assert solution.objective == pytest.approx(min(objectives), rel=1e-3)
        assert objectives[-1] > 1.01 * solution.objective

    def test_end_where_libsvm_is_at_its_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its limit takes a second: a thousand iterations like that would be an hour."""
        solve: Callable[..., SVMSolution] = Machine.solve
        monkeypatch.setattr(Machine, "solve", lambda *given, tol: solve(*given, tol=1.0))
        monkeypatch.setattr(Machine, "is_at_limit", lambda *_: True)
        X, y = no_line_separates()
        bank = PrecomputedBank(np.stack([np.outer(x, x) for x in X.T]))
        solution = vskl.solve(bank, y, C=1e3, method="libsvm", groups=[[0, 1]])
        assert solution.n_iter <= 1
        assert solution.n_svm_calls < 10
        assert not solution.converged
