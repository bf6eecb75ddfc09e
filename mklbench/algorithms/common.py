"""Checks and small steps that several algorithms share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Bank, Family, KernelOperator


def check_bank(algorithm: str, operator: KernelOperator) -> Bank:
    """Return `operator` if it is a bank."""
    if not isinstance(operator, Bank):
        raise InputError(
            f"{algorithm} needs a bank of kernels, but {type(operator).__name__} is a family: "
            "choose a kernel such as feature_gaussians, simplemkl or precomputed."
        )
    return operator


def check_family(algorithm: str, operator: KernelOperator) -> Family:
    """Return `operator` if it is a family."""
    if not isinstance(operator, Family):
        raise InputError(
            f"{algorithm} needs a continuous family of kernels, but {type(operator).__name__} is a "
            "bank: choose the kernel product."
        )
    return operator


def check_samples(operator: KernelOperator, y: NDArray[np.float64]) -> None:
    """Raise an InputError unless there is one label a training sample."""
    if operator.n_samples != len(y):
        raise InputError(
            f"y has {len(y)} labels, but the kernels are on {operator.n_samples} samples."
        )
