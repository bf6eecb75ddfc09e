"""Gram matrices that are given: as arrays, data frames, dicts and stacks, or of a whole data set.

scikit-learn's splitters and searches take rows and columns of a precomputed kernel by
``X[np.ix_(test, train)]``, where ``X.shape[0] == X.shape[1] == len(y)``. A stack (M, n, n) has its
kernels in the first place and is refused before an estimator is asked. `GramStack` has them in the
last, and so may an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from numbers import Integral
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.banks.precomputed import (
    IndexedBank,
    PrecomputedBank,
    pack_stack,
)
from mklbench.kernels.banks.wrapped import unit_trace
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.builders.matrix_files import (
    File,
    all_of,
    kernels_first,
    matrices,
    regular_file,
    stated,
)
from mklbench.kernels.gram_matrices import (
    MakePSD,
    check_definite,
    matrices_of,
)
from mklbench.kernels.groups import GroupLists, check_groups
from mklbench.kernels.samples import (
    Names,
    Views,
    are_views,
    dense,
    difference,
    first_named,
    is_dict,
    is_numbering,
    names_of_columns,
    names_of_rows,
    row_numbers,
)
from mklbench.validation import check_finite, columns_called, real_array


@dataclass(frozen=True)
class NamedGrams:
    """Gram matrices that are given, and what data frames and dicts call what they are of.

    Attributes
    ----------
    what : str
        What messages call them.
    matrices : ndarray of shape (n_rows, n_columns) or (M, n_rows, n_columns)
        The one, or the stack; one that came as an array may have its kernels last.
    kernels : list of str or None
        The names (M,) of the kernels of a dict.
    rows, columns : list or None
        The names of the samples of data frames.
    """

    what: str
    matrices: Array
    kernels: list[str] | None = None
    rows: Names | None = None
    columns: Names | None = None

    def called(self, m: int) -> str:
        """Return what messages call a kernel."""
        return f"kernel {m if self.kernels is None else repr(self.kernels[m])} of {self.what}"

    def held_to(self, samples: Names | None, kernels: list[str] | None = None) -> NamedGrams:
        """Return them with kernels in the order of known names.

        Parameters
        ----------
        samples : list or None
            Names that the columns, the last axis, are to have; None where there are none.
        kernels : list of str or None, default=None
            Names of kernels, those of the matrices in any order.

        Raises
        ------
        InputError
            If the columns are of other samples, or in another order.
        """
        _check_names(self.what, "columns", samples, self.columns)
        if kernels is None or self.kernels in (None, kernels):
            return self
        order = [(self.kernels or []).index(name) for name in kernels]
        return replace(self, matrices=self.matrices[order], kernels=kernels)

    def check_finite(self, matrices: Array) -> None:
        """Raise an InputError unless all entries of one matrix or of a stack are finite."""
        is_one = matrices.ndim == 2
        with columns_called(self.columns):
            for m, matrix in enumerate([matrices] if is_one else matrices):
                check_finite(self.what if is_one else self.called(m), matrix)


def named_grams(X: Any, what: str = "X") -> NamedGrams:
    """Return Gram matrices in any form in which they are given.

    Several data frames have rows and columns in the same order.

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
        return NamedGrams(what, X.matrices, X.kernels, X.rows, X.columns)
    if isinstance(X, Views):
        X = X.parts if X.names is None else dict(zip(X.names, X.parts, strict=True))
    names = list(X) if is_dict(X) else None
    is_one = names is None and not are_views(X)
    parts = [X] if is_one else list(X) if names is None else [X[name] for name in names]
    rows = first_named(map(names_of_rows, parts))
    columns = first_named(map(names_of_columns, parts))
    found = NamedGrams(what, np.empty(0), names, rows, columns)
    matrices: list[Array] = []
    for m, part in enumerate(parts):
        called = what if is_one else found.called(m)
        matrix = real_array(called, dense(part))
        _check_names(called, "rows", rows, names_of_rows(part))
        _check_names(called, "columns", columns, names_of_columns(part))
        if matrices and matrix.shape != matrices[0].shape:
            raise InputError(
                f"{called} has shape {matrix.shape}, but {found.called(0)} has "
                f"{matrices[0].shape}: give the kernels on the same samples."
            )
        matrices.append(matrix)
    given = matrices[0] if is_one else np.array(matrices)
    if given.ndim not in (2, 3) or 0 in given.shape:
        raise InputError(
            f"{what} has shape {given.shape}: give Gram matrices as (M, n, n), one a kernel, or "
            "one as (n, n)."
        )
    return replace(found, matrices=given)


