"""Gram matrices as factors: each sample is a direction of its own, K_m = 1 K_m 1'.

So the joint method solves problems on any kernels, where there is room for their matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.base import Bank
from mklbench.kernels.bases import Basis
from mklbench.kernels.row_factors import Part, RowFactors

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Itself(Basis):
    """The rows of the identity, at samples (n, 1) that are row numbers."""

    rank: int

    def __call__(self, X: Array) -> Array:
        return np.eye(self.rank)[X[:, 0].astype(np.intp)]

    def shifted(self, by: int) -> _Itself:
        raise NotImplementedError("row numbers stand beside no features")


def gram_factors(bank: Bank, kernels: NDArray[np.intp]) -> RowFactors:
    """Return kernels of a bank as factors whose columns are its n training samples.

    They hold k n^2 numbers.

    Parameters
    ----------
    bank : Bank
        M kernels on n training samples.
    kernels : ndarray of int of shape (k,)
        Which of them.
    """
    n, k = bank.n_samples, len(kernels)
    grams = np.empty((k, n, n))
    for m, gram in zip(kernels, grams, strict=True):
        alone = np.zeros(bank.n_kernels)
        alone[m] = 1.0
        bank.combine(alone, out=gram)
    part = Part(_Itself(n), grams, np.arange(k))
    rows = np.arange(n, dtype=np.float64)[:, None]
    return RowFactors(rows, [part])
