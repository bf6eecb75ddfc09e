"""Certificates of solutions on dense Gram matrices and banks, by `mklbench.certify`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench import certify
from mklbench.certify import Bounds, Hinge, Loss, PrimalDualPoint
from mklbench.kernels import Bank
from mklbench.multiclass import decision_function
from mklbench.penalties.base import Penalty
from mklbench.penalties.simple import Simplex
from mklbench.solution import KernelMachine, Solution

Array = NDArray[np.float64]


def bank_bounds(
    bank: Bank, y: Array, machine: KernelMachine, box: ArrayLike, penalty: Penalty | None = None
) -> Bounds:
    """Bound the value of learning the weights of a bank, on the simplex if not told otherwise."""
    point = PrimalDualPoint.on_bank(bank, Hinge(y, box), machine)
    return certify.bounds(point, Simplex() if penalty is None else penalty)


def joint_upper(
    bank: Bank, X: Array, loss: Loss, found: Solution, penalty: Penalty | None = None
) -> float:
    """Return the upper bound at a solution of the joint method: X (n, d) are its samples."""
    factors = bank.row_factors()
    assert factors is not None
    assert found.expansion is not None
    lengths = factors.forms(found.expansion)
    outputs, a = decision_function(bank, [found], X) - found.intercept, found.dual_coef
    point = PrimalDualPoint(loss, found.weights, lengths, outputs, a, found.intercept)
    return certify.bounds(point, Simplex() if penalty is None else penalty).upper