def _check_names(what: str, axis: str, known: Names | None, own: Names | None) -> None:
    """Raise an InputError unless samples have the names that are known, in their order."""
    differs = difference(known, own)
    if differs is not None:
        raise InputError(
            f"{what} has its {axis} {differs}, compared with the other samples: give the same in "
            "the same order, as K.loc[names, names] does."
        )


class GramStack:
    """Gram matrices of M kernels that scikit-learn's splitters and searches can split.

    Pass it as `X` to an estimator with ``kernel="precomputed"``, or to `cross_val_score`,
    `cross_validate` or `GridSearchCV` with one. Rows and columns are picked from all kernels at
    once; the matrices are not copied until then.

    Parameters
    ----------
    K : array_like of shape (M, n, n) or (M, n_new, n), or list or dict of matrices
        Gram matrices on the samples, or cross Gram matrices between new samples and them.

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
        if given.matrices.ndim != 3:
            raise InputError(
                f"K has shape {np.shape(K)}: a GramStack is made of Gram matrices (M, n, n), one a "
                "kernel."
            )
        self.matrices = given.matrices
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
        chosen, (rows, columns, *_) = copy(self), (*kept, slice(None), slice(None))
        chosen.matrices = picked
        chosen.rows, chosen.columns = _picked(self.rows, rows), _picked(self.columns, columns)
        return chosen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the array (n_rows, n_columns, M)."""
        array = np.moveaxis(self.matrices, 0, -1)
        return array.astype(dtype or array.dtype, copy=bool(copy))


def _picked(names: Names | None, key: Any) -> Names | None:
    """Return the names of rows or of columns that an index, or its part of ``np.ix_``, picks."""
    if names is None:
        return None
    places = np.arange(len(names))[key if isinstance(key, slice) else np.ravel(key)]
    return [names[i] for i in places]


def training_stack(given: NamedGrams, n: int) -> Array:
    """Return a stack of Gram matrices of training samples as (M, n, n).

    Parameters
    ----------
    given : NamedGrams
        The stack, (M, n, n) or (n, n, M).
    n : int
        Number of labels or targets.

    Raises
    ------
    InputError
        If the shape is another.
    """
    stack, shape = kernels_first(given.matrices), given.matrices.shape
    if stack.shape[1:] == (n, n):
        return stack
    if n in shape[:2]:
        raise InputError(
            f"X has shape {shape}: {n} rows of Gram matrices without their columns, as "
            "CalibratedClassifierCV cuts them; take kernel=Precomputed(K) with row numbers as X."
        )
    raise InputError(
        f"X has shape {shape}, but y has {n} values: give the Gram matrices as (M, {n}, {n}), one "
        f"a kernel, or as ({n}, {n}, M)."
    )


def cross_stack(given: NamedGrams, n_kernels: int, n: int) -> Array:
    """Return a stack of cross Gram matrices as (M, n_new, n).

    Parameters
    ----------
    given : NamedGrams
        The stack, (M, n_new, n) or (n_new, n, M).
    n_kernels : int
        Number M of kernels.
    n : int
        Number of training samples.

    Raises
    ------
    InputError
        If the shape is another.
    """
    X = given.matrices
    if X.shape[::2] == (n_kernels, n):
        return X
    if X.shape[1:] == (n, n_kernels):
        return np.moveaxis(X, -1, 0)
    raise InputError(
        f"X has shape {X.shape}, but there are {n_kernels} kernels on {n} training samples: give "
        f"the cross Gram matrices as ({n_kernels}, n_new, {n}) or (n_new, {n}, {n_kernels})."
    )


