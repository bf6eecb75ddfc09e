"""The dual of a machine: its value, its variables, its best intercept, and what need not be 0."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mklbench.optim import svm_dual
from mklbench.optim.svm_dual import SVMDual


def of_classes(seed: int) -> SVMDual:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(9) % 2, 1.0, -1.0)
    return svm_dual.of_classes(y, rng.uniform(0.1, 3.0, 9))


def of_targets(seed: int) -> SVMDual:
    rng = np.random.default_rng(seed)
    return svm_dual.of_targets(rng.standard_normal(9), 2.0, (0.0, 0.3)[seed % 2])


def of_one_class(seed: int) -> SVMDual:
    return svm_dual.of_one_class(9, 0.5, 1.0 + 0.3 * seed, -1.0)


@pytest.mark.parametrize("make", [of_classes, of_targets, of_one_class])
@pytest.mark.parametrize("seed", range(2))
class TestEveryDual:
    def test_best_intercept(self, make: Callable[[int], SVMDual], seed: int) -> None:
        dual = make(seed)
        f = np.random.default_rng(seed).standard_normal(9)
        b = dual.best_intercept(f)
        losses = [dual.loss(other).value(f + other) for other in np.linspace(-6, 6, 401)]
        assert dual.loss(b).value(f + b) <= min(losses) + 1e-9

    def test_loss_is_that_of_the_distances(self, make: Callable[[int], SVMDual], seed: int) -> None:
        dual = make(seed)
        u = np.random.default_rng(seed).standard_normal(9)
        loss = dual.upper @ np.maximum(dual.distances(u), 0.0)
        assert loss + dual.total * 0.7 == pytest.approx(dual.loss(0.7).value(u))

    def test_alpha_there_and_back(self, make: Callable[[int], SVMDual], seed: int) -> None:
        dual = make(seed)
        a = np.random.default_rng(seed).standard_normal(9)
        a = dual.dual_coef(dual.alpha(a))
        assert_array_equal(dual.dual_coef(dual.alpha(a)), a)

    def test_largest_sum(self, make: Callable[[int], SVMDual], seed: int) -> None:
        dual = make(seed)
        alpha = cp.Variable(len(dual.signs), nonneg=True)
        limits = [alpha <= dual.upper, dual.signs @ alpha == dual.total]
        assert dual.largest_sum == pytest.approx(
            cp.Problem(cp.Maximize(cp.sum(alpha)), limits).solve(solver=cp.CLARABEL), rel=1e-6
        )


def test_best_intercept_of_samples_that_a_gap_separates() -> None:
    """Every b from -1 to 1 has no loss; the middle is as far from both classes as can be."""
    f, y = np.array([2.0, 3.0, -2.0]), np.array([1.0, 1.0, -1.0])
    assert svm_dual.of_classes(y, np.ones(3)).best_intercept(f) == pytest.approx(0.0)
