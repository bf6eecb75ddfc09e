"""Stacks of Gram matrices as samples, in the shape in which scikit-learn splits them.

Its splitters and searches take rows and columns of a precomputed kernel by
``X[np.ix_(test, train)]``, where ``X.shape[0] == X.shape[1] == len(y)``. A stack (M, n, n) has its
kernels in the first place and is refused before an estimator is asked. `GramStack` has them in the
last, and so may an array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Array
from mklbench.kernels.samples import (
    Names,
    difference,
    first_named,
    is_dict,
    names_of_columns,
    names_of_rows,
    positions_of,
)
from mklbench.kernels.storage.packed import is_symmetric
from mklbench.validation import check_finite, columns_called, real_array


@dataclass(frozen=True)
class NamedGrams:
    """Gram matrices that are given, and what data frames and dicts call what they are of.

    Attributes
    ----------
    what : str
        What messages call them.
    matrices : GramStack or ndarray of shape (n_rows, n_columns) or (M, n_rows, n_columns)
        The one, or the stack; one that came as an array may have its kernels last.
    kernels : list of str or None
        The names (M,) of the kernels of a dict.
    rows, columns : list or None
        The names of the samples of data frames.
    """

    what: str
    matrices: GramStack | Array
    kernels: list[str] | None = None
    rows: Names | None = None
    columns: Names | None = None

    def called(self, m: int) -> str:
        """Return what messages call a kernel."""
        return f"kernel {m if self.kernels is None else repr(self.kernels[m])} of {self.what}"

    def ordered(self, columns: Names | None, kernels: list[str] | None = None) -> NamedGrams:
        """Return them with columns, the last axis, and kernels in the order of known names.

        Parameters
        ----------
        columns : list or None
            Names of samples; None leaves the columns as they are.
        kernels : list of str or None, default=None
            Names of kernels, those of the matrices in any order.

        Raises
        ------
        InputError
            If the columns lack a known name.
        """
        matrices, own = self.matrices, self.columns
        if columns is not None and own is not None and difference(columns, own) is not None:
            chosen = positions_of(columns, own, self.what)
            stacked = isinstance(matrices, GramStack)
            matrices, own = matrices[:, chosen] if stacked else matrices[..., chosen], columns
        if kernels is not None and self.kernels is not None and self.kernels != kernels:
            order = [self.kernels.index(name) for name in kernels]
            array = matrices.matrices if isinstance(matrices, GramStack) else matrices
            matrices = array[order]
        return replace(self, matrices=matrices, kernels=kernels or self.kernels, columns=own)

    def check_finite(self, matrices: GramStack | Array) -> None:
        """Raise an InputError unless all entries of one matrix or of a stack are finite."""
        with columns_called(self.columns):
            if matrices.ndim == 2:
                check_finite(self.what, np.asarray(matrices))
                return
            for m, matrix in enumerate(np.asarray(matrices)):
                check_finite(self.called(m), matrix)


def named_grams(X: Any, what: str = "X") -> NamedGrams:
    """Return Gram matrices in any form in which they are given.

    Matrices of several data frames have rows and columns in the order of the first.

    Parameters
    ----------
    X : array_like, DataFrame, GramStack, or list or dict of matrices
        The one or the stack.
    what : str, default="X"
        What messages call them.

    Raises
    ------
    InputError
        If they are no real numbers, or data frames of different samples.
    """
    if isinstance(X, GramStack):
        return NamedGrams(what, X, X.kernels, X.rows, X.columns)
    names = list(X) if is_dict(X) else None
    if names is None and not _has_frames(X):
        return NamedGrams(what, real_array(what, X), None, names_of_rows(X), names_of_columns(X))
    parts = list(X) if names is None else [X[name] for name in names]
    rows = first_named(map(names_of_rows, parts))
    columns = first_named(map(names_of_columns, parts))
    found = NamedGrams(what, np.empty((0, 0, 0)), names)
    matrices: list[Array] = []
    for m, part in enumerate(parts):
        matrix = real_array(found.called(m), part)
        for axis, (known, own) in enumerate(
            [(rows, names_of_rows(part)), (columns, names_of_columns(part))]
        ):
            if known is not None and own is not None and difference(known, own) is not None:
                matrix = np.take(matrix, positions_of(known, own, found.called(m)), axis)
        if matrices and matrix.shape != matrices[0].shape:
            raise InputError(
                f"{found.called(m)} has shape {matrix.shape}, but {found.called(0)} has "
                f"{matrices[0].shape}: give the kernels on the same samples."
            )
        matrices.append(matrix)
    return NamedGrams(what, np.array(matrices), names, rows, columns)


def _has_frames(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and any(hasattr(part, "iloc") for part in X)


class GramStack:
    """Gram matrices of M kernels that scikit-learn's splitters and searches can split.

    Pass it as `X` to an estimator with ``kernel="precomputed"``, or to `cross_val_score`,
    `cross_validate` or `GridSearchCV` with one. Rows and columns are picked from all kernels at
    once; the matrices are not copied until then.

    Parameters
    ----------
    K : array_like of shape (M, n, n) or (M, n_new, n), or list or dict of matrices
        Gram matrices on the samples, or cross Gram matrices between new samples and them. Data
        frames are put in the order of the first by their names.

    Attributes
    ----------
    matrices : ndarray of shape (M, n_rows, n_columns)
        The matrices.
    kernels, rows, columns : list or None
        What a dict calls the kernels, and data frames the samples.
    shape : tuple of int
        (n_rows, n_columns, M).

    Raises
    ------
    InputError
        If `K` is no array of three dimensions of real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mklbench.kernels import GramStack
    >>> stack = GramStack(np.ones((5, 100, 100)))
    >>> stack.shape
    (100, 100, 5)
    >>> stack[np.ix_([0, 1, 2], [3, 4])].shape
    (3, 2, 5)
    """

    ndim = 3

    def __init__(self, K: Any) -> None:
        given = named_grams(K, "K")
        matrices = given.matrices
        if isinstance(matrices, GramStack) or matrices.ndim != 3:
            raise InputError(
                f"K has shape {matrices.shape}: a GramStack is made of Gram matrices (M, n, n), "
                "one a kernel."
            )
        self.matrices = matrices
        self.kernels, self.rows, self.columns = given.kernels, given.rows, given.columns

    @property
    def shape(self) -> tuple[int, int, int]:
        """(n_rows, n_columns, M)."""
        n_kernels, n_rows, n_columns = self.matrices.shape
        return n_rows, n_columns, n_kernels

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Of the entries."""
        return self.matrices.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> GramStack:
        """Return the stack of some rows, or of some rows and columns as ``np.ix_`` gives them."""
        keys = key if isinstance(key, tuple) else (key,)
        kept = tuple(part for part in keys if not isinstance(part, EllipsisType))
        picked = self.matrices[(slice(None), *kept)]
        if len(kept) > 2 or picked.ndim != 3:
            raise InputError(
                f"a GramStack of shape {self.shape} is indexed by rows, or by rows and columns as "
                "in stack[np.ix_(rows, columns)]: stack.matrices is an array."
            )
        chosen = GramStack(picked)
        chosen.kernels = self.kernels
        chosen.rows = _picked(self.rows, kept[0] if kept else slice(None))
        chosen.columns = _picked(self.columns, kept[1] if len(kept) > 1 else slice(None))
        return chosen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the array (n_rows, n_columns, M)."""
        array = np.moveaxis(self.matrices, 0, -1)
        return array.astype(dtype or array.dtype, copy=bool(copy))

    def __repr__(self) -> str:
        n_rows, n_columns, n_kernels = self.shape
        return f"GramStack of {n_kernels} kernels on {n_rows} x {n_columns} samples"


def _picked(names: Names | None, key: Any) -> Names | None:
    """Return the names of rows or of columns that an index, or its part of ``np.ix_``, picks."""
    if names is None:
        return None
    places = np.arange(len(names))[key if isinstance(key, slice) else np.ravel(key)]
    return [names[i] for i in places]


def training_stack(X: GramStack | Array, n: int) -> Array:
    """Return a stack of Gram matrices of training samples as (M, n, n).

    Where the shape (n, n, n) leaves open which axis is that of the kernels, it is the one that
    leaves symmetric matrices, or the first.

    Parameters
    ----------
    X : GramStack or ndarray of shape (M, n, n) or (n, n, M)
        The stack.
    n : int
        Number of labels or targets.

    Raises
    ------
    InputError
        If the shape is another.
    """
    if isinstance(X, GramStack):
        if X.shape[:2] == (n, n):
            return X.matrices
    else:
        first, last = X.shape[1:] == (n, n), X.shape[:2] == (n, n)
        if first and last:
            first = _are_symmetric(X) or not _are_symmetric(np.moveaxis(X, -1, 0))
        if first or last:
            return X if first else np.moveaxis(X, -1, 0)
    if X.shape[0] == n:
        raise InputError(
            f"X has shape {X.shape}: {n} rows of Gram matrices without their columns, as "
            "CalibratedClassifierCV cuts them; take kernel=Precomputed(K) with row numbers as X."
        )
    raise InputError(
        f"X has shape {X.shape}, but y has {n} values: give the Gram matrices as (M, {n}, {n}), "
        f"one a kernel, or as ({n}, {n}, M)."
    )


def cross_stack(X: GramStack | Array, n_kernels: int, n: int, *, last: bool) -> Array:
    """Return a stack of cross Gram matrices as (M, n_new, n).

    Parameters
    ----------
    X : GramStack or ndarray of shape (M, n_new, n) or (n_new, n, M)
        The stack.
    n_kernels : int
        Number M of kernels.
    n : int
        Number of training samples.
    last : bool
        Whether the kernels stand last where either is possible, which takes M = n.

    Raises
    ------
    InputError
        If the shape is another.
    """
    shape = X.matrices.shape if isinstance(X, GramStack) else X.shape
    as_first = shape[::2] == (n_kernels, n)
    if isinstance(X, GramStack):
        if as_first:
            return X.matrices
    else:
        as_last = shape[1:] == (n, n_kernels)
        if as_first or as_last:
            return np.moveaxis(X, -1, 0) if as_last and (last or not as_first) else X
    raise InputError(
        f"X has shape {X.shape}, but there are {n_kernels} kernels on {n} training samples: give "
        f"the cross Gram matrices as ({n_kernels}, n_new, {n}) or (n_new, {n}, {n_kernels})."
    )


def _are_symmetric(stack: Array) -> bool:
    return all(is_symmetric(gram) for gram in stack)
