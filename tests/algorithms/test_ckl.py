"""CKL and l_p-norm MKL against a conic solver, and at their limits."""

from __future__ import annotations

import numpy as np
import pytest
from mixed_norm_groupings import GROUPINGS
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.algorithms import ckl, mkl, svm, vskl
from mklbench.kernels import Groups, PrecomputedBank


class TestOptimum:
    @pytest.mark.parametrize(("q", "groups"), [(0.8, "one"), (0.5, "singletons")])
    def test_mkl_at_both_ends(self, q: float, groups: str) -> None:
        """One group whatever q, and q = 1/2 whatever the groups."""
        stack, y = random_stack(n=60, n_kernels=12)
        bank = PrecomputedBank(stack)
        solution = ckl.solve(bank, y, C=1.0, q=q, groups=groups, tol=1e-3)
        assert_allclose(solution.objective, mkl.solve(bank, y, C=1.0).objective, rtol=1e-3)
        assert_allclose(solution.weights.sum(), 1.0)

    def test_meets_vskl_at_q_1(self) -> None:
        stack, y = random_stack()
        bank = PrecomputedBank(stack, GROUPINGS["two"])
        below = ckl.solve(bank, y, C=1.0, q=0.9999, tol=1e-4)
        at_one = vskl.solve(bank, y, C=1.0, q=1, tol=1e-4)
        above = vskl.solve(bank, y, C=1.0, q=1.0001, tol=1e-4)
        assert_allclose(below.objective, at_one.objective, rtol=3e-4)
        assert_allclose(above.objective, at_one.objective, rtol=3e-4)

    def test_l_p_norm_of_equal_kernels(self) -> None:
        """Each of M equal kernels has the weight M^(-1/p)."""
        stack, y = random_stack()
        stack = stack[:1]
        bank = PrecomputedBank(np.concatenate([stack] * 4))
        solution = ckl.solve(bank, y, C=1.0, q=0.75, groups="singletons")
        plain = svm.solve(PrecomputedBank(stack), y, C=1.0, weights=[4.0 ** (2 / 3)])
        assert_allclose(solution.weights, 4.0 ** (-1 / 3))
        assert_allclose(solution.objective, plain.objective, rtol=1e-4)


class TestWeights:
    @pytest.mark.parametrize("q", [0.6, 0.95])
    @pytest.mark.parametrize("groups", GROUPINGS.values(), ids=GROUPINGS)
    def test_are_on_the_ball(self, q: float, groups: list[list[int]]) -> None:
        stack, y = random_stack()
        weights = ckl.solve(PrecomputedBank(stack, groups), y, C=10.0, q=q).weights
        assert (weights >= 0).all()
        totals = Groups(groups, 5).sums(weights)
        assert_allclose((totals ** (q / (1 - q))).sum(), 1.0, rtol=1e-6)


class TestIterations:
    def test_a_small_change_of_the_objective_may_end_it(self) -> None:
        stack, y = random_stack()
        solution = ckl.solve(PrecomputedBank(stack), y, C=10.0, tol=1e-6, objective_tol=1e-2)
        assert solution.converged
        assert solution.gap > 1e-6
