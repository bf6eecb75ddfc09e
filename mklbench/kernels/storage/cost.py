"""What kernels on single features cost, as halves of Gram matrices and as factors.

The model knows three prices, measured on one core by ``benchmarks/banks.py`` and rounded:

- a number read or written in a pass bound by memory, 8 bytes at `BYTES_PER_SECOND`;
- a multiplication (and addition) in a matrix product, 2 operations at `FLOPS_PER_SECOND`;
- a call of a NumPy or BLAS routine, `CALL_SECONDS`.

With n samples, d features of ranks r_j, k kernel functions, M = d k kernels, L = n (n + 1) / 2
numbers in a half and R = sum_j r_j, the operations need

================  =====================  ==========================================================
operation         halves                 factors
================  =====================  ==========================================================
quadratic_forms   M L numbers, 5 calls   n R + k sum_j r_j^2 / 2 numbers, 10 calls a rank
combine, all      M L numbers, write     n (n + b) R / 2 + n sum_j r_j^2 multiplications,
                                         k sum_j r_j^2 / 2 numbers, write
combine, few      20 L numbers, write    the same where halves are kept, else as for all, with the
                                         features of the few
products, few     20 L numbers, 60       20 times 2 n r numbers, 80 calls
                  calls
================  =====================  ==========================================================

where b = 128 is the number of rows formed at once, up to the diagonal, and write stands for 5 n^2
numbers: an entry of the combination is unpacked, read and written into the memory of the SVM
solver, where a number takes the room of two. Near a sparse optimum few kernels are active and the
same ones at every call, so that a bank of factors keeps the halves of the active kernels, as far as
`memory_limit` allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.storage.factored import ROWS
from mklbench.kernels.storage.packed import half_size

BYTES_PER_SECOND = 2.5e10
FLOPS_PER_SECOND = 6e10
CALL_SECONDS = 1e-6

# Active kernels near a sparse optimum.
FEW = 20

# Combinations in which keeping a half must pay, once its kernel has been active twice in a row.
_REUSES = 20


@dataclass(frozen=True)
class Estimate:
    """Estimated seconds of the operations of a bank in one form."""

    quadratic_forms: float
    combine_all: float
    combine_few: float
    products_few: float

    @property
    def step(self) -> float:
        """Seconds of one step near the optimum: each operation once, few kernels active."""
        return self.quadratic_forms + self.combine_few + self.products_few


@dataclass(frozen=True)
class FeatureCosts:
    """The costs of every kernel function on every single feature.

    Parameters
    ----------
    n_samples, n_functions : int
        n and k.
    ranks : ndarray of int of shape (d,)
        Ranks of the features.
    memory_limit : float
        Bytes that halves may take.
    """

    n_samples: int
    n_functions: int
    ranks: NDArray[np.intp]
    memory_limit: float

    @property
    def room(self) -> int:
        """Number of halves that the memory limit allows."""
        return int(self.memory_limit // (8 * half_size(self.n_samples)))

    def halves(self) -> Estimate:
        """Return the estimate for the halves of all Gram matrices."""
        M, few = self._n_kernels, min(FEW, self._n_kernels)
        L = half_size(self.n_samples)
        return Estimate(
            quadratic_forms=_reading(M * L) + 5 * CALL_SECONDS,
            combine_all=self._combine_halves(M),
            combine_few=self._combine_halves(few),
            products_few=_reading(few * L) + 3 * few * CALL_SECONDS,
        )

    def factors(self) -> Estimate:
        """Return the estimate for the factors, with the halves of few kernels kept."""
        n, r = self.n_samples, self.ranks
        few = min(FEW, self._n_kernels)
        forms = _reading(n * r.sum() + self.n_functions * (r**2).sum() / 2)
        by_factors = self._combine_factors(np.sort(r)[-few:])
        return Estimate(
            quadratic_forms=forms + 10 * len(np.unique(r)) * CALL_SECONDS,
            combine_all=self._combine_factors(r),
            combine_few=(
                min(self._combine_halves(few), by_factors) if few <= self.room else by_factors
            ),
            products_few=few * (_reading(2 * n * r.mean()) + 4 * CALL_SECONDS),
        )

    def prefers_halves(self) -> bool:
        """Whether the halves of all Gram matrices fit and make the faster step."""
        return self._n_kernels <= self.room and self.halves().step < self.factors().step

    def keeping_pays(
        self, features: NDArray[np.intp], missing: NDArray[np.bool_], again: NDArray[np.bool_]
    ) -> bool:
        """Whether a combination is to be made from kept halves, the missing ones formed first.

        Parameters
        ----------
        features : ndarray of int of shape (m,)
            The features of the active kernels.
        missing : ndarray of bool of shape (m,)
            Whether the half of an active kernel is to be formed. This must pay at once,
        again : ndarray of bool
            (m,) or in the long run if the kernel has been active in the last combination, too.
        """
        r = self.ranks[features[missing]]
        reuses = np.where(again[missing], _REUSES, 1)
        forming = _multiplying(((self.n_samples**2 * r + self.n_samples * r**2) / reuses).sum())
        halves = self._combine_halves(len(features)) + forming
        by_factors = self._combine_factors(self.ranks[np.unique(features)])
        return len(features) <= self.room and halves < by_factors

    @property
    def _n_kernels(self) -> int:
        return len(self.ranks) * self.n_functions

    def _combine_halves(self, n_active: int) -> float:
        return _reading(n_active * half_size(self.n_samples)) + self._writing()

    def _combine_factors(self, ranks: NDArray[np.intp]) -> float:
        n, squares = self.n_samples, (ranks**2).sum()
        multiplications = n * (n + ROWS) * ranks.sum() / 2 + n * squares
        mixing = _reading(self.n_functions * squares / 2)
        return _multiplying(multiplications) + mixing + self._writing()

    def _writing(self) -> float:
        return _reading(5 * self.n_samples**2)


def _reading(numbers: float) -> float:
    """Return the seconds of a pass over so many numbers, bound by memory."""
    return 8 * numbers / BYTES_PER_SECOND


def _multiplying(multiplications: float) -> float:
    """Return the seconds of a matrix product of so many multiplications."""
    return 2 * multiplications / FLOPS_PER_SECOND
