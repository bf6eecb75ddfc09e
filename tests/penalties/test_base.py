"""What penalties have in common, and that one more is one file."""

from __future__ import annotations

import conic_twins
import numpy as np
from certificates import bank_bounds
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.kernels import PrecomputedBank
from mklbench.penalties.base import Array, Penalty
from mklbench.solution import KernelMachine


class Box(Penalty):
    """The set 0 <= d <= 1, a penalty from outside: learning weights in it is to sum the kernels."""

    def dual_value(self, forms: Array) -> float:
        return 0.5 * float(forms.sum())


def test_one_more_penalty_is_all_that_a_certificate_needs() -> None:
    stack, y = random_stack()
    optimum = conic_twins.svm(stack.sum(axis=0), y, 2.0)
    inside = y * np.clip(y * optimum.dual_coef, 0.0, 2.0)
    rng = np.random.default_rng(0)
    for weights in (np.ones(5), *rng.uniform(size=(20, 5))):
        machine = KernelMachine(weights, inside, optimum.intercept)
        bounds = bank_bounds(PrecomputedBank(stack), y, machine, 2.0, Box())
        assert_allclose(bounds.lower, optimum.value, rtol=1e-5)
        assert bounds.upper >= optimum.value * (1 - 1e-7)
        assert (bounds.relative_gap < 1e-5) == (weights == 1.0).all()
