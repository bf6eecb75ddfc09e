"""Banks that store their Gram matrices, for kernels without structure to exploit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import NUMBER, Memory, weighted_sum
from mklbench.kernels.functions import (
    Gaussian,
    KernelFunction,
    Linear,
    Polynomial,
    check_values,
    matrices,
)
from mklbench.kernels.gram_matrices import PackedTriangles, symmetric, triangle_size, unpack
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.naming import ALL_COLUMNS, function_names, named
from mklbench.kernels.row_factors import MANY, Part, RowFactors, as_they_are, feature_parts, rank_of
from mklbench.kernels.samples import dense, is_sparse, rows_of
from mklbench.validation import check_features, check_not_empty, check_training_features, real_array

# Called with n and m samples it returns their kernel (n, m).
PairFunction = Callable[[Any, Any], Any]
# Features of which inner products are taken as they are.
_FEW = 1000
# Samples whose kernel with each other is formed for the sake of its diagonal.
_AT_ONCE = 64
# The columns that a kernel looks at, None for all of them.
ColumnGroup = tuple[int, ...] | None

T = TypeVar("T")


@dataclass(frozen=True)
class NamedFunction:
    """A kernel function and the name that messages and weights have for it.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns the kernel (n, m) between n and m samples.
    name : str
        Such as "rbf_kernel(gamma=0.1)".
    """

    function: PairFunction
    name: str

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the kernel (n, n_z) between samples, two sets of them or one and itself.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.
        Z : array_like or sparse matrix of shape (n_z, d)
            Samples.

        Raises
        ------
        InputError
            If it has another shape, is not finite or, of the same samples, not symmetric.
        """
        shape = np.shape(X)[0], np.shape(Z)[0]
        returned = self.function(X, Z)
        values = returned.toarray() if is_sparse(returned) else returned
        kernel = real_array(f"what {self.name} returns", values, f"of real numbers {shape}")
        if kernel.shape != shape:
            raise InputError(
                f"{self.name} returns an array of shape {kernel.shape} for {shape[0]} and "
                f"{shape[1]} samples: a kernel function returns one of shape {shape}."
            )
        if not np.isfinite(kernel).all():
            row, column = np.argwhere(~np.isfinite(kernel))[0]
            raise InputError(
                f"{self.name} is {kernel[row, column]} at samples {row} and {column}: a kernel "
                "must be finite, mend the samples or the function."
            )
        return symmetric(self.name, kernel) if Z is X else kernel

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) (n,).

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.
        """
        blocks = (rows_of(X, slice(s, s + _AT_ONCE)) for s in range(0, np.shape(X)[0], _AT_ONCE))
        return np.concatenate([self(block, block).diagonal() for block in blocks])


class StackedBank(Bank):
    """The operations on Gram matrices stored as packed lower triangles, M n (n + 1) / 2 numbers.

    All passes are bound by memory, and so take half the time they take on the stack (M, n, n).
    A subclass says what its kernels are in `_blocks`, of which the matrices are formed when they
    are first asked for, and in `_pick` what `take` leaves of it.
    """

    def __init__(self, grams: PackedTriangles, groups: GroupLists | None = None) -> None:
        check_groups(groups, len(grams))
        self._grams = grams
        self.n_kernels, self.n_samples = len(grams), grams.n_samples
        self.features = (-1,) * self.n_kernels
        self.groups = groups

    @cached_property
    def _grams(self) -> PackedTriangles:
        """The Gram matrices, formed when they are first asked for."""
        blocks = self._blocks(np.arange(self.n_kernels))
        return PackedTriangles.of(self.n_samples, blocks, self.n_kernels)

    @abstractmethod
    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        """Yield kernels between the training samples, or from new ones `Z` to them."""

    def _new(self, Z: Any) -> Any:
        """Return new samples as `_blocks` takes them, a row each."""
        return Z

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        """Leave some training samples and kernels, None for all, of what `_blocks` looks at."""

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Self:
        indices, taken = self._check_rows(rows), copy(self)
        taken._kernels_changed()
        grams = vars(taken).pop("_grams", None)
        taken.n_samples = len(indices)
        if kernels is not None:
            taken.n_kernels, taken.groups = len(kernels), None
            taken.features = picked(self.features, kernels)
        elif grams is not None:
            taken._grams = grams.take(indices)
        taken._pick(indices, kernels)
        return taken

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        d, new = self._check_weights(weights), self._new(Z)
        active = np.flatnonzero(d)
        shape = np.shape(new)[0], self.n_samples
        return weighted_sum(d[active], self._blocks(active, new), shape)

    def memory(self, n: int) -> Memory:
        return Memory(NUMBER * self.n_kernels * triangle_size(n))

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        unpack(self._grams.combination(self._check_weights(d)), combined)
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return self._grams.quadratic_forms(self._check_coefficients(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen = self._check_kernels(kernels)
        return self._grams.products(self._check_coefficients(a), chosen)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._grams.diagonals() if Z is None else super().diagonals(Z)

    def inner_products_with(self, K: Array) -> Array:
        return self._grams.inner_products_with(K)

    def inner_products(self, *, centred: bool = False) -> Array:
        return (self._grams.centred() if centred else self._grams).inner_products()


class FunctionBank(StackedBank):
    """Kernel functions of two sets of samples, with packed Gram matrices.

    The samples may be anything that has rows: numbers, text, a sparse matrix. Of many, and of
    functions on columns of their own, the matrices are formed when they are first asked for.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        The M kernel functions.
    columns : sequence of ColumnGroup or None, default=None
        The columns that each of them looks at; if not given, all. Those on the same columns one
        after the other share their distances.

    Raises
    ------
    InputError
        If there is no function. Their values are for the builder to check.
    """

    def __init__(
        self,
        X: Any,
        functions: Sequence[KernelFunction],
        columns: Sequence[ColumnGroup] | None = None,
    ) -> None:
        self._X, self._functions = X, tuple(functions)
        self.n_samples, self.n_kernels = np.shape(X)[0], len(self._functions)
        self._columns = (None,) * self.n_kernels if columns is None else tuple(columns)
        self.features = tuple(
            -1 if own is None or len(own) > 1 else own[0] for own in self._columns
        )
        if columns is None:
            check_not_empty("functions", functions)
            if self.n_samples < MANY:
                _ = self._grams

    def diagonals(self, Z: Any = None) -> Array:
        if Z is None and "_grams" in vars(self):
            return super().diagonals()
        samples = self._X if Z is None else self._new(Z)
        return np.array(
            [
                function.diagonal(_part_of(samples, own))
                for function, own in zip(self._functions, self._columns, strict=True)
            ]
        )

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return tuple(named(each, ALL_COLUMNS) for each in function_names(self._functions))

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        self._X = rows_of(self._X, rows)
        self._functions = picked(self._functions, kernels)
        self._columns = picked(self._columns, kernels)

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        for columns, group in groupby(kernels.tolist(), key=self._columns.__getitem__):
            X = _part_of(self._X, columns)
            functions = [self._functions[m] for m in group]
            yield from matrices(functions, X if Z is None else _part_of(Z, columns), X)


class DenseBank(FunctionBank):
    """Kernel functions on samples of finite numbers.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        The M kernel functions.
    columns : sequence of ColumnGroup or None, default=None
        As in `FunctionBank`; with them the samples are known to be safe.
    """

    def __init__(
        self,
        X: Any,
        functions: Sequence[KernelFunction],
        columns: Sequence[ColumnGroup] | None = None,
    ) -> None:
        if columns is None:
            X = check_training_features("X", X)
            functions = [f.on(X) if isinstance(f, Gaussian) else f for f in functions]
            check_values(functions, X)
        super().__init__(X, functions, columns)

    def memory(self, n: int) -> Memory:
        d, stored = self._X.shape[1], super().memory(n)
        if n < MANY or not has_factors(d, self._functions):
            return stored
        rank = d if isinstance(self._functions[0], Linear) else rank_of(n, self.n_kernels)
        return stored._replace(rank=rank)

    def row_factors(self) -> RowFactors | None:
        n, d = self._X.shape
        if n < MANY or not has_factors(d, self._functions):
            return None
        if not isinstance(self._functions[0], Linear):
            return RowFactors(self._X, feature_parts(self._X, self._functions))
        part = Part.of(as_they_are(d), self._functions, [0], slice(0, d))
        return RowFactors(self._X, [part])

    def _new(self, Z: Any) -> Array:
        return check_features("Z", dense(Z), self._X.shape[1])


def has_factors(d: int, functions: Sequence[KernelFunction]) -> bool:
    """Tell whether kernels on d features of many samples have factors in blocks of rows.

    Those on one feature have, and inner products of up to a thousand.
    """
    of_one = d == 1 and all(isinstance(f, Gaussian | Polynomial) for f in functions)
    is_linear = len(functions) == 1 and isinstance(functions[0], Linear)
    return of_one or (is_linear and d <= _FEW)


def picked(values: Sequence[T], kernels: Indices | None) -> tuple[T, ...]:
    """Return the values of some kernels, of all if None."""
    return tuple(values) if kernels is None else tuple(values[m] for m in kernels.tolist())


def _part_of(samples: Any, columns: ColumnGroup) -> Any:
    """Return the columns of samples (n, d) that a kernel looks at."""
    return samples if columns is None else samples[:, list(columns)]
