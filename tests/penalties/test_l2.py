"""The l2 regulariser of GMKL, against a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from penalty_checks import Described, WeightChecks

from mklbench.penalties.simple import L2


@pytest.mark.parametrize("strength", [0.2, 1.0, 5.0])
class TestL2(WeightChecks):
    @pytest.fixture
    def penalty(self, strength: float) -> L2:
        return L2(strength)

    @pytest.fixture
    def described(self, strength: float) -> Described:
        return lambda d: (strength * cp.sum_squares(d - 1), [])

    def test_the_gradient_is_that_of_the_price(self, penalty: L2) -> None:
        weights = np.array([0.0, 0.4, 1.0, 3.0])
        slopes = [
            (penalty.of_weights(weights + step) - penalty.of_weights(weights - step)) / 2e-6
            for step in 1e-6 * np.eye(4)
        ]
        assert_allclose(penalty.gradient(weights), slopes, atol=1e-8)
