"""Weights with prices and a budget, against a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from penalty_checks import N_KERNELS, Described, WeightChecks

from mklbench.penalties.simple import Budget

PRICES = np.linspace(0.2, 3.0, N_KERNELS)


class TestBudget(WeightChecks):
    @pytest.fixture
    def penalty(self) -> Budget:
        return Budget(PRICES)

    @pytest.fixture
    def described(self) -> Described:
        return lambda d: (cp.Constant(0.0), [PRICES @ d <= 1])


def test_functions_of_no_length_cost_alike() -> None:
    assert_allclose(Budget(PRICES).best_weights(np.zeros(N_KERNELS)) * PRICES, 1 / N_KERNELS)
