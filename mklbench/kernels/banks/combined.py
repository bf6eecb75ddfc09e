"""Sums, products and polynomials of the kernels of a bank, as one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.memory import NUMBER, Memory, gram_bytes
from mklbench.kernels.storage.packed import PackedGrams, half_size
from mklbench.validation import check_choice, check_count, check_not_negative

_HOW = ("sum", "product", "polynomial")


class _Rule:
    """How the values of M kernels, a function of weights (M,), are combined (`CombinedKernel`).

    Parameters
    ----------
    how : str
        "sum", "product" or "polynomial".
    degree : int
        Of a polynomial, >= 1.
    offset : float
        Of a polynomial, >= 0.

    Raises
    ------
    InputError
        If an argument is out of range.
    """

    def __init__(self, how: str, degree: int, offset: float) -> None:
        check_choice("how", how, _HOW)
        self.how = how
        self._degree = check_count("degree", degree)
        self._offset = check_not_negative("offset", offset)

    def __str__(self) -> str:
        return f"{self.how} {self._degree}" if self.how == "polynomial" else self.how

    def __call__(self, n_kernels: int, values: Callable[[Array], Array]) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.how == "product":
                return reduce(np.multiply, (values(unit) for unit in np.eye(n_kernels)))
            total = values(np.ones(n_kernels))
            return total if self.how == "sum" else (total + self._offset) ** self._degree


class CombinedKernel(StackedBank):
    """One kernel made of all kernels k_m of a bank by the closure properties of kernels.

    - "sum": sum_m k_m(x, z), the inner product of the features of all kernels side by side;
    - "product": prod_m k_m(x, z), that of all products of one feature a kernel;
    - "polynomial": (sum_m k_m(x, z) + offset)^degree, that of products of `degree` features of any
      kernels, and with an offset > 0 of fewer.

    The Gram matrix is stored as a packed triangle.

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
        self._rule = _Rule(how, degree, offset)
        self._bind(bank)
        _ = self._grams

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

    @property
    def n_values(self) -> int:
        return self._bank.n_values

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        each = self._bank.diagonals(Z)
        return self._rule(len(each), lambda d: d @ each)[None]

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        (weight,) = self._check_weights(weights)
        bank = self._bank
        return weight * self._rule(bank.n_kernels, lambda d: bank.cross(d, Z))

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names = self._bank.kernel_names(columns)
        return (f"{self._rule} of {names[0] if len(names) == 1 else f'{len(names)} kernels'}",)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> CombinedKernel:
        indices = self._check_rows(rows)
        taken = CombinedKernel.__new__(CombinedKernel)
        taken._rule = self._rule
        every = None if kernels is None else np.arange(self._bank.n_kernels)
        taken._bind(self._bank.take(indices, every))
        if kernels is None:
            taken._grams = self._grams.take(indices)
        return taken

    @cached_property
    def _grams(self) -> PackedGrams:
        gram = self._rule(self._bank.n_kernels, self._bank.combine)
        if not np.isfinite(gram.diagonal()).all():  # no other entry of a Gram matrix is larger
            raise InputError(
                f"the {self._rule.how} of {self._bank.n_kernels} kernels overflows: choose fewer "
                "kernels, a lower degree, or kernels with a diagonal of ones."
            )
        return PackedGrams.of(self.n_samples, [gram])

    def _bind(self, bank: Bank) -> None:
        self._bank, self.n_samples, self.n_kernels = bank, bank.n_samples, 1
        self.features = (-1,)
