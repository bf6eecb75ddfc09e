"""What holds for every penalty: its numbers are those of a conic solver."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mklbench.penalties.base import Penalty
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.penalties.mixed_norm import MixedNorm

Array = NDArray[np.float64]
WithBestWeights = ElasticNet | MixedNorm
# Of the weights d (M,): their price r(d), and the constraints of the set that they are in.
Described = Callable[[cp.Variable], tuple[cp.Expression, list[cp.Constraint]]]

N_KERNELS = 5
_TIGHT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-8)


def optimum(problem: cp.Problem) -> float:
    """Return the optimal value that a conic solver finds."""
    return float(problem.solve(solver=cp.CLARABEL, **_TIGHT))


def conic_value(described: Described, lengths: Array) -> tuple[float, Array]:
    """Return the least 1/2 sum_m lengths_m^2 / d_m + r(d), and the d (M,) there."""
    d = cp.Variable(len(lengths))
    price, constraints = described(d)
    quotients = np.square(lengths) @ cp.inv_pos(d)
    least = optimum(cp.Problem(cp.Minimize(0.5 * quotients + price), [d >= 0, *constraints]))
    return least, np.asarray(d.value)


def conic_dual_value(described: Described, forms: Array) -> float:
    """Return the largest 1/2 d'q - r(d), infinity included."""
    d = cp.Variable(len(forms))
    price, constraints = described(d)
    return optimum(cp.Problem(cp.Maximize(0.5 * forms @ d - price), [d >= 0, *constraints]))


def value_of(penalty: WithBestWeights, lengths: Array) -> float:
    """Return the least P for functions of these `lengths` (M,) > 0."""
    best = penalty.best_weights(lengths)
    return penalty.value(best, np.square(lengths / best))


def random_numbers(seed: int) -> Array:
    return np.random.default_rng(seed).exponential(size=N_KERNELS) + 0.05


class PenaltyChecks:
    """For the class of tests of any penalty, which has it as the fixture `penalty`."""

    @pytest.fixture(params=range(2))
    def seed(self, request: pytest.FixtureRequest) -> int:
        return int(request.param)

    def test_what_is_shrunk_is_feasible(self, penalty: Penalty, seed: int) -> None:
        for scale in (1e-3, 1.0, 1e6):
            forms = scale * random_numbers(seed)
            share = penalty.shrink(forms)
            assert 0.0 < share <= 1.0
            assert np.isfinite(penalty.dual_value(share**2 * forms))
            assert share == 1.0 or penalty.dual_value((1.01 * share) ** 2 * forms) == np.inf


class WeightChecks(PenaltyChecks):
    """The same for a set or a price of weights, which is in the fixture `described` too."""

    def test_value(self, penalty: Penalty, described: Described, seed: int) -> None:
        weights = conic_value(described, random_numbers(seed))[1]
        forms = random_numbers(seed + 10)
        price = described(cp.Variable(N_KERNELS, value=weights))[0]
        expected = 0.5 * weights @ forms + price.value
        assert_allclose(penalty.value(weights, forms), expected)

    def test_dual_value(self, penalty: Penalty, described: Described, seed: int) -> None:
        for scale in (0.3, 1.0, 5.0):
            forms = scale * random_numbers(seed)
            expected = conic_dual_value(described, forms)
            assert_allclose(penalty.dual_value(forms), expected, rtol=1e-6, atol=1e-7)


class BestWeightChecks:
    """For the class of tests of a penalty whose best weights for functions are known."""

    def test_best_weights(self, penalty: WithBestWeights, described: Described, seed: int) -> None:
        for scale in (0.3, 1.0, 5.0):
            lengths = scale * random_numbers(seed)
            least, weights = conic_value(described, lengths)
            assert_allclose(value_of(penalty, lengths), least, rtol=1e-5)
            assert_allclose(penalty.best_weights(lengths), weights, atol=1e-3 * weights.max())

    def test_no_length_of_0_spoils_the_others(self, penalty: WithBestWeights, seed: int) -> None:
        lengths = random_numbers(seed)
        lengths[:2] = 0.0
        shorter = lengths + 1e-10
        assert np.isfinite(penalty.best_weights(lengths)[2:]).all()
        assert_allclose(
            penalty.best_weights(lengths)[2:], penalty.best_weights(shorter)[2:], rtol=1e-4
        )
