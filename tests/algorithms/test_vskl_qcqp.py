"""The conic programme of VSKL against the primal by cvxpy."""

from __future__ import annotations

import math

import conic_twins
import numpy as np
import pytest
from mixed_norm_groupings import GROUPINGS
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.algorithms import vskl_qcqp
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank


@pytest.mark.parametrize("q", [1, 1.5, math.inf])
def test_the_optimum_is_that_of_the_primal(q: float) -> None:
    stack, y = random_stack()
    groups = GROUPINGS["two"]
    solution = vskl_qcqp.solve(PrecomputedBank(stack, groups), y, C=10.0, q=q)
    twin = conic_twins.mixed_norm(stack, y, 10.0, groups, q)
    assert_allclose(solution.objective, twin.value, rtol=1e-6)
    assert_allclose(solution.weights, twin.weights, atol=1e-3 * twin.weights.max())
    assert solution.converged


def test_too_large_a_problem_is_refused() -> None:
    bank, y = PrecomputedBank(np.zeros((9, 500, 500))), np.resize([1.0, -1.0], 500)
    with pytest.raises(InputError, match=r"2250000 numbers, 9 matrices of 500 samples, .* vskl"):
        vskl_qcqp.solve(bank, y)
