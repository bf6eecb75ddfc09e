"""What a prediction needs of kernels: their values between new samples and support vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class CrossKernels(ABC):
    """Kernels between new samples and some training samples: all that a prediction asks for.

    Every operator is one, on its training samples, and so are kernels on nodes
    (`mklbench.kernels.row_factors`).

    Attributes
    ----------
    n_samples : int
        Number n of training samples.
    n_kernels : int
        Number M of base kernels of a bank, or of parameters of a family.
    """

    n_samples: int
    n_kernels: int

    @abstractmethod
    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the kernel (n_z, n) between new samples and the training samples at some weights.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels of a bank, or parameters theta of a family.
        Z : array_like of shape (n_z, d)
            Features of the new samples, unless the operator says otherwise.
        """

    def _check_weights(self, weights: ArrayLike) -> Array:
        checked = np.asarray(weights, dtype=np.float64)
        if checked.shape == (self.n_kernels,):
            return checked
        M = self.n_kernels
        raise InputError(
            f"weights have shape {checked.shape}, but there are {M} kernels: pass a vector ({M},) "
            f"of one weight a kernel, such as numpy.eye({M})[m] for kernel m alone."
        )


def weighted_sum(weights: Array, blocks: Iterable[Array], shape: tuple[int, int]) -> Array:
    """Return sum_m weights_m blocks_m, zeros of `shape` where there is no block."""
    total: Array | None = None
    for weight, block in zip(weights, blocks, strict=True):
        if total is None:
            total = weight * block
        else:
            total += weight * block
    return np.zeros(shape) if total is None else total
