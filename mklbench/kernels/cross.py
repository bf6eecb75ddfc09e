"""What a prediction needs of kernels: their values between new samples and support vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError

Array = NDArray[np.float64]


class CrossKernels(ABC):
    """Kernels between new samples and some training samples: all that a prediction asks for.

    Every operator is one, on its training samples. What `KernelOperator.for_prediction` makes of it
    is one that knows some of them only, and holds no Gram matrix between these.

    Attributes
    ----------
    n_samples : int
        Number n of training samples.
    n_kernels : int
        Number M of base kernels of a bank, or of parameters of a family.
    """

    n_samples: int
    n_kernels: int

    @property
    def n_values(self) -> int:
        """Numbers that `cross` holds at once for each new sample, about, but for temporaries."""
        return self.n_samples

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

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        """Return k_m(z, z) (M, n_z) of new samples.

        Parameters
        ----------
        Z : array_like or None, default=None
            New samples, as `cross` takes them; the training samples, where there is a Gram matrix
            of them, if not given.

        Raises
        ------
        InputError
            If k_m(z, z) is not known: that of new samples is not in `cross`.
        """
        raise InputError(
            f"{type(self).__name__} does not know k(z, z) of new samples, which a cosine "
            "normalisation needs: normalise the Gram matrices before they are given."
        )

    def _check_weights(self, weights: ArrayLike) -> Array:
        checked = np.asarray(weights, dtype=np.float64)
        if checked.shape == (self.n_kernels,):
            return checked
        M = self.n_kernels
        if checked.ndim == 0:
            raise InputError(
                f"weights={checked:g} is one number, but there are {M} kernels: pass a vector "
                f"({M},) of one weight a kernel, such as numpy.eye({M})[m] for kernel m alone."
            )
        raise InputError(
            f"weights have shape {checked.shape}, but there are {M} kernels: pass a vector ({M},) "
            "of one weight a kernel."
        )


class ChosenKernels(CrossKernels):
    """Some of the kernels of a bank, or all parameters of a family, for predictions.

    Parameters
    ----------
    operator : CrossKernels
        With M kernels.
    kernels : ndarray of int of shape (k,)
        Indices of those that are meant.
    """

    def __init__(self, operator: CrossKernels, kernels: NDArray[np.intp]) -> None:
        self._operator, self._kernels = operator, kernels
        self.n_samples, self.n_kernels = operator.n_samples, len(kernels)

    @property
    def n_values(self) -> int:
        return self._operator.n_values

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        embedded = np.zeros(self._operator.n_kernels)
        embedded[self._kernels] = self._check_weights(weights)
        return self._operator.cross(embedded, Z)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._operator.diagonals(Z)[self._kernels]
