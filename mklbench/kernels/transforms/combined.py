"""Sums, products and polynomials of the kernels of a bank, as one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.cross import ChosenKernels, CrossKernels
from mklbench.kernels.memory import NUMBER, Memory, gram_bytes
from mklbench.kernels.storage.packed import PackedGrams, half_size
from mklbench.kernels.transforms.cross import CombinationRule, CombinedCross, Indices


class CombinedKernel(StackedBank):
    """One kernel made of all kernels k_m of a bank by the closure properties of kernels.

    - "sum": sum_m k_m(x, z), the inner product of the features of all kernels side by side;
    - "product": prod_m k_m(x, z), that of all products of one feature a kernel;
    - "polynomial": (sum_m k_m(x, z) + offset)^degree, that of products of `degree` features of any
      kernels, and with an offset > 0 of fewer.

    The Gram matrix is stored as its half.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels.
    how : str, default="sum"
        "sum", "product" or "polynomial".
    degree : int, default=2
        Of a polynomial, >= 1.
    offset : float, default=1.0
        Of a polynomial, >= 0.

    Raises
    ------
    InputError
        If an argument is out of range, or the kernel overflows.
    """

    def __init__(
        self, bank: Bank, how: str = "sum", *, degree: int = 2, offset: float = 1.0
    ) -> None:
        self._rule = CombinationRule(how, degree, offset)
        gram = self._rule(bank.n_kernels, bank.combine)
        self._bind(bank, PackedGrams.of(bank.n_samples, [gram]))
        if not np.isfinite(gram.diagonal()).all():  # no other entry of a Gram matrix is larger
            raise InputError(
                f"the {how} of {bank.n_kernels} kernels overflows: choose fewer kernels, a lower "
                "degree, or kernels with a diagonal of ones."
            )

    @classmethod
    def made_of(cls, bank: Memory, n: int) -> Memory:
        """Return the memory of one kernel made of those of a bank.

        Parameters
        ----------
        bank : Memory
            What the bank itself needs, which is kept.
        n : int
            Number of training samples.
        """
        own = cls.needs(n, 1)
        # The product so far, a kernel and the two multiplied, and what is returned.
        making = bank.kept + bank.combining + gram_bytes(n, 4)
        return replace(
            own,
            kept=bank.kept + NUMBER * half_size(n),
            building=max(bank.building, making),
            restricting=max(bank.restricting, own.restricting),
        )

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return CombinedCross(self._bank, self._rule).diagonals(Z)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return CombinedCross(self._bank, self._rule).cross(weights, Z)

    def for_prediction(self, rows: Indices, kernels: Indices) -> CrossKernels:
        every = np.arange(self._bank.n_kernels)
        kept = CombinedCross(self._bank.for_prediction(rows, every), self._rule)
        return kept if len(kernels) else ChosenKernels(kept, kernels)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names = self._bank.kernel_names(columns)
        return (f"{self._rule} of {names[0] if len(names) == 1 else f'{len(names)} kernels'}",)

    def take(self, rows: ArrayLike) -> CombinedKernel:
        indices = self._check_rows(rows)
        restricted = CombinedKernel.__new__(CombinedKernel)
        restricted._rule = self._rule
        restricted._bind(self._bank.take(indices), self._grams.take(indices))
        return restricted

    def _bind(self, bank: Bank, grams: PackedGrams) -> None:
        super().__init__(grams)
        self._bank = bank
