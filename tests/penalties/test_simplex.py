"""Weights on the simplex, against a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from penalty_checks import Described, WeightChecks

from mklbench.penalties.simple import Simplex


class TestSimplex(WeightChecks):
    @pytest.fixture
    def penalty(self) -> Simplex:
        return Simplex()

    @pytest.fixture
    def described(self) -> Described:
        return lambda d: (cp.Constant(0.0), [cp.sum(d) == 1])


def test_functions_of_no_length_share_alike() -> None:
    assert_array_equal(Simplex().best_weights(np.zeros(4)), 0.25)


def test_one_kernel_has_the_weight_1() -> None:
    assert_array_equal(Simplex().best_weights(np.array([7.0])), 1.0)
    assert Simplex().dual_value(np.array([7.0])) == Simplex().value(np.ones(1), np.array([7.0]))
