"""Samples in the forms that users have, and what their rows, columns and views are called.

Arrays, data frames, sparse matrices, rows of text, and views side by side. What new samples have to
share with the training samples is in `SampleLayout`, in one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError

Names = list[Any]


def names_of_rows(X: Any) -> Names | None:
    """Return the names (n,) of the rows of a data frame or a series, None of other samples."""
    return list(X.index) if hasattr(X, "iloc") else None


def names_of_columns(X: Any) -> Names | None:
    """Return the names (d,) of the columns of a data frame, None of other samples."""
    return list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else None


def difference(known: Names | None, new: Names | None) -> str | None:
    """Return in which way names are others than those known, None if they are not.

    They are not where one of the two has no names, or numbers from 0 to n - 1 that stand for none;
    but such numbers in another order are another order.

    Parameters
    ----------
    known, new : list or None
        Names of rows or columns, of any type.
    """
    if known is None or new is None or known == new:
        return None
    if Counter(known) == Counter(new):
        j = next(j for j, (one, other) in enumerate(zip(known, new, strict=True)) if one != other)
        return f"in another order, {new[j]!r} in the place of {known[j]!r}"
    if is_numbering(known) or is_numbering(new):
        return None
    lacking = [name for name in known if name not in set(new)]
    added = [name for name in new if name not in set(known)] or new[-1:]
    return f"without {lacking[0]!r}" if lacking else f"with {added[0]!r}"


def check_same_names(
    what: str, kind: str, new: Sequence[str] | None, known: Sequence[str] | None
) -> None:
    """Raise an InputError unless views or kernels have the names of those known, in any order."""
    if set(new or ()) == set(known or ()):
        return
    had, has = ("without names" if names is None else ", ".join(names) for names in (known, new))
    raise InputError(
        f"{what} has the {kind} {has}, but the training samples had {had}: give the same, as a "
        "dict where that was one."
    )


def first_named(several: Iterable[Names | None]) -> Names | None:
    """Return the first list of names that are none of pandas' own numbers, else the first."""
    found = [names for names in several if names is not None]
    return next((names for names in found if not is_numbering(names)), found[0] if found else None)


def is_numbering(names: Names) -> bool:
    """Tell whether names are the numbers from 0 on that pandas gives what has none."""
    return names == list(range(len(names)))


def row_numbers(given: Any, n: int) -> Any:
    """Return the row numbers (k,) that a mask of samples stands for, others as they are.

    Parameters
    ----------
    given : array_like of shape (k,), (k, 1) or, a mask, (n,)
        Row numbers, or a mask.
    n : int
        How many samples there are.

    Raises
    ------
    InputError
        If a mask has another length.
    """
    values = np.asarray(given)
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if flat.ndim != 1 or not len(flat):
        return given
    if is_mask(flat):
        if len(flat) != n:
            raise InputError(
                f"a mask of {len(flat)} truth values chooses none of the {n} samples there are: "
                "give one value a sample, or row numbers."
            )
        return np.flatnonzero(flat.astype(bool))
    if flat.dtype.kind in "iuf" and len(flat) == n > 2 and np.isin(flat, (0, 1)).all():
        raise InputError(
            f"row numbers are 0 and 1 alone, as many as the {n} samples there are: give a mask as "
            "truth values, by astype(bool)."
        )
    return given


def is_mask(values: NDArray[Any]) -> bool:
    """Tell whether all values (k,) are truth values."""
    return values.dtype.kind == "b" or (
        values.dtype.kind == "O" and all(isinstance(each, (bool, np.bool_)) for each in values)
    )


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
        named = [names_of_rows(part) for part in self.parts]
        self.row_names = first_named(named)
        for v, names in enumerate(named):
            differs = difference(self.row_names, names)
            if differs is not None:
                raise InputError(
                    f"{self.called(v)} has its rows {differs}, compared with the other views: give "
                    "the same samples in the same order, or drop the index of all by "
                    "reset_index(drop=True) if they are."
                )

    def called(self, v: int) -> str:
        """Return what messages call a view.

        Parameters
        ----------
        v : int
            Its number.
        """
        return f"view {v if self.names is None else repr(self.names[v])} of X"

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


