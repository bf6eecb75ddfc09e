"""Certificates of what is a function of the kernel weights alone."""

from __future__ import annotations

import numpy as np
import pytest

from mklbench import certify
from mklbench.certify import Bounds


class TestKKTResidual:
    def test_zero_exactly_at_a_stationary_point(self) -> None:
        weights, gradient = np.array([0.0, 2.0, 0.0]), np.array([3.0, 0.0, 0.0])
        assert certify.kkt_residual(weights, gradient, 7.0) == 0.0

    @pytest.mark.parametrize(
        ("weights", "gradient"),
        [([1.0, 1.0], [0.0, 1e-3]), ([1.0, 1.0], [0.0, -1e-3]), ([1.0, 0.0], [0.0, -1e-3])],
    )
    def test_positive_at_any_other(self, weights: list[float], gradient: list[float]) -> None:
        residual = certify.kkt_residual(np.array(weights), np.array(gradient), 10.0)
        assert residual == pytest.approx(1e-4)

    def test_does_not_change_with_the_units_of_weights_and_objective(self) -> None:
        weights, gradient = np.array([0.3, 0.0, 1.2]), np.array([0.1, -0.4, 0.6])
        there = certify.kkt_residual(weights, gradient, 5.0)
        assert certify.kkt_residual(weights, 1e6 * gradient, 5e6) == pytest.approx(there)
        assert certify.kkt_residual(1e-6 * weights, 1e6 * gradient, 5.0) == pytest.approx(there)

    def test_weights_that_are_all_zero_have_a_unit_of_1(self) -> None:
        residual = certify.kkt_residual(np.zeros(2), np.array([1.0, -2.0]), 4.0)
        assert residual == pytest.approx(0.5)

    def test_an_objective_of_zero(self) -> None:
        assert np.isfinite(certify.kkt_residual(np.ones(2), np.zeros(2), 0.0))


class TestSemidefiniteAlignmentBounds:
    """Kernels at right angles, whose products with a target of norm 10 are 3 and -4."""

    def bounds(self, weights: list[float], cuts: list[float] | None = None) -> tuple[float, float]:
        found = certify.semidefinite_alignment_bounds(
            np.eye(2), np.array([3.0, -4.0]), 10.0, np.array(weights), np.array(cuts or [0.0, 0.0])
        )
        return found.lower, found.upper

    def test_by_hand(self) -> None:
        assert self.bounds([3.0, -4.0]) == pytest.approx((0.5, 0.5))
        assert self.bounds([1.0, 0.0]) == pytest.approx((0.3, 0.5))
        assert self.bounds([0.0, 0.0]) == pytest.approx((0.0, 0.5))

    def test_a_cut_keeps_out_what_is_not_semidefinite(self) -> None:
        assert self.bounds([1.0, 0.0], cuts=[0.0, 4.0]) == pytest.approx((0.3, 0.3))

    def test_the_rounding_of_a_combination_that_is_zero_counts_for_nothing(self) -> None:
        rng = np.random.default_rng(0)
        scales = rng.uniform(0.5, 1.5, 8)  # eight times the same kernel
        products = np.outer(scales, scales)
        alignments = 3.0 * scales * (1.0 + 1e-11 * rng.normal(size=8))
        found = certify.semidefinite_alignment_bounds(
            products, alignments, 10.0, np.eye(8)[0], np.zeros(8)
        )
        assert (found.lower, found.upper) == pytest.approx((0.3, 0.3), rel=1e-9)


def test_ratio_bounds_where_the_hulls_touch() -> None:
    found = certify.ratio_bounds(Bounds(upper=1.0, lower=0.0), np.ones(2), np.zeros(2))
    assert found.lower == 0.0
    assert found.upper > 1e300
