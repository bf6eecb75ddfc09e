"""Tables of typed values, as parquet and Excel files hold them: to the cells that a CSV would have.

So labels, categories, missing values and columns that number the rows are asked about in the same
words whatever file a table lies in. A number becomes the shortest text that stands for it exactly,
true and false become 1 and 0, and a missing value is an empty cell.
"""

from __future__ import annotations

import io
import itertools
import math
import numbers
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from mklbench.data.limits import beyond, most_bytes
from mklbench.data.number_tables import numbers_of_parquet
from mklbench.data.rows import table_of_rows
from mklbench.data.schema import Layout
from mklbench.data.table import Row, Table, shortened
from mklbench.data.unpacking import unzip
from mklbench.errors import DataError, first_line
from mklbench.extras import missing

# Bytes that a cell takes while it is read, of those that a file may unpack to.
_CELL = 16
# What pyarrow calls the column of an index that has no name.
_INDEX = re.compile(r"__index_level_\d+__")
_SHOWN = 40


def table_of_values(rows: Iterable[Sequence[Any]], layout: Layout, place: str) -> Table:
    """Return the table that rows of Python's values make.

    Parameters
    ----------
    rows : iterable of sequences
        The header first, if there is one. Short rows end in missing values.
    layout : Layout
        What the columns are.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        As `mklbench.data.rows.table_of_rows`; a column that is used holds dates or other values
        that are neither numbers nor text; or there are too many cells.
    """
    found: list[Row] = []
    others: dict[int, str] = {}
    n_cells, limit = 0, most_bytes(layout)
    for number, values in enumerate(rows, 1):
        if number <= layout.skip_lines or all(map(_is_missing, values)):
            continue
        n_cells += len(values)
        if n_cells * _CELL > limit:
            raise DataError(
                f"{place} has more than {limit // _CELL} cells, which take more than "
                f"{beyond(limit)}."
            )
        cells = []
        for column, value in enumerate(values):
            cells.append(text := _cell(value))
            if column not in others and not _is_known(value):
                others[column] = f"{text[:_SHOWN]} in line {number}, of type {type(value).__name__}"
        found.append(Row(number, cells))
    width = max((_used(row.cells) for row in found), default=0)
    for row in found:
        row.cells[:] = [*row.cells[:width], *[""] * (width - len(row.cells))]
    return table_of_rows(lambda: iter(found), layout, place, is_alone=width == 1, others=others)


def _used(cells: Sequence[str]) -> int:
    """Count the cells up to the last that is not empty."""
    return next((i for i in range(len(cells), 0, -1) if cells[i - 1]), 0)


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, and what pandas has for them; no number is unequal to itself but NaN."""
    return value is None or value == "" or (isinstance(value, numbers.Real) and value != value)


def _is_known(value: Any) -> bool:
    return value is None or isinstance(value, str | numbers.Real | Decimal)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if _is_missing(value):
        return ""
    if isinstance(value, numbers.Integral):  # also true and false
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


def parse_parquet(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a parquet file, whose columns have names; an index that pandas kept is a column.

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
        It cannot be read, holds too much, or as `table_of_values`; pyarrow is not installed.
    """
    if asked := missing("files", place, "pyarrow"):
        raise DataError(asked)
    import pyarrow as pa
    from pyarrow import parquet

    limit = most_bytes(layout)
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        shape = file.metadata.num_rows, len(file.schema_arrow)
        names = ["" if _INDEX.fullmatch(name) else name for name in file.schema_arrow.names]
        layout = replace(layout, header=True, skip_lines=0)
        if (table := numbers_of_parquet(file, names, layout, place)) is not None:
            return table
        if math.prod(shape) * _CELL > limit:
            raise DataError(
                f"{place} has {shape[0]} rows of {shape[1]} columns, which take more than "
                f"{beyond(limit)}."
            )
        # A text that stands in many rows is then in memory once.
        texts = [c.name for c in file.schema_arrow if pa.types.is_string(c.type)]
        file = parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        rows = itertools.chain([names], _rows_of_batches(file))
        return table_of_values(rows, layout, place)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{place} is not a parquet file: it is damaged ({first_line(error)})."
        ) from error


def _rows_of_batches(file: Any) -> Iterator[tuple[Any, ...]]:
    for batch in file.iter_batches(batch_size=1024):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def parse_xlsx(content: bytes, layout: Layout, place: str) -> Table:
    """Parse a sheet of an Excel file: ``layout.sheet``, or the only one that is not empty.

    Formulas count as the values that were saved with them. The parameters are those of
    `parse_parquet`.

    Raises
    ------
    DataError
        It cannot be read, holds too much, has several sheets of which none is chosen, or as
        `table_of_values`; openpyxl is not installed.
    """
    if asked := missing("files", place, "openpyxl"):
        raise DataError(asked)
    from openpyxl import load_workbook

    limit = most_bytes(layout)
    try:
        unzip(content, place, limit)  # for its size alone: what openpyxl unpacks has no limit
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        rows = _sheet_rows(book, layout, place)
        return table_of_values(rows, layout, place)
    except DataError:
        raise
    except Exception as error:  # of damaged XML openpyxl raises almost anything
        raise DataError(
            f"{place} is not an Excel file: it is damaged ({first_line(error)})."
        ) from error


def _sheet_rows(book: Any, layout: Layout, place: str) -> Iterator[tuple[Any, ...]]:
    """Return the rows of the sheet that is meant."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    for sheet in sheets.values():
        sheet.reset_dimensions()  # what some programs write there is wrong
    if layout.sheet is not None:
        if layout.sheet not in sheets:
            raise DataError(
                f"data.sheet={layout.sheet} is not a sheet of {place}: it has "
                f"{shortened(list(sheets))}."
            )
        return iter(sheets[layout.sheet].iter_rows(values_only=True))
    filled = [name for name, sheet in sheets.items() if _has_values(sheet)]
    if len(filled) > 1:
        raise DataError(
            f"{place} has the sheets {shortened(filled)}: choose one, as in data.sheet={filled[0]}."
        )
    if not filled:
        raise DataError(f"{place} holds no rows of data.")
    return iter(sheets[filled[0]].iter_rows(values_only=True))


def _has_values(sheet: Any) -> bool:
    return any(not _is_missing(value) for row in sheet.iter_rows(values_only=True) for value in row)
