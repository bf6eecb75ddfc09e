"""The elastic net of kernels, against a conic solver and its ends."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from penalty_checks import N_KERNELS, BestWeightChecks, Described, WeightChecks, random_numbers

from mklbench.penalties.elastic_net import ElasticNet


@pytest.mark.parametrize("mix", [0.1, 0.5, 0.9])
class TestElasticNet(WeightChecks, BestWeightChecks):
    @pytest.fixture
    def penalty(self, mix: float) -> ElasticNet:
        return ElasticNet(mix)

    @pytest.fixture
    def described(self, mix: float) -> Described:
        def price(d: cp.Variable) -> tuple[cp.Expression, list[cp.Constraint]]:
            # d / (1 - mix d) = (1 / (1 - mix d) - 1) / mix
            hyperbola = cp.sum(cp.inv_pos(1 - mix * d)) - N_KERNELS
            return 0.5 * (1 - mix) ** 2 / mix * hyperbola, [d <= 1 / mix]

        return price


def test_at_1_it_is_the_sum_of_kernels() -> None:
    forms = random_numbers(0)
    penalty = ElasticNet(1.0)
    assert_allclose(penalty.best_weights(np.array([0.0, 1.0, 3.0])), 1.0)
    assert penalty.value(np.ones(5), forms) == pytest.approx(0.5 * forms.sum())
    assert penalty.dual_value(forms) == pytest.approx(0.5 * forms.sum())
