"""The columns that a kernel looks at, chosen as scikit-learn's ColumnTransformer has them chosen.

A position, a name, a list of either, a slice of either, a mask, or a function of the samples that
returns one of these, such as ``make_column_selector(dtype_include="number")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError, hint
from mklbench.kernels.axis_names import names_of_columns
from mklbench.kernels.samples import Views, csr, is_sparse


def positions(columns: Any, X: Any, view: str) -> tuple[int, ...]:
    """Return the positions of the columns that are chosen, or the numbers of the views.

    Parameters
    ----------
    columns : int, str, slice, sequence of these, mask or callable
        See the module.
    X : array, sparse matrix, data frame or Views
        Training samples, of which it is called if it can be.
    view : str
        What the view is called in messages.

    Raises
    ------
    InputError
        If a column does not exist, or none is chosen.
    """
    if callable(columns):
        columns = columns(X)
    names = X.names if isinstance(X, Views) else names_of_columns(X)
    n = len(X.parts) if isinstance(X, Views) else np.shape(X)[1]
    chosen = tuple(_positions(columns, names, n, view))
    if not chosen:
        raise InputError(f"{view} has no columns: leave it out, or choose columns of X.")
    return chosen


def _positions(
    columns: Any, names: Sequence[Any] | None, n: int, view: str
) -> Sequence[int] | range:
    if isinstance(columns, slice):
        return _of_slice(columns, names, n, view)
    if is_scalar(columns):
        return [_position(columns, names, n, view)]
    if hasattr(columns, "tolist"):  # of an array, an index or a series
        columns = columns.tolist()
    if not isinstance(columns, (list, tuple, range, set, frozenset)):
        raise InputError(
            f"{view} has columns={columns!r}: give positions, names, a slice, a mask or a function."
        )
    if len(columns) and all(isinstance(each, (bool, np.bool_)) for each in columns):
        if len(columns) != n:
            raise InputError(
                f"{view} has a mask of {len(columns)} columns, but X has {n}: give a truth value a "
                "column."
            )
        return [j for j, chosen in enumerate(columns) if chosen]
    return [_position(each, names, n, view) for each in columns]


def _of_slice(columns: slice, names: Sequence[Any] | None, n: int, view: str) -> range:
    ends = [columns.start, columns.stop]
    if not any(isinstance(end, str) for end in ends):
        return range(n)[columns]
    first, last = (
        None if end is None else _position(end, names, n, view) for end in ends
    )  # both included, as in pandas
    return range(first or 0, n if last is None else last + 1)[:: columns.step]


def _position(column: Any, names: Sequence[Any] | None, n: int, view: str) -> int:
    if isinstance(column, (int, np.integer)) and not isinstance(column, (bool, np.bool_)):
        if not -n <= column < n:
            raise InputError(
                f"{view} has the column {column}, but X has {n} columns: give a position from 0 to "
                f"{n - 1}."
            )
        return int(column) % n
    if not isinstance(column, str):
        raise InputError(f"{view} has the column {column!r}: give a position or a name.")
    if names is None:
        raise InputError(
            f"{view} has the column {column!r}, but X has no names of columns: give positions, or "
            "samples as a pandas DataFrame."
        )
    found = [j for j, name in enumerate(names) if name == column]
    if not found:
        raise InputError(
            f"{view} has the column {column!r}, which X has not: {hint(column, names)}."
        )
    if len(found) > 1:
        raise InputError(
            f"{view} has the column {column!r}, which X has {len(found)} times: give positions, or "
            "rename the columns."
        )
    return found[0]


def is_scalar(columns: Any) -> bool:
    """Tell whether a choice is one column, of which transformers are given a vector."""
    return isinstance(columns, (str, int, np.integer))


def numbers(part: Any, name: str, *, needed: bool = True) -> Any:
    """Return the chosen columns as an array of doubles (n, d), or as a sparse matrix.

    Parameters
    ----------
    part : array, sparse matrix or data frame of shape (n, d)
        Chosen columns.
    name : str
        What the view is called in messages.
    needed : bool, default=True
        Whether anything else than numbers is refused; else it comes back as an array of objects.

    Raises
    ------
    InputError
        If a column holds something else than real numbers.
    """
    if is_sparse(part):
        return csr(part)
    if hasattr(part, "iloc"):
        if all(getattr(dtype, "kind", "O") in "biuf" for dtype in part.dtypes):
            return np.array(part.to_numpy(dtype=np.float64, na_value=np.nan), order="C")
        columns = [part.iloc[:, j] for j in range(part.shape[1])]
        labels = [f"the column {label!r}" for label in part.columns]
        arrays = [_number_array(column) for column in columns]
    else:
        matrix = np.asarray(part)
        columns = list(matrix.T)
        labels = [f"column {j}" for j in range(matrix.shape[1])]
        whole = _number_array(matrix) if matrix.dtype.kind in "biuf" else None
        if whole is not None:
            return whole
        arrays = [_number_array(column) for column in columns]
    bad = [j for j, array in enumerate(arrays) if array is None]
    if not bad:
        return np.column_stack([array for array in arrays if array is not None])
    if not needed:
        return np.column_stack([np.asarray(column, dtype=object) for column in columns])
    held = next((v for v in np.asarray(columns[bad[0]], dtype=object) if not _is_number(v)), "")
    raise InputError(
        f"{name} has {labels[bad[0]]} with {str(held)[:40]!r}, which is no number: give the view a "
        "transformer such as OneHotEncoder(), as in (name, kernel, columns, transformer)."
    )


def _number_array(column: Any) -> NDArray[np.float64] | None:
    """Return a column as doubles if it holds real numbers, missing ones as NaN; else None."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "biuf":
        if hasattr(column, "to_numpy"):  # of pandas, where it may be a type that knows missing ones
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.array(column, dtype=np.float64)
    if kind != "O":
        return None
    values = np.asarray(column, dtype=object)
    if not all(_is_number(value) for value in values.ravel()):
        return None
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _is_number(value: object) -> bool:
    return value is None or (
        isinstance(value, (Number, np.bool_)) and not isinstance(value, complex)
    )
