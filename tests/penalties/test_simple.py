"""The penalties of a few lines, against a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from penalty_checks import N_KERNELS, Described, WeightChecks

from mklbench.penalties.simple import L1, L2, Budget, Fixed, Simplex


class TestSimplex(WeightChecks):
    @pytest.fixture
    def penalty(self) -> Simplex:
        return Simplex()

    @pytest.fixture
    def described(self) -> Described:
        return lambda d: (cp.Constant(0.0), [cp.sum(d) == 1])


WEIGHTS = np.array([0.3, 1.0, 2.0, 0.05, 0.7])


class TestFixed(WeightChecks):
    @pytest.fixture
    def penalty(self) -> Fixed:
        return Fixed(WEIGHTS)

    @pytest.fixture
    def described(self) -> Described:
        return lambda d: (cp.Constant(0.0), [d == WEIGHTS])


PRICES = np.linspace(0.2, 3.0, N_KERNELS)


class TestBudget(WeightChecks):
    @pytest.fixture
    def penalty(self) -> Budget:
        return Budget(PRICES)

    @pytest.fixture
    def described(self) -> Described:
        return lambda d: (cp.Constant(0.0), [PRICES @ d <= 1])


@pytest.mark.parametrize("strength", [0.2, 1.0, 5.0])
class TestL1(WeightChecks):
    @pytest.fixture
    def penalty(self, strength: float) -> L1:
        return L1(strength)

    @pytest.fixture
    def described(self, strength: float) -> Described:
        return lambda d: (strength * cp.sum(d), [])


def test_the_dual_ends_where_a_form_exceeds_twice_the_strength() -> None:
    penalty = L1(3.0)
    assert penalty.dual_value(np.array([1.0, 6.0])) == 0.0
    assert penalty.dual_value(np.array([1.0, 6.1])) == np.inf
    assert penalty.shrink(np.array([1.0, 24.0])) == 0.5
    assert penalty.shrink(np.zeros(2)) == 1.0


@pytest.mark.parametrize("penalty", [L1(0.2), L1(5.0), L2(0.2), L2(5.0)])
def test_the_gradient_is_that_of_the_price(penalty: L1 | L2) -> None:
    weights = np.array([0.0, 0.4, 1.0, 3.0])
    slopes = [
        (penalty.of_weights(weights + step) - penalty.of_weights(weights - step)) / 2e-6
        for step in 1e-6 * np.eye(4)
    ]
    assert_allclose(penalty.gradient(weights), slopes, atol=1e-8)


@pytest.mark.parametrize("strength", [0.2, 1.0, 5.0])
class TestL2(WeightChecks):
    @pytest.fixture
    def penalty(self, strength: float) -> L2:
        return L2(strength)

    @pytest.fixture
    def described(self, strength: float) -> Described:
        return lambda d: (strength * cp.sum_squares(d - 1), [])
