"""Banks made of banks: several side by side, or one with its kernels rescaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError, unknown
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.centring import centre
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.memory import Memory
from mklbench.kernels.transforms.wrapped import WrappedBank


class ConcatenatedBank(Bank):
    """The kernels of several banks on the same samples, one after the other.

    Parameters
    ----------
    banks : sequence of Bank
        The parts.
    groups : GroupLists, {"parts"} or None, default=None
        Lists of kernel indices, counted through all parts; or "parts", where the kernels of
        each part are a group, as those of one descriptor are.

    Raises
    ------
    InputError
        If `groups` do not partition the kernels.
    """

    def __init__(
        self, banks: Sequence[Bank], groups: GroupLists | Literal["parts"] | None = None
    ) -> None:
        self._banks = tuple(banks)
        self.n_samples = self._banks[0].n_samples
        self.n_kernels = sum(bank.n_kernels for bank in self._banks)
        self.features = tuple(feature for bank in self._banks for feature in bank.features)
        self._ends = np.cumsum([bank.n_kernels for bank in self._banks])[:-1]
        self._starts = (0, *self._ends)
        if groups == "parts":
            groups = [list(part) for part in np.split(np.arange(self.n_kernels), self._ends)]
        elif isinstance(groups, str):
            raise unknown("groups", groups, ["parts"])
        check_groups(groups, self.n_kernels)
        self.groups = groups

    @classmethod
    def needs(cls, parts: Sequence[Memory]) -> Memory:
        """Return the memory of several banks, made and asked one after the other.

        Parameters
        ----------
        parts : sequence of Memory
            What each of the banks needs.
        """
        before = np.cumsum([0.0, *(part.kept for part in parts[:-1])])
        return Memory(
            sum(part.n_kernels or 0 for part in parts),
            sum(part.kept for part in parts),
            max(there + part.building for there, part in zip(before, parts, strict=True)),
            combining=max(part.combining for part in parts),
            restricting=max(part.restricting for part in parts),
            active=sum(part.active for part in parts),
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        parts = self._parts(d)
        active = [(bank, part) for bank, part in parts if part.any()] or parts[:1]
        (first, part), *others = active
        combined = first.combine(part, out)
        for bank, part in others:
            bank.accumulate(part, combined)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        for bank, part in self._parts(d):
            if part.any():
                bank.accumulate(part, out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.concatenate([bank.quadratic_forms(a) for bank in self._banks])

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = np.asarray(kernels, dtype=np.intp)
        owners = np.searchsorted(self._ends, chosen, side="right")
        rows = np.empty((len(chosen), self.n_samples))
        for i, (bank, start) in enumerate(zip(self._banks, self._starts, strict=True)):
            own = owners == i
            if own.any():
                rows[own] = bank.products(a, chosen[own] - start)
        return rows

    def traces(self) -> Array:
        return np.concatenate([bank.traces() for bank in self._banks])

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.concatenate([bank.diagonals(Z) for bank in self._banks])

    def inner_products_with(self, K: Array) -> Array:
        return np.concatenate([bank.inner_products_with(K) for bank in self._banks])

    def inner_products(self, *, centred: bool = False) -> Array:
        starts = (*self._starts, self.n_kernels)
        products = np.empty((self.n_kernels, self.n_kernels))
        for i, bank in enumerate(self._banks):
            own = slice(starts[i], starts[i + 1])
            products[own, own] = bank.inner_products(centred=centred)
            for j, other in enumerate(self._banks[:i]):
                # The kernels of the smaller bank are formed one by one.
                few, many = sorted((bank, other), key=lambda each: each.n_kernels)
                grams = (few.combine(unit) for unit in np.eye(few.n_kernels))
                block = np.array(
                    [many.inner_products_with(centre(K) if centred else K) for K in grams]
                )
                theirs = slice(starts[j], starts[j + 1])
                products[own, theirs] = block if few is bank else block.T
                products[theirs, own] = products[own, theirs].T
        return products

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        combined = np.zeros((len(np.asarray(Z)), self.n_samples))
        for bank, part in self._parts(weights):
            if part.any():
                combined += bank.cross(part, Z)
        return combined

    def restrict(self, rows: ArrayLike) -> ConcatenatedBank:
        return ConcatenatedBank([bank.restrict(rows) for bank in self._banks], self.groups)

    def _parts(self, d: ArrayLike) -> list[tuple[Bank, Array]]:
        weights = np.split(self._check_weights(d), self._ends)
        return list(zip(self._banks, weights, strict=True))


class ScaledBank(WrappedBank):
    """The kernels s_m K_m of a bank, without touching its Gram matrices.

    Parameters
    ----------
    bank : Bank
        The bank that is rescaled.
    scales : ndarray of shape (M,)
        Factors s_m > 0.
    """

    def __init__(self, bank: Bank, scales: Array) -> None:
        super().__init__(bank)
        self._scales = scales

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        return self._bank.combine(self._scales * self._check_weights(d), out)

    def combinations(self, weights: Array, out: Array) -> Iterator[Array]:
        return self._bank.combinations(self._scales * weights, out)

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        self._bank.accumulate(self._scales * self._check_weights(d), out)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._scales * self._bank.quadratic_forms(a)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = np.asarray(kernels, dtype=np.intp)
        return self._scales[chosen, None] * self._bank.products(a, chosen)

    def traces(self) -> Array:
        return self._scales * self._bank.traces()

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._scales[:, None] * self._bank.diagonals(Z)

    def inner_products_with(self, K: Array) -> Array:
        return self._scales * self._bank.inner_products_with(K)

    def inner_products(self, *, centred: bool = False) -> Array:
        products = self._bank.inner_products(centred=centred)
        return self._scales[:, None] * products * self._scales

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return self._bank.cross(self._scales * self._check_weights(weights), Z)

    def restrict(self, rows: ArrayLike) -> ScaledBank:
        """Keep the scales of the samples the bank was normalised on, so that C keeps its scale.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        """
        return ScaledBank(self._bank.restrict(rows), self._scales)


def unit_trace(bank: Bank) -> ScaledBank:
    """Return the kernels of a bank divided each by the trace of its training Gram matrix.

    A kernel whose trace is 0 (a linear kernel on a constant feature) stays as it is: zero.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels on n training samples.
    """
    traces = bank.traces()
    if (traces < 0).any():
        m = int(np.argmin(traces))
        raise InputError(f"kernel {m} has trace {traces[m]:g} < 0: it is no Gram matrix.")
    return ScaledBank(bank, np.divide(1.0, traces, out=np.ones_like(traces), where=traces > 0))
