"""From rows of cells, of whatever file, to a table: which columns are inputs, label and ids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from mklbench.data.body import Body, is_missing
from mklbench.data.columns import Columns, asking_about_unnamed
from mklbench.data.decimals import Decimals
from mklbench.data.row_numbers import is_unnamed
from mklbench.data.schema import Layout
from mklbench.data.table import Row, Table
from mklbench.errors import DataError


def table_of_rows(
    rows: Callable[[], Iterator[Row]],
    layout: Layout,
    place: str,
    is_alone: bool = False,
    others: Mapping[int, str] = MappingProxyType({}),
) -> Table:
    """Return the table that rows of cells make.

    Parameters
    ----------
    rows : callable
        Gives all rows, the header among them, as often as it is called.
    layout : Layout
        What the columns are.
    place : str
        The file's name in messages.
    is_alone : bool, default=False
        Whether a single column is of labels alone, rather than split at the wrong character.
    others : mapping of int to str, optional
        Columns, from 0, that hold neither numbers nor text, and what each holds, in words.

    Raises
    ------
    DataError
        The rows are no such table; the message names the line and the column.
    """
    found = rows()
    first = next(found, None)
    if first is not None and is_alone:
        header = first.cells if _names_labels(first, found, layout) else None
    else:
        header = first.cells if first is not None and _has_header(first, layout) else None
    body = lambda: itertools.islice(rows(), header is not None, None)  # noqa: E731
    if first is None or next(body(), None) is None:
        raise DataError(f"{place} holds no rows of data.")
    columns = Columns(len(first.cells), header, place)
    inputs, label, unnamed = used_columns(columns, layout, is_alone, others)
    return Body(columns, inputs, label, layout, body).table(unnamed)


def used_columns(
    columns: Columns,
    layout: Layout,
    is_alone: bool = False,
    others: Mapping[int, str] = MappingProxyType({}),
) -> tuple[list[int], int, list[int]]:
    """Return which columns are inputs, which is the label, and which inputs have no name.

    Parameters
    ----------
    columns : Columns
        Of the file.
    layout : Layout
        What the columns are.
    is_alone, others
        As in `table_of_rows`.

    Raises
    ------
    DataError
        A column that an option names is not there, or one that is used cannot be.
    """
    place = columns.place
    if not is_alone:
        _require_several(columns, layout)
    header = columns.header
    label = columns.find(layout.label, "label")
    ids = {columns.find(reference, "id_columns") for reference in layout.id_columns}
    inputs = [column for column in range(columns.width) if column != label and column not in ids]
    if not inputs and not is_alone:
        raise DataError(f"{place} has no inputs: all its columns are labels or ids.")
    unnamed = [column for column in inputs if header is not None and is_unnamed(header[column])]
    if layout.index == "ask" and unnamed:
        raise asking_about_unnamed(unnamed, columns)
    if layout.index == "drop":
        inputs = [column for column in inputs if column not in unnamed]
    for column in sorted({*inputs, label} & set(others)):
        raise DataError(
            f"{place}, {columns.describe(column)} holds {others[column]}, which is neither a "
            f"number nor text: leave it out with data.id_columns=[{columns.reference(column)}], "
            "or write it as numbers."
        )
    return inputs, label, unnamed


def _names_labels(first: Row, rest: Iterator[Row], layout: Layout) -> bool:
    """Tell whether the first line of a single column is its name: no label is there once alone."""
    if layout.header != "auto":
        return bool(layout.header)
    others = {row.cells[0] for row in rest}
    return first.cells[0] not in others and not (
        Decimals(layout.decimal).is_number(first.cells[0]) and len(others) > 0
    )


def _has_header(first: Row, layout: Layout) -> bool:
    """Apply the header option; "auto" wants every cell but missing ones to be no number."""
    if layout.header != "auto":
        return bool(layout.header)
    is_number = Decimals(layout.decimal).is_number
    named = [cell for cell in first.cells if not (layout.index != "keep" and is_unnamed(cell))]
    return bool(named) and not any(is_number(c) or is_missing(c, layout) for c in named)


def _require_several(columns: Columns, layout: Layout) -> None:
    if columns.width == 1:
        raise DataError(
            f"{columns.place} has a single column when split at data.delimiter="
            f"{layout.delimiter!r}: set data.delimiter to what separates its cells, as in "
            f"'data.delimiter=\";\"' or data.delimiter=whitespace."
        )