class Precomputed:
    """Gram matrices of a whole data set, given as an array or a file; called with row indices.

    They are checked once, and their lower halves are kept.

    Parameters
    ----------
    K : array_like of shape (M, N, N), (N, N, M) or (N, N), list or dict of these, str or Path
        Array or data frames, or the path of a file (`mklbench.kernels.builders.matrix_files`). The
        kernels have the names of a dict.
    groups : GroupLists or None, default=None
        Lists of kernel indices, where the kernels come in groups.
    make_psd : {"clip", "shift", "flip"} or None, default=None
        How indefinite matrices are made positive semidefinite, each as a whole
        (`mklbench.kernels.gram_matrices`); None refuses them.

    Raises
    ------
    InputError
        If `K` is no finite stack of symmetric, positive semidefinite matrices, or `groups` do not
        partition them.
    """

    takes_rows = True

    new_options: tuple[str, ...] = ("make_psd",)

    def __init__(
        self, K: Any, groups: GroupLists | None = None, make_psd: MakePSD | None = None
    ) -> None:
        if isinstance(K, (str, Path)):
            path = regular_file("kernel.K", K)
            K = list(matrices(str(path), option="kernel.K").values())
        given = named_grams(K, "K")
        given = given.held_to(given.rows)
        if given.rows and not is_numbering(given.rows) and isinstance(given.rows[0], Integral):
            raise InputError(
                "K has whole numbers for names of its samples, which are not their row numbers: "
                "give K.to_numpy(), and samples by their rows in it."
            )
        stack = given.matrices
        stack = stack[None] if stack.ndim == 2 else kernels_first(stack)
        with columns_called(given.columns, given.kernels):
            whole, _ = pack_stack(stack, make_psd)
            if make_psd is None:
                check_definite(matrices_of(whole))
        self._whole, self._names, self._groups = whole, given.kernels, groups
        check_groups(groups, len(whole))
        self.n_samples = whole.n_samples
        self.rows_of = partial(row_numbers, n=self.n_samples)

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        return IndexedBank(self._whole, self.rows_of(rows), self._groups, self._names)


class MatrixKernels(Precomputed):
    """Builder of an `IndexedBank` from Gram matrices in files, called with row numbers.

    Parameters
    ----------
    files : str or sequence of str
        Path of the file, or of several.
    groups : GroupLists or None, default=None
        Lists of kernel indices, counted through all files; None: the kernels of a file are a
        group.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace.
    array : str, sequence of str or None, default=None
        Names of the variables to take from each file; None: the stack of the file, or every matrix
        (`matrices`).
    make_psd : {"clip", "shift", "flip"} or None, default=None
        How indefinite matrices are made positive semidefinite, each as a whole
        (`mklbench.kernels.gram_matrices`); None refuses them.

    Raises
    ------
    InputError
        A file cannot be read or holds no matrix, or `Precomputed` refuses what it holds.
    """

    new_options = ("array", "make_psd")

    def __init__(
        self,
        files: str | Sequence[str],
        groups: GroupLists | None = None,
        normalise: bool = True,
        array: str | Sequence[str] | None = None,
        make_psd: MakePSD | None = None,
    ) -> None:
        vars(self).update(vars(_read(*stated(files, array), make_psd)))
        if groups is not None:
            check_groups(groups, len(self._whole))
            self._groups = groups
        self._normalise = normalise

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        bank = super().__call__(rows)
        return unit_trace(bank) if self._normalise else bank


@lru_cache(maxsize=2)
def _read(
    files: tuple[File, ...], names: tuple[str, ...] | None, make_psd: MakePSD | None
) -> Precomputed:
    """Return the Gram matrices in all files, those of a file as a group."""
    return Precomputed(*all_of(files, names), make_psd)


def precomputed(
    X: ArrayLike, groups: GroupLists | None = None, make_psd: MakePSD | None = None
) -> PrecomputedBank:
    """Return the bank of Gram matrices that are given.

    Parameters
    ----------
    X : array_like of shape (M, n, n) or (n, n)
        Gram matrices on the training samples, or the one; symmetric and positive semidefinite.
    groups : GroupLists or None, default=None
        Lists of kernel indices, where the kernels come in groups.
    make_psd : {"clip", "shift", "flip"} or None, default=None
        How indefinite matrices, and with them those of new samples, are made positive semidefinite
        (`mklbench.kernels.gram_matrices`); None refuses them.
    """
    stack = real_array("X", X)
    stack = stack[None] if stack.ndim == 2 else stack
    bank = PrecomputedBank(stack, groups, make_psd)
    if make_psd is None:
        check_definite(
            stack,
            remedy='or pass kernel=partial(precomputed, make_psd="clip"), "shift" or "flip"',
        )
    return bank
