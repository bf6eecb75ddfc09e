"""VSKL and CKL are one problem at two sides of q = 1: both against a conic solver."""

from __future__ import annotations

import math
from collections.abc import Callable

import conic_twins
import pytest
from mixed_norm_groupings import GROUPINGS
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.algorithms import ckl, vskl
from mklbench.kernels import PrecomputedBank
from mklbench.solution import Solution

Q = [0.5, 0.6, 0.75, 0.95, 1, 1.5, 2, 3, math.inf]


def solver(q: float) -> Callable[..., Solution]:
    return ckl.solve if q < 1 else vskl.solve


@pytest.mark.parametrize("q", Q)
def test_the_optimum_is_that_of_a_conic_solver(q: float) -> None:
    stack, y = random_stack()
    groups, C = GROUPINGS["two"], 10.0
    solution = solver(q)(PrecomputedBank(stack, groups), y, C=C, q=q, tol=2e-4)
    assert solution.converged
    value = conic_twins.mixed_norm(stack, y, C, groups, q).value
    assert_allclose(solution.objective, value, rtol=2e-4)


@pytest.mark.parametrize("q", [0.75, 2.0])
def test_the_weights_of_the_optimum(q: float) -> None:
    stack, y = random_stack(n=60)
    solution = solver(q)(PrecomputedBank(stack, GROUPINGS["two"]), y, C=1.0, q=q, tol=1e-4)
    twin = conic_twins.mixed_norm(stack, y, 1.0, GROUPINGS["two"], q)
    assert_allclose(solution.weights, twin.weights, atol=0.02 * twin.weights.max())
