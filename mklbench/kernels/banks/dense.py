"""Banks that store their Gram matrices, for kernels without structure to exploit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import NUMBER, Memory, gram_bytes
from mklbench.kernels.cross import weighted_sum
from mklbench.kernels.functions import Gaussian, KernelFunction, check_values, matrices
from mklbench.kernels.gram_matrices import PackedTriangles, triangle_size, unpack
from mklbench.kernels.groups import GroupLists
from mklbench.kernels.naming import ALL_COLUMNS, function_names, named
from mklbench.kernels.row_factors import MANY
from mklbench.validation import check_features, check_not_empty, check_training_features

# Where the entries of a smaller matrix stand in the packed triangles: some arrays of indices.
_INDICES = 4.0
# The columns that a kernel looks at, None for all of them.
ColumnGroup = tuple[int, ...] | None


class StackedBank(Bank):
    """The operations on Gram matrices stored as packed lower triangles, M n (n + 1) / 2 numbers.

    All passes are bound by memory, and so take half the time they take on the stack (M, n, n).
    """

    def __init__(self, grams: PackedTriangles, groups: GroupLists | None = None) -> None:
        self._grams = grams
        self.n_kernels, self.n_samples = len(grams), grams.n_samples
        self.features = (-1,) * self.n_kernels
        self.groups = groups

    @cached_property
    def _grams(self) -> PackedTriangles:
        """The Gram matrices; subclasses may form them when they are first asked for."""
        raise InputError(
            f"{type(self).__name__} was taken for predictions and has no Gram matrix of its "
            "samples: call take(rows) without kernels."
        )

    @classmethod
    def needs(cls, n: int, n_kernels: int, forming: float = 1.0) -> Memory:
        """Return the memory of a bank that stores its Gram matrices.

        Parameters
        ----------
        n : int
            Number of training samples.
        n_kernels : int
            Number M of kernels.
        forming : float, default=1.0
            The matrices (n, n) that there are at once while a kernel is computed.
        """
        kept = NUMBER * n_kernels * triangle_size(n)
        # The matrix before lives while the next one is formed; of the last, its triangle is copied.
        building = forming + (1.0 if n_kernels > 1 else 0.5)
        return Memory(
            n_kernels,
            kept,
            kept + gram_bytes(n, building),
            combining=gram_bytes(n, 1.5),  # a packed triangle, and the matrix it is written into
            restricting=gram_bytes(n, _INDICES),
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        unpack(self._grams.combination(self._check_weights(d)), combined)
        return combined

    def combinations(self, weights: Array, out: Array) -> Iterator[Array]:
        if len(weights) == 1:  # then kernels of weight 0 need not be read
            yield self.combine(weights[0], out)
            return
        for start in range(0, len(weights), self.n_kernels):  # no more memory than the bank's own
            for triangle in weights[start : start + self.n_kernels] @ self._grams.triangles:
                unpack(triangle, out)
                yield out

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        unpack(self._grams.combination(self._check_weights(d)), out, add=True)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._grams.quadratic_forms(self._check_coefficients(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = self._check_kernels(kernels)
        return self._grams.products(self._check_coefficients(a), chosen)

    def traces(self) -> Array:
        return self._grams.traces()

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._grams.diagonals() if Z is None else super().diagonals(Z)

    def inner_products_with(self, K: Array) -> Array:
        return self._grams.inner_products_with(K)

    def inner_products(self, *, centred: bool = False) -> Array:
        return (self._grams.centred() if centred else self._grams).inner_products()


class DenseBank(StackedBank):
    """Kernel functions on all features, with packed Gram matrices.

    Of many samples these are formed when they are first asked for.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        The M kernel functions.
    """

    def __init__(self, X: ArrayLike, functions: Sequence[KernelFunction]) -> None:
        check_not_empty("functions", functions)
        samples = check_training_features("X", X)
        functions = [f.on(samples) if isinstance(f, Gaussian) else f for f in functions]
        check_values(functions, samples)
        self._bind(samples.shape, [None], [samples], [0] * len(functions), functions)
        if len(samples) < MANY:
            _ = self._grams

    @classmethod
    def on_columns(
        cls, X: Array, functions: Sequence[KernelFunction], columns: Sequence[ColumnGroup]
    ) -> DenseBank:
        """Return the bank of functions on columns of their own, whose Gram matrices are not formed.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Training samples, of which only the columns in use are kept.
        functions : sequence of KernelFunction
            The M kernel functions, those on the same columns one after the other.
        columns : sequence of ColumnGroup
            The columns of each.
        """
        bank = cls.__new__(cls)
        groups = tuple(dict.fromkeys(columns))
        samples = [np.ascontiguousarray(_part_of(X, group)) for group in groups]
        bank._bind(X.shape, groups, samples, [groups.index(own) for own in columns], functions)
        return bank

    @cached_property
    def _grams(self) -> PackedTriangles:
        grams = self._blocks(np.arange(self.n_kernels))
        return PackedTriangles.of(self.n_samples, grams, self.n_kernels)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        samples = check_features("Z", Z, self._n_features)
        active = np.flatnonzero(d)
        shape = len(samples), self.n_samples
        return weighted_sum(d[active], self._blocks(active, samples), shape)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        if Z is None and "_grams" in vars(self):
            return super().diagonals()
        new = None if Z is None else check_features("Z", Z, self._n_features)
        return np.array(
            [
                function.diagonal(
                    self._samples[g] if new is None else _part_of(new, self._groups[g])
                )
                for function, g in zip(self._functions, self._owners, strict=True)
            ]
        )

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(named(each, ALL_COLUMNS) for each in function_names(self._functions))

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> DenseBank:
        indices = self._check_rows(rows)
        kept = range(self.n_kernels) if kernels is None else kernels.tolist()
        owners = [self._owners[m] for m in kept]
        used = list(dict.fromkeys(owners))
        taken = DenseBank.__new__(DenseBank)
        taken._bind(
            (len(indices), self._n_features),
            [self._groups[g] for g in used],
            [self._samples[g][indices] for g in used],
            [used.index(g) for g in owners],
            [self._functions[m] for m in kept],
        )
        if kernels is None:
            taken.groups = self.groups
            if "_grams" in vars(self):
                taken._grams = self._grams.take(indices)
        return taken

    def _bind(
        self,
        shape: tuple[int, ...],
        groups: Sequence[ColumnGroup],
        samples: Sequence[Array],
        owners: Sequence[int],
        functions: Sequence[KernelFunction],
    ) -> None:
        """Stand on samples of a shape (n, d), kernel m on those in groups[owners[m]]."""
        self.n_samples, self._n_features = shape
        self._groups, self._samples = tuple(groups), tuple(samples)
        self._owners, self._functions = tuple(owners), tuple(functions)
        self.n_kernels, self.groups = len(self._functions), None
        singles = [-1 if own is None or len(own) > 1 else own[0] for own in self._groups]
        self.features = tuple(singles[g] for g in self._owners)

    def _blocks(self, kernels: Indices, Z: Array | None = None) -> Iterator[Array]:
        """Yield kernels between the training samples, or from new ones `Z` (n_z, d) to them."""
        for g, group in groupby(kernels.tolist(), key=self._owners.__getitem__):
            X = self._samples[g]
            functions = [self._functions[m] for m in group]
            yield from matrices(functions, X if Z is None else _part_of(Z, self._groups[g]), X)


def _part_of(Z: Array, columns: ColumnGroup) -> Array:
    """Return the columns of samples (n, d) that a kernel looks at."""
    return Z if columns is None else Z[:, list(columns)]
