"""CKL at both ends, where it is MKL; the conic solver is in test_mixed_norms."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.algorithms import ckl, mkl
from mklbench.kernels import PrecomputedBank


@pytest.mark.parametrize(("q", "groups"), [(0.8, "one"), (0.5, "singletons")])
def test_mkl_at_both_ends(q: float, groups: str) -> None:
    """One group whatever q, and q = 1/2 whatever the groups."""
    stack, y = random_stack(n=60, n_kernels=12)
    bank = PrecomputedBank(stack)
    solution = ckl.solve(bank, y, C=1.0, q=q, groups=groups, tol=1e-3)
    assert_allclose(solution.objective, mkl.solve(bank, y, C=1.0).objective, rtol=1e-3)
    assert_allclose(solution.weights.sum(), 1.0)
