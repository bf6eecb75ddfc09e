"""Banks made of several banks side by side, on the same columns or each on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import Memory
from mklbench.kernels.gram_matrices import centre
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.naming import ALL_COLUMNS, named
from mklbench.kernels.row_factors import RowFactors
from mklbench.kernels.samples import Views, dense
from mklbench.validation import check_not_empty


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

    _matrix_of: Callable[[Any], Any] | None = None  # of new samples, for `row_factors`

    def __init__(
        self,
        banks: Sequence[Bank],
        groups: GroupLists | Literal["parts"] | None = None,
    ) -> None:
        self._banks = tuple(check_not_empty("banks", banks))
        self.n_samples = self._banks[0].n_samples
        self.n_kernels = sum(bank.n_kernels for bank in self._banks)
        self.features = tuple(j for bank in self._banks for j in bank.features)
        self._ends = np.cumsum([bank.n_kernels for bank in self._banks])[:-1]
        self._starts = (0, *self._ends)
        if groups == "parts":
            groups = [list(part) for part in np.split(np.arange(self.n_kernels), self._ends)]
        check_groups(groups, self.n_kernels)
        self.groups = groups

    def memory(self, n: int) -> Memory:
        kept, ranks = zip(*(bank.memory(n) for bank in self._banks), strict=True)
        return Memory(sum(kept), None if None in ranks else sum(ranks))

    def row_factors(self) -> RowFactors | None:
        several = []
        for bank in self._banks:
            if (factors := bank.row_factors()) is None:
                return None
            several.append(factors)
        return RowFactors.of_several(several, self._matrix_of)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        parts = self._parts(d)
        active = [(bank, part) for bank, part in parts if part.any()] or parts[:1]
        (first, part), *others = active
        combined = first.combine(part, out)
        for bank, part in others:
            combined += bank.combine(part)
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.concatenate([bank.quadratic_forms(a) for bank in self._banks])

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = self._check_kernels(kernels)
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
        samples = [None] * len(self._banks) if Z is None else self._samples(Z)
        return np.concatenate(
            [bank.diagonals(own) for bank, own in zip(self._banks, samples, strict=True)]
        )

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

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        samples = self._samples(Z)
        asked = zip(self._parts(weights), samples, strict=True)
        blocks = [bank.cross(share, own) for (bank, share), own in asked if share.any()]
        shape = np.shape(samples[0])[0], self.n_samples
        return sum(blocks[1:], blocks[0]) if blocks else np.zeros(shape)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> ConcatenatedBank:
        if kernels is None:
            taken = [bank.take(rows) for bank in self._banks]
            return self._of(taken, range(len(taken)), self.groups)
        owners = np.searchsorted(self._ends, kernels, side="right")
        used = np.unique(owners).tolist()
        own = (kernels[owners == i] - self._starts[i] for i in used)
        taken = [self._banks[i].take(rows, few) for i, few in zip(used, own, strict=True)]
        return self._of(taken, used, None)

    def _of(
        self, banks: Sequence[Bank], used: Sequence[int], groups: GroupLists | None
    ) -> ConcatenatedBank:
        """Return the bank of what was taken of the parts `used`."""
        return ConcatenatedBank(banks, groups)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(name for bank in self._banks for name in bank.kernel_names(columns))

    def _samples(self, Z: Any) -> list[Any]:
        """Return for each bank what it has to know of new samples."""
        return [Z] * len(self._banks)

    def _parts(self, d: ArrayLike) -> list[tuple[Bank, Array]]:
        weights = np.split(self._check_weights(d), self._ends)
        return list(zip(self._banks, weights, strict=True))


@dataclass(frozen=True)
class ViewNames:
    """What a view and its features are called.

    Attributes
    ----------
    name : str or None
        As the user calls it; None if not at all.
    positions : tuple of int or None
        The columns that its features are, where they are columns of the samples.
    labels : tuple of str
        What its features are called.
    """

    name: str | None
    positions: tuple[int, ...] | None
    labels: tuple[str, ...]

    def features(self, bank: Bank) -> list[int]:
        """Return for each kernel (M,) of the view's bank the one column it looks at, or -1."""
        own = self.positions
        if own is None:
            return [-1] * bank.n_kernels
        return [own[0] if len(own) == 1 else -1 if j < 0 else own[j] for j in bank.features]

    def of_kernels(self, bank: Bank, columns: Sequence[str] | None) -> list[str]:
        """Return the names (M,) of the kernels of the view's bank."""
        labels = list(self.labels)
        if columns is not None and self.positions is not None:
            labels = [str(columns[j]) for j in self.positions]
        if self.name:
            labels = [
                f"{label} of {self.name}" if len(labels) > 1 else self.name for label in labels
            ]
        where = self.name
        if self.positions and not where:
            where = labels[0] if len(labels) == 1 else ALL_COLUMNS
        found = []
        for name in bank.kernel_names(labels):
            word, *own = name.rsplit(" on ", 1)
            found.append(named(word, where) if where and own in ([], [ALL_COLUMNS]) else name)
        return found


class ColumnBank(ConcatenatedBank):
    """The kernels of several banks, each on columns of its own; the kernels of each are a group.

    Parameters
    ----------
    banks : sequence of Bank
        On the views of the training samples.
    names : sequence of ViewNames
        What the views are called.
    views_of : callable or None, default=None
        Makes `Views` of new samples, where these come otherwise than as views.
    """

    def __init__(
        self,
        banks: Sequence[Bank],
        names: Sequence[ViewNames],
        views_of: Callable[[Any], Views] | None = None,
    ) -> None:
        super().__init__(banks, "parts")
        self._names, self._views_of = tuple(names), views_of
        self._matrix_of = partial(_side_by_side, views_of)
        self._used: Sequence[int] = range(len(banks))  # the numbers of the views
        each = zip(banks, self._names, strict=True)
        self.features = tuple(j for bank, view in each for j in view.features(bank))

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        each = zip(self._banks, self._names, strict=True)
        return tuple(name for bank, view in each for name in view.of_kernels(bank, columns))

    def _of(
        self, banks: Sequence[Bank], used: Sequence[int], groups: GroupLists | None
    ) -> ColumnBank:
        taken = ColumnBank(banks, [self._names[i] for i in used], self._views_of)
        taken._used = [self._used[i] for i in used]
        return taken

    def _samples(self, Z: Any) -> list[Any]:
        views = _in_views(self._views_of, Z)
        return [views.parts[v] for v in self._used]


def _in_views(views_of: Callable[[Any], Views] | None, Z: Any) -> Any:
    return Z if views_of is None or isinstance(Z, Views) else views_of(Z)


def _side_by_side(views_of: Callable[[Any], Views] | None, Z: Any) -> Any:
    """Return a matrix of new samples, the features of one view after the other."""
    views = _in_views(views_of, Z)
    return np.hstack([dense(part) for part in views.parts]) if isinstance(views, Views) else views
