"""A bank whose kernels look at columns of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank, Indices
from mklbench.kernels.naming import ALL_COLUMNS, named
from mklbench.kernels.row_factors import RowFactors
from mklbench.kernels.samples import Views, dense
from mklbench.kernels.transforms.composite import ConcatenatedBank, words_of


@dataclass(frozen=True)
class ViewNames:
    """What a view and its features are called.

    Attributes
    ----------
    name : str or None
        As the user calls it; None if not at all.
    positions : tuple of int or None
        The columns that its features are, where they are columns of the samples.
    labels : tuple of str or None
        The names of these columns, where they have names.
    width : int
        The number of its features.
    """

    name: str | None
    positions: tuple[int, ...] | None
    labels: tuple[str, ...] | None
    width: int

    def feature(self, j: int) -> int:
        """Return the column that feature `j` is, -1 if it is none or `j` is -1."""
        if self.positions is None:
            return -1
        if self.width == 1:
            return self.positions[0]
        return -1 if j < 0 else self.positions[j]

    def of_kernel(self, word: str, j: int, columns: Sequence[str] | None) -> str:
        """Return the name of a kernel, "gaussian 0.5", on feature `j`, or on all of them (-1)."""
        if self.name is None and self.positions is None:  # Gram matrices
            return word
        if j < 0 or self.width == 1:
            single = self.width == 1 and self.positions is not None
            where = self._label(0, columns) if single else ALL_COLUMNS
            return named(word, self.name or where)
        label = self._label(j, columns)
        return named(word, f"{label} of {self.name}" if self.name else label)

    def _label(self, j: int, columns: Sequence[str] | None) -> str:
        if self.positions is not None and columns is not None:
            return str(columns[self.positions[j]])
        if self.labels is not None:
            return self.labels[j]
        return f"column {j if self.positions is None else self.positions[j]}"


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
        super().__init__(banks, "parts", range(len(banks)))
        self._names = tuple(names)
        self._views_of = views_of
        self.features = tuple(
            view.feature(j)
            for bank, view in zip(banks, self._names, strict=True)
            for j in bank.features
        )

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(
            view.of_kernel(word, j, columns)
            for bank, view in zip(self._banks, self._names, strict=True)
            for word, j in zip(words_of(bank), bank.features, strict=True)
        )

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> ColumnBank:
        if kernels is None:
            return ColumnBank(
                [bank.take(rows) for bank in self._banks], self._names, self._views_of
            )
        banks, used = self._in_use(rows, kernels)
        taken = ColumnBank(banks, [self._names[i] for i in used], self._views_of)
        taken._columns = used.tolist()
        return taken

    def row_factors(self) -> RowFactors | None:
        several = self._factors_of_parts()
        if several is None:
            return None
        return RowFactors.side_by_side(several, _SideBySide(self._views_of))

    def _samples(self, Z: Any) -> list[Any]:
        if self._views_of is not None and not isinstance(Z, Views):
            Z = self._views_of(Z)
        return super()._samples(Z)


@dataclass(frozen=True)
class _SideBySide:
    """Makes a matrix of new samples, the features of one view after the other."""

    views_of: Callable[[Any], Views] | None

    def __call__(self, Z: Any) -> Any:
        if not isinstance(Z, Views):
            if self.views_of is None:
                return Z
            Z = self.views_of(Z)
        return np.hstack([dense(part) for part in Z.parts])
