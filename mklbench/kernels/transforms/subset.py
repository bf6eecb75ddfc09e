"""Some of the kernels of a bank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.base import Array, Bank
from mklbench.kernels.cross import ChosenKernels, CrossKernels


class KernelSubset(Bank):
    """Some of the kernels of a bank, without copying anything.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels.
    kernels : array_like of shape (k,)
        Indices of those that are meant, in any order.
    """

    def __init__(self, bank: Bank, kernels: ArrayLike) -> None:
        self._bank = bank
        self._kernels: NDArray[np.intp] = bank._check_kernels(kernels)
        self.n_samples, self.n_kernels = bank.n_samples, len(self._kernels)
        self.features = tuple(bank.features[m] for m in self._kernels)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        return self._bank.combine(self._embedded(d), out)

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        self._bank.accumulate(self._embedded(d), out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._bank.products(a, self._kernels) @ self._check_coefficients(a)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        return self._bank.products(a, self._kernels[self._check_kernels(kernels)])

    def traces(self) -> Array:
        return self._bank.traces()[self._kernels]

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._bank.diagonals(Z)[self._kernels]

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return self._bank.cross(self._embedded(weights), Z)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names = self._bank.kernel_names(columns)
        return tuple(names[m] for m in self._kernels)

    def for_prediction(self, rows: NDArray[np.intp], kernels: NDArray[np.intp]) -> CrossKernels:
        chosen, places = np.unique(self._kernels[kernels], return_inverse=True)
        kept = self._bank.for_prediction(rows, chosen)
        return ChosenKernels(kept, places)

    def take(self, rows: ArrayLike) -> KernelSubset:
        return KernelSubset(self._bank.take(rows), self._kernels)

    def _embedded(self, d: ArrayLike) -> Array:
        weights = np.zeros(self._bank.n_kernels)
        weights[self._kernels] = self._check_weights(d)
        return weights
