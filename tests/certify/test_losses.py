"""The dual value of a loss is the least of the loss plus a linear function, for every loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mklbench.certify import Hinge, Logistic, Loss, OneClass, Squares, Tube

N = 12
rng = np.random.default_rng(0)
LABELS = np.resize([1.0, -1.0], N)
TARGETS = rng.normal(size=N)
SHARES = rng.uniform(0.1, 0.9, N)  # of the bounds on the coefficients
SIGNS = rng.choice([-1.0, 1.0], N)
BOUNDS = rng.uniform(0.5, 3.0, N)


@dataclass(frozen=True)
class Case:
    """A loss, coefficients a that are feasible, and where loss(u) + a'u is least.

    Of the one-class SVM the linear function is a'(u + rho).
    """

    loss: Loss
    dual_coef: np.ndarray
    lowest: np.ndarray
    shift: float = 0.0

    def lagrangian(self, decision: np.ndarray) -> float:
        return self.loss.value(decision) + float(self.dual_coef @ (decision + self.shift))


def one_class(box: float | np.ndarray) -> Case:
    dual_coef = box * SHARES
    return Case(OneClass(box, float(dual_coef.sum()), 0.7), dual_coef, np.zeros(N), 0.7)


CASES = {
    "hinge": Case(Hinge(LABELS, 2.0), LABELS * 2.0 * SHARES, LABELS),
    "hinge, bounds by sample": Case(Hinge(LABELS, BOUNDS), LABELS * BOUNDS * SHARES, LABELS),
    "tube": Case(Tube(TARGETS, 2.0, 0.3), SIGNS * 2.0 * SHARES, TARGETS - 0.3 * SIGNS),
    "tube, bounds by sample": Case(
        Tube(TARGETS, BOUNDS, 0.3), SIGNS * BOUNDS * SHARES, TARGETS - 0.3 * SIGNS
    ),
    "logistic": Case(
        Logistic(LABELS, BOUNDS), LABELS * BOUNDS * SHARES, LABELS * np.log((1 - SHARES) / SHARES)
    ),
    "one class": one_class(2.0),
    "one class, bounds by sample": one_class(BOUNDS),
    "squares": Case(Squares(TARGETS, 0.4), SIGNS * SHARES, TARGETS - 0.4 * SIGNS * SHARES),
    "squares, ridges by sample": Case(
        Squares(TARGETS, BOUNDS), SIGNS * SHARES, TARGETS - BOUNDS * SIGNS * SHARES
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_dual_value_is_taken_where_the_sum_is_least_and_undercut_nowhere(name: str) -> None:
    case = CASES[name]
    least = case.loss.dual_value(case.dual_coef)
    assert case.lagrangian(case.lowest) == pytest.approx(least, rel=1e-12, abs=1e-12)
    for size in (1e-3, 0.1, 1.0, 30.0):
        for _ in range(20):
            assert case.lagrangian(case.lowest + size * rng.normal(size=N)) >= least - 1e-12


def test_the_margin_of_a_function_that_separates() -> None:
    assert Hinge(LABELS, 1.0).margin(LABELS * np.linspace(0.2, 3.0, N)) == pytest.approx(0.2)


def test_a_function_that_does_not_separate_has_no_margin() -> None:
    decision = LABELS.copy()
    decision[3] *= -1.0
    assert Hinge(LABELS, 1.0).margin(decision) == 0.0


@pytest.mark.parametrize("name", ["tube", "one class", "squares"])
def test_no_scaling_is_known_for_other_losses(name: str) -> None:
    case = CASES[name]
    assert case.loss.margin(case.lowest) == 0.0
