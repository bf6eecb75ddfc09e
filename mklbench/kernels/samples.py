"""Samples in the forms that users have: views side by side, sparse matrices, rows of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.axis_names import difference, is_numbering, names_of_rows

# Of samples (n, d) some columns, or of views the number of one.
Columns = slice | Sequence[int] | NDArray[np.intp] | int


class Views:
    """Samples that come in several parts, a part a view, whose rows are chosen together.

    Where scikit-learn's splitters and searches expect samples, they take views as well.

    Parameters
    ----------
    parts : sequence or mapping of str to array_like or sparse matrix, each of shape (n, d_v)
        One a view: arrays, sparse matrices or data frames, or these by name.

    Attributes
    ----------
    parts : tuple
        These.
    names : list of str or None
        What they are called; None where they came without names.
    row_names : list or None
        What the samples are called, where data frames do.
    shape : tuple of int
        (n, sum of the d_v).

    Raises
    ------
    InputError
        If there is no view, one is no matrix, they have different numbers of rows, or data frames
        that name them otherwise.
    """

    ndim = 2

    def __init__(self, parts: Sequence[Any] | Mapping[str, Any]) -> None:
        self.names = list(parts) if isinstance(parts, Mapping) else None
        given = parts.values() if isinstance(parts, Mapping) else parts
        self.parts = tuple(csr(part) if is_sparse(part) else part for part in given)
        sizes = [np.shape(part) for part in self.parts]
        if not sizes:
            raise InputError("X has no views: give a list of matrices, one a view.")
        for v, size in enumerate(sizes):
            if len(size) != 2:
                raise InputError(f"{self.called(v)} has shape {size}: give a matrix (n, d) a view.")
            if size[0] != sizes[0][0]:
                raise InputError(
                    f"{self.called(v)} has {size[0]} rows, but {self.called(0)} has "
                    f"{sizes[0][0]}: give the same samples in every view, in the same order."
                )
        self.shape = (sizes[0][0], sum(size[1] for size in sizes))
        self.row_names = self._row_names()

    def called(self, v: int) -> str:
        """Return what messages call a view.

        Parameters
        ----------
        v : int
            Its number.
        """
        return f"view {v if self.names is None else repr(self.names[v])} of X"

    def _row_names(self) -> list[Any] | None:
        """Return what data frames call the rows; an InputError if they disagree."""
        named: list[Any] | None = None
        first = 0
        for v, part in enumerate(self.parts):
            names = names_of_rows(part)
            differs = difference(named, names)
            if differs is not None:
                raise InputError(
                    f"{self.called(v)} has its rows {differs}, compared with "
                    f"{self.called(first)}: give the same samples in the same order, or drop the "
                    "index of both by reset_index(drop=True) if they are."
                )
            if names is not None and (named is None or is_numbering(named)):
                named, first = names, v
        return named

    @property
    def size(self) -> int:
        """How many numbers are stored."""
        return sum(part.nnz if is_sparse(part) else part.size for part in self.parts)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Self:
        """Return the views of some rows, given by their numbers, a mask or a slice."""
        if isinstance(rows, tuple):  # as scikit-learn asks: X[rows, ...]
            rows = rows[0]
        if isinstance(rows, (int, np.integer)):
            rows = slice(int(rows), int(rows) + 1 or None)
        parts: Any = [rows_of(part, rows) for part in self.parts]
        return type(self)(
            parts if self.names is None else dict(zip(self.names, parts, strict=True))
        )


def rows_of(X: Any, rows: slice | NDArray[Any] | Sequence[int]) -> Any:
    """Return some rows of samples.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or Views
        Samples.
    rows : slice or sequence of int or of bool
        The rows, by their numbers or a mask.
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]


def columns_of(X: Any, columns: Columns) -> Any:
    """Return some columns of an array, or the view of this number of views.

    Parameters
    ----------
    X : array_like of shape (n, d) or Views
        Samples.
    columns : Columns
        The columns, or the number of a view.
    """
    if isinstance(X, Views):
        return X.parts[int(columns)]  # type: ignore[arg-type]  # only parts on columns have others
    return np.asarray(X)[:, columns]


def is_sparse(X: object) -> bool:
    """Tell whether samples are a sparse matrix or array of SciPy."""
    from scipy.sparse import issparse  # some time, for who has none

    return bool(issparse(X))


def csr(X: Any) -> Any:
    """Return a matrix, sparse or not, as a sparse one by its rows, of doubles."""
    if not is_sparse(X):
        from scipy.sparse import csr_array

        X = csr_array(X)
    return X.tocsr().astype(np.float64, copy=False)


def matrix_of(X: Any) -> Any:
    """Return samples as a data frame, a sparse matrix, an array (n, d) or views.

    Parameters
    ----------
    X : array_like, sparse matrix, DataFrame, or list or dict of these
        Samples (n, d), or several matrices with n rows, one a view; a list of n texts is one column
        of them.

    Raises
    ------
    InputError
        If they are none of these.
    """
    if isinstance(X, Views) or hasattr(X, "iloc"):
        return X.to_frame() if hasattr(X, "to_frame") else X
    if is_sparse(X):
        return csr(X)
    if are_views(X):
        return Views(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError("X has rows of different lengths: give samples of equal length.") from (
            error
        )
    if array.ndim == 1 and array.dtype.kind in "OUST":
        array = array.astype(object)[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"X has shape {array.shape}: it must be a matrix (n_samples, n_features).")
    return array


def is_dict(X: Any) -> bool:
    """Tell whether parts come by name; SciPy's matrices of a dict are none."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def are_views(X: Any) -> bool:
    """Tell whether samples are views, or a list or dict of matrices that become views."""
    if isinstance(X, Views) or is_dict(X):
        return True
    return (
        isinstance(X, (list, tuple))
        and len(X) > 0
        and all(hasattr(part, "shape") and len(part.shape) == 2 for part in X)
    )
