"""Tables of numbers alone, read a block of rows at a time: parquet files and NumPy's matrices.

They become the same `Table` as their CSV would, without a text for each number: beside the file
there is no more in memory than the inputs and a block of rows. What has missing values, text among
the inputs, or options for these goes the way of all tables (`mklbench.data.typed_tables`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.arrays import npy
from mklbench.data.body import Body
from mklbench.data.columns import Columns
from mklbench.data.limits import beyond, most_bytes
from mklbench.data.rows import used_columns
from mklbench.data.schema import Layout
from mklbench.data.table import Table
from mklbench.errors import DataError, first_line

# Bytes of a number in memory, and rows of a block.
_NUMBER, _ROWS = 8, 2**15


def numbers_of_parquet(file: Any, names: Sequence[str], layout: Layout, place: str) -> Table | None:
    """Return the table of a parquet file if its inputs are numbers, none missing; else None.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        The file.
    names : sequence of str
        Of its columns.
    layout : Layout
        What the columns are.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        As `mklbench.data.rows.table_of_rows`, or the numbers take more than they may.
    pyarrow.ArrowException, OSError
        If the file is damaged.
    """
    import pyarrow.types as kinds

    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    is_asked = layout.categories is not None or layout.missing not in (None, "")
    if is_asked or len(set(schema.names)) < max(len(schema), 2) or not n_rows:
        return None

    def is_number(column: int) -> bool:
        kind = schema.types[column]
        return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))

    columns = Columns(len(names), list(names), place)
    inputs, label, unnamed = used_columns(columns, layout)
    kind = schema.types[label]
    is_text = kinds.is_string(kind) or kinds.is_large_string(kind)
    if not all(map(is_number, inputs)) or not (is_text or is_number(label)):
        return None
    _check_size(n_rows, len(inputs), layout, place)
    X, labels, start = np.empty((n_rows, len(inputs))), list[str](), 0
    for batch in file.iter_batches(_ROWS, columns=[schema.names[c] for c in [*inputs, label]]):
        block = X[start : start + len(batch)]
        for i, column in enumerate(inputs):
            values = batch.column(schema.names[column])
            if values.null_count:
                return None
            block[:, i] = values.to_numpy(zero_copy_only=False)
        named = batch.column(schema.names[label])
        texts = _texts(named.to_numpy(zero_copy_only=False), layout)
        if named.null_count or not all(texts) or not np.isfinite(block).all():
            return None  # and be told of the place
        labels += texts
        start += len(batch)
    if start < n_rows:
        raise OSError(f"it ends after {start} of {n_rows} rows")
    return Body(columns, inputs, label, layout, _no_rows).table_of(X, labels, 0, unnamed)


def parse_npy(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a matrix of NumPy's, of which a column is the labels, the last unless it is said.

    Parameters
    ----------
    content : bytes
        The bytes of the file.
    layout : Layout
        What the columns are.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        It is damaged or no matrix of finite numbers, or as `mklbench.data.rows.table_of_rows`.
    """
    try:
        matrix = npy(content)
    except Exception as error:  # a damaged file makes the reader raise almost anything
        raise DataError(
            f"{place} is not an array of NumPy's: it is damaged ({first_line(error)})."
        ) from error
    if (
        matrix.ndim != 2
        or matrix.shape[1] < 2
        or matrix.dtype.kind not in "biuf"
        or not len(matrix)
    ):
        raise DataError(
            f"{place} has an array of shape {matrix.shape} and type {matrix.dtype}: give a matrix "
            "of numbers, a column of which is the labels, or several arrays in an .npz file."
        )
    columns = Columns(matrix.shape[1], None, place)
    inputs, label, unnamed = used_columns(columns, layout)
    _check_size(len(matrix), len(inputs), layout, place)
    X, labels = np.empty((len(matrix), len(inputs))), list[str]()
    for start in range(0, len(matrix), _ROWS):
        rows = matrix[start : start + _ROWS]
        X[start : start + _ROWS] = rows[:, inputs]
        if not np.isfinite(rows[:, [*inputs, label]]).all():
            row, i = np.argwhere(~np.isfinite(rows[:, [*inputs, label]]))[0].tolist()
            column = [*inputs, label][i]
            raise DataError(
                f"{place}, row {start + row} holds {rows[row, column]} in "
                f"{columns.describe(column)}: remove or impute NaN and infinite values."
            )
        labels += _texts(rows[:, label], layout, "{:.17g}")
    return Body(columns, inputs, label, layout, _no_rows).table_of(X, labels, 0, unnamed)


def _texts(values: NDArray[Any], layout: Layout, form: str = "{!r}") -> list[str]:
    """Return labels as a table of text has them, each text once in memory."""
    if values.dtype.kind == "O":
        found = {value: str(value).strip() for value in set(values.tolist())}
        known = {value: _named(text, layout) for value, text in found.items()}
        return [known[value] for value in values.tolist()]
    different, places = np.unique(values, return_inverse=True)
    whole = different.dtype.kind in "biu"
    texts = [str(int(v)) if whole else form.format(float(v)) for v in different]
    names = np.array([_named(text, layout) for text in texts], dtype=object)
    labels: list[str] = names[places].tolist()
    return labels


def _named(text: str, layout: Layout) -> str:
    return (layout.label_names or {}).get(text, text)


def _check_size(n_rows: int, n_inputs: int, layout: Layout, place: str) -> None:
    limit = most_bytes(layout)
    if math.prod((n_rows, n_inputs, _NUMBER)) > limit:
        raise DataError(
            f"{place} has {n_rows} rows of {n_inputs} inputs, which take more than {beyond(limit)}."
        )


def _no_rows() -> Iterator[Any]:
    return iter(())