class SampleLayout:
    """The form of training samples, to which new samples are held.

    Parameters
    ----------
    X : array_like, DataFrame, sparse matrix or Views
        Training samples.
    """

    def __init__(self, X: Any) -> None:
        self._views = X.names if isinstance(X, Views) else None
        self._forms = [(_width(part), names_of_columns(part)) for part in _parts(X)]
        self._are_views = isinstance(X, Views)

    def ordered(self, X: Any) -> Any:
        """Return new samples, their views in the order of the training samples.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Views
            New samples.

        Raises
        ------
        InputError
            If they have other views, or another number, names or order of columns.
        """
        if isinstance(X, Views) != self._are_views:
            views, one = f"{len(self._forms)} views", "one matrix"
            had, has = (views, "none") if self._are_views else (one, "views")
            raise InputError(f"the training samples were {had}, and X is {has}: give the same.")
        if isinstance(X, Views) and X.names != self._views:
            check_same_names("X", "views", X.names, self._views)
            named = dict(zip(X.names or (), X.parts, strict=True))
            X = Views({name: named[name] for name in self._views or ()})
        parts = _parts(X)
        if len(parts) != len(self._forms):
            raise InputError(
                f"X has {len(parts)} views, but the training samples have {len(self._forms)}: "
                "give the same, in the same order."
            )
        for v, (part, (width, known)) in enumerate(zip(parts, self._forms, strict=True)):
            differs = difference(known, names_of_columns(part))
            found = f"its columns {differs}" if differs else None
            if None not in (width, _width(part)) and _width(part) != width:
                found = f"{_width(part)} columns in place of {width}"
            if found is not None:
                called = X.called(v) if self._are_views else "X"
                raise InputError(
                    f"{called} has {found}, compared with the training samples: give the same in "
                    "the same order."
                )
        return X


def _parts(X: Any) -> Sequence[Any]:
    return X.parts if isinstance(X, Views) else (X,)


def _width(part: Any) -> int | None:
    """Return the number of columns, None of what has no shape, such as a list."""
    shape: tuple[int, ...] = getattr(part, "shape", ())
    return int(shape[1]) if len(shape) == 2 else None


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


def dense(X: Any) -> Any:
    """Return samples as they are, or as an array where they are a sparse matrix."""
    return X.toarray() if is_sparse(X) else X


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


def numbers(part: Any, name: str, *, needed: bool = True) -> Any:
    """Return samples as an array of doubles (n, d), or as a sparse matrix; missing ones as NaN.

    Parameters
    ----------
    part : array, sparse matrix or data frame of shape (n, d)
        Samples.
    name : str
        What they are called in messages.
    needed : bool, default=True
        Whether anything else than numbers is refused; else it comes back as an array of objects.

    Raises
    ------
    InputError
        If a column holds something else than real numbers.
    """
    if is_sparse(part):
        return csr(part)
    is_frame = hasattr(part, "iloc")
    part = part if is_frame else np.asarray(part)
    for j in range(part.shape[1]) if is_frame or part.dtype.kind not in "biuf" else ():
        column = part.iloc[:, j] if is_frame else part[:, j]
        if getattr(column.dtype, "kind", "O") in "biuf":
            continue
        other = [value for value in np.asarray(column, dtype=object) if not _is_number(value)]
        if other and not needed:
            return np.asarray(part, dtype=object)
        if other:
            label = f"the column {part.columns[j]!r}" if is_frame else f"column {j}"
            raise InputError(
                f"{name} has {label} with {str(other[0])[:40]!r}, which is no number: give the "
                "view a transformer such as OneHotEncoder(), as in (name, kernel, columns, "
                "transformer)."
            )
    if is_frame:  # a copy, as pandas gives what may not be written to, which a kernel may do
        return np.array(part.to_numpy(dtype=np.float64, na_value=np.nan), order="C")
    return np.array(part, dtype=np.float64)


def _is_number(value: object) -> bool:
    return value is None or (
        isinstance(value, (Number, np.bool_)) and not isinstance(value, complex)
    )


def is_dict(X: Any) -> bool:
    """Tell whether parts come by name; SciPy's matrices of a dict are none."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def are_views(X: Any) -> bool:
    """Tell whether samples are views, or a list or dict of matrices that become views."""
    if isinstance(X, Views) or is_dict(X):
        return True
    shapes = [getattr(part, "shape", ()) for part in X] if isinstance(X, (list, tuple)) else []
    return all(shapes) and any(len(shape) == 2 for shape in shapes)
