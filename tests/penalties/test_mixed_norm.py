"""Mixed norms of groups of kernels, against a conic solver on both sides of q = 1."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from packaging.version import Version
from penalty_checks import (
    Array,
    BestWeightChecks,
    Described,
    PenaltyChecks,
    WeightChecks,
    optimum,
    random_numbers,
    value_of,
)

from mklbench.kernels.groups import Groups
from mklbench.penalties.mixed_norm import MixedNorm, power_sum

GROUPS = [[1, 4], [0], [3, 2]]
MEMBERS = np.array([[m in group for m in range(5)] for group in GROUPS], dtype=float)
ALL_EXPONENTS = (0.5, 0.6, 0.75, 0.9, 1.0, 1.5, 2.0, 3.0, math.inf)


def mixed_norm(q: float) -> MixedNorm:
    return MixedNorm(Groups(GROUPS, 5), q)


def pnorm(values: cp.Expression, exponent: float) -> cp.Expression:
    if Version(cp.__version__) < Version("1.9"):  # which always rounds the exponent to a fraction
        return cp.pnorm(values, exponent)
    return cp.pnorm(values, exponent, approx=False)


@pytest.mark.parametrize("q", [0.5, 0.6, 0.75, 0.9])
class TestCKL(PenaltyChecks, BestWeightChecks):
    """Below 1 it is the set of weights whose sums in the groups have a rho-norm of 1 at most."""

    @pytest.fixture
    def penalty(self, q: float) -> MixedNorm:
        return mixed_norm(q)

    @pytest.fixture
    def described(self, q: float) -> Described:
        return lambda d: (cp.Constant(0.0), [pnorm(MEMBERS @ d, q / (1 - q)) <= 1])

    test_dual_value = WeightChecks.test_dual_value


@pytest.mark.parametrize("q", [1.0, 1.5, 3.0])
class TestVSKL(PenaltyChecks):
    """From 1 on the weights are 1 / gamma times a share, and gamma is the worst in a ball."""

    @pytest.fixture
    def penalty(self, q: float) -> MixedNorm:
        return mixed_norm(q)

    test_no_length_of_0_spoils_the_others = BestWeightChecks.test_no_length_of_0_spoils_the_others

    def test_best_weights(self, penalty: MixedNorm, q: float, seed: int) -> None:
        lengths = random_numbers(seed)
        totals = MEMBERS @ lengths
        gamma = cp.Variable(3, nonneg=True)
        within = pnorm(gamma, q / (q - 1) if q > 1 else math.inf) <= 1
        largest = optimum(cp.Problem(cp.Maximize(0.5 * gamma @ totals**2), [within]))
        assert_allclose(value_of(penalty, lengths), largest, rtol=1e-6)
        weights = penalty.best_weights(lengths)
        assert_allclose(1.0 / (MEMBERS @ weights), gamma.value, atol=1e-3)
        assert_allclose(weights / (weights @ MEMBERS.T @ MEMBERS), lengths / (totals @ MEMBERS))


@pytest.mark.parametrize("q", ALL_EXPONENTS)
@pytest.mark.parametrize("seed", range(2))
class TestEveryExponent:
    def test_value_is_that_of_the_norm(self, q: float, seed: int) -> None:
        weights, forms = random_numbers(seed), random_numbers(seed + 10)
        norm = np.linalg.norm(MEMBERS @ (weights * np.sqrt(forms)), 2 * q)
        assert_allclose(mixed_norm(q).value(weights, forms), 0.5 * norm**2)

    def test_dual_value_is_the_conjugate(self, q: float, seed: int) -> None:
        """D(q) is the largest sum_m t_m sqrt(q_m) - P over lengths t."""
        for scale in (0.3, 1.0, 5.0):
            forms = scale * random_numbers(seed)
            t = cp.Variable(5, nonneg=True)
            price = 0.5 * cp.square(pnorm(MEMBERS @ t, 2 * q))
            expected = optimum(cp.Problem(cp.Maximize(t @ np.sqrt(forms) - price)))
            assert_allclose(mixed_norm(q).dual_value(forms), expected, rtol=1e-6)


@pytest.mark.parametrize("q", [1.0, 1.5, 3.0, math.inf])
def test_best_gamma(q: float) -> None:
    D = random_numbers(0)[:3]
    gamma = cp.Variable(3)
    conjugate = {1.0: math.inf, math.inf: 1.0}.get(q) or q / (q - 1)
    least = cp.Minimize(sum(D[j] * cp.inv_pos(gamma[j]) for j in range(3)))
    expected = optimum(cp.Problem(least, [pnorm(gamma, conjugate) <= 1]))
    assert_allclose((D / mixed_norm(q).best_gamma(D)).sum(), expected, rtol=1e-6)


def weights_by_group(q: float, lengths: list[float]) -> Array:
    return mixed_norm(q).best_weights(np.array(lengths))


def test_a_group_without_length() -> None:
    """It has no weight for q < 1, where it is left out, and no bound on it for q > 1."""
    lengths = [0.0, 1.0, 2.0, 0.0, 3.0]
    assert weights_by_group(0.75, lengths)[0] == 0.0
    assert weights_by_group(1.0, lengths)[0] == 1.0
    assert weights_by_group(2.0, lengths)[0] == math.inf
    assert weights_by_group(2.0, lengths)[3] == 0.0


@pytest.mark.parametrize("q", ALL_EXPONENTS)
def test_functions_of_no_length_share_alike(q: float) -> None:
    weights = weights_by_group(q, [0.0] * 5)
    assert_allclose(weights, weights_by_group(q, [1.0] * 5))


def test_at_infinity_shorter_groups_cost_nothing() -> None:
    weights = weights_by_group(math.inf, [1.0, 1.0, 1.0, 2.0, 0.0])
    assert_allclose(weights, [math.inf, math.inf, 1 / 3, 2 / 3, 0.0])


def test_a_sum_of_powers_does_not_overflow() -> None:
    values = np.array([3e200, 4e200])
    assert power_sum(values, 2.0) == pytest.approx(5e200)
    assert power_sum(values, math.inf) == 4e200
    assert power_sum(np.zeros(2), 2.0) == 0.0
