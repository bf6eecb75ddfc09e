"""One kernel function of which no Gram matrix is kept, for machines that compute its entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Array, Indices, KernelOperator
from mklbench.kernels.functions import KernelFunction, check_values
from mklbench.kernels.naming import ALL_COLUMNS, function_names, named
from mklbench.validation import check_features, check_training_features


class FunctionKernel(KernelOperator):
    """One kernel function on all features; its Gram matrix is formed when it is asked for.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    function : KernelFunction
        The kernel function.

    Attributes
    ----------
    samples : ndarray of shape (n, d)
        The training samples.
    function : KernelFunction
        The kernel function.

    Raises
    ------
    InputError
        If `X` is no finite matrix, or the kernel overflows on it.
    """

    n_kernels = 1
    features = (-1,)

    def __init__(self, X: ArrayLike, function: KernelFunction) -> None:
        self.samples, self.function = check_training_features("X", X), function
        check_values([function], self.samples)
        self.n_samples = len(self.samples)

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        (weight,) = self._check_weights(weights)
        return np.multiply(self.function(self.samples, self.samples), weight, out=out)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        (weight,) = self._check_weights(weights)
        return weight * self.function(check_features("Z", Z, self.samples.shape[1]), self.samples)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> FunctionKernel:
        return FunctionKernel(self.samples[self._check_rows(rows)], self.function)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(named(each, ALL_COLUMNS) for each in function_names([self.function]))
