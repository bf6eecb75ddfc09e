"""CKL at both ends, where it is MKL; the conic solver is in test_mixed_norms."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.algorithms import ckl, mkl
from mklbench.kernels import PrecomputedBank


class TestOptimum:
    @pytest.mark.parametrize(("q", "groups"), [(0.8, "one"), (0.5, "singletons")])
    def test_mkl_at_both_ends(self, q: float, groups: str) -> None:
        """One group whatever q, and q = 1/2 whatever the groups."""
        stack, y = random_stack(n=60, n_kernels=12)
        bank = PrecomputedBank(stack)
        solution = ckl.solve(bank, y, C=1.0, q=q, groups=groups, tol=1e-3)
        assert_allclose(solution.objective, mkl.solve(bank, y, C=1.0).objective, rtol=1e-3)
        assert_allclose(solution.weights.sum(), 1.0)


class TestIterations:
    def test_a_small_change_of_the_objective_may_end_it(self) -> None:
        stack, y = random_stack()
        solution = ckl.solve(PrecomputedBank(stack), y, C=10.0, tol=1e-6, objective_tol=1e-2)
        assert solution.converged
        assert solution.gap > 1e-6
