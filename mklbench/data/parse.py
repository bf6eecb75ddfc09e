"""From the bytes of a delimited text file to arrays, with errors that name the line and column."""

from __future__ import annotations

import csv
import itertools
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split
from mklbench.data.limits import most_bytes
from mklbench.data.schema import Layout
from mklbench.data.unpacking import unpack
from mklbench.data.values import ColumnReference
from mklbench.errors import DataError

_ZIP = b"PK\x03\x04"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What `str.splitlines` takes as the end of a line.
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Characters that are split into lines at a time.
_BLOCK = 2**20
# A row of cells takes some 60 bytes each while it is read.
_MOST_COLUMNS = 1_000_000
# Characters of a cell in a message.
_SHOWN = 60


@dataclass(frozen=True)
class Table:
    """A parsed file, before any choice about its content is made.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    labels : tuple of str
        n labels as text.
    feature_names : tuple of str
        d names, from the header or x1 ... xd.
    dropped_rows : int
        Number of rows left out for a missing value.
    splits : tuple of Split
        Training and test rows of each split that the file holds, from 0.
    view_sizes : tuple of int
        Columns of each view, where the file has several; else empty.
    digest : str or None
        Of the content, where that is not `X`; else None.
    """

    X: NDArray[np.float64]
    labels: tuple[str, ...]
    feature_names: tuple[str, ...]
    dropped_rows: int = 0
    splits: tuple[Split, ...] = ()
    view_sizes: tuple[int, ...] = ()
    digest: str | None = None


@dataclass(frozen=True)
class _Row:
    line: int  # in the file, from 1
    cells: list[str]


@dataclass(frozen=True)
class _Columns:
    """The columns of one file: how many, and what the header calls them."""

    width: int
    header: list[str] | None
    place: str

    def find(self, reference: ColumnReference, option: str) -> int:
        """Position of the column an option refers to by name, number from 1, or "last"."""
        if isinstance(reference, int):
            if 1 <= abs(reference) <= self.width:
                return reference - 1 if reference > 0 else self.width + reference
            raise DataError(
                f"data.{option}={reference} is not a column of {self.place}: it has {self.width}."
            )
        if self.header is not None and reference in self.header:
            if self.header.count(reference) > 1:
                raise DataError(
                    f"data.{option}={reference} is the name of {self.header.count(reference)} "
                    f"columns of {self.place}: give the column's number instead."
                )
            return self.header.index(reference)
        if reference.lower() == "last":
            return self.width - 1
        if self.header is None:
            raise DataError(
                f"data.{option}={reference} cannot be found, as {self.place} has no header line: "
                f"give a column number from 1 to {self.width}, or 'last'."
            )
        raise DataError(
            f"data.{option}={reference} is not a column of {self.place}: it has "
            f"{shortened(self.header)}."
        )

    def describe(self, column: int) -> str:
        """The column as messages call it, such as ``column 3 (age)``."""
        name = f" ({self.header[column]})" if self.header is not None else ""
        return f"column {column + 1}{name}"


def parse_table(content: bytes, layout: Layout, place: str) -> Table:
    """Parse the content of a file.

    Parameters
    ----------
    content : bytes
        The bytes of the file; gzip, xz and bzip2 are unpacked.
    layout : Layout
        How the text is laid out.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        The content is not such a table; the message names the line and the column.
    """
    rows = _rows(_decode(content, place, layout), layout, place)
    first = next(rows, None)
    header = first.cells if first is not None and _has_header(first, layout) else None
    first = first if header is None else next(rows, None)
    if first is None:
        raise DataError(f"{place} holds no rows of data.")
    columns = _Columns(len(header or first.cells), header, place)
    _require_several(columns, layout)
    label = columns.find(layout.label, "label")
    ids = {columns.find(reference, "id_columns") for reference in layout.id_columns}
    inputs = [column for column in range(columns.width) if column != label and column not in ids]
    if not inputs:
        raise DataError(f"{place} has no inputs: all its columns are labels or ids.")
    numbers, labels, n_dropped = array("d"), _Labels(layout), 0
    for row in itertools.chain([first], rows):
        _require_width(row, columns)
        if _is_incomplete(row, [*inputs, label], layout):
            n_dropped += 1
            continue
        numbers.extend(_numbers(row, inputs, columns, is_first=not labels.found))
        labels.add(row, label, columns)
    if not labels.found:
        raise DataError(f"{place} has no row without a missing value ({layout.missing}).")
    return Table(
        X=np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(inputs)),
        labels=tuple(labels.found),
        feature_names=tuple(
            header[column] if header else f"x{position}"
            for position, column in enumerate(inputs, 1)
        ),
        dropped_rows=n_dropped,
    )


def _decode(content: bytes, place: str, layout: Layout) -> str:
    """Unpack and decode; a byte-order mark is passed over."""
    if content.startswith(_ZIP):
        raise DataError(f"{place} is a zip archive: unpack it and name a file in it.")
    text = unpack(content, place, most_bytes(layout))
    if text.startswith(_UTF_16):
        raise DataError(f"{place} is a text file in UTF-16: save it in UTF-8.")
    if (position := text.find(b"\0")) >= 0:
        raise DataError(
            f"{place} is not a text file: byte {position + 1} is zero; give a text file in UTF-8."
        )
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place} is not a text file in UTF-8: byte {error.start + 1} cannot be read."
        ) from error


def _rows(text: str, layout: Layout, place: str) -> Iterator[_Row]:
    """Split into cells without surrounding blanks; empty lines are passed over."""
    for number, line in enumerate(_lines(text), 1):
        if number > layout.skip_lines and line.strip():
            cells = _cells(line, layout.delimiter, f"{place}, line {number}")
            yield _Row(number, [cell.strip() for cell in cells])


def _lines(text: str) -> Iterator[str]:
    """As ``text.splitlines()``, of which a large file has more than fit in memory together."""
    start = 0
    while start < len(text):
        end = _LINE_END.search(text, start + _BLOCK)
        stop = len(text) if end is None else end.end()
        yield from text[start:stop].splitlines()
        start = stop


def _cells(line: str, delimiter: str, place: str) -> list[str]:
    many = DataError(f"{place} has more than {_MOST_COLUMNS} columns: give a file with fewer.")
    if delimiter == "whitespace":
        cells = line.split(None, _MOST_COLUMNS)
        if len(cells) > _MOST_COLUMNS:
            raise many
        return cells
    if line.count(delimiter) >= _MOST_COLUMNS:
        raise many
    try:
        # One reader a line: a stray quote then spoils its own line, not the rest of the file.
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise DataError(f"{place} cannot be split into cells ({error}).") from error


def _has_header(first: _Row, layout: Layout) -> bool:
    """Apply the header option; "auto" wants every cell but missing ones to be no number."""
    if layout.header != "auto":
        return bool(layout.header)
    return not any(_is_number(cell) or _is_missing(cell, layout) for cell in first.cells)


def _require_several(columns: _Columns, layout: Layout) -> None:
    if columns.width == 1:
        raise DataError(
            f"{columns.place} has a single column when split at data.delimiter="
            f"{layout.delimiter!r}: set data.delimiter to what separates its cells, as in "
            f"'data.delimiter=\";\"' or data.delimiter=whitespace."
        )


def _require_width(row: _Row, columns: _Columns) -> None:
    if len(row.cells) != columns.width:
        raise DataError(
            f"{columns.place}, line {row.line} has {len(row.cells)} cells where "
            f"{columns.width} were expected."
        )


def _numbers(row: _Row, inputs: list[int], columns: _Columns, is_first: bool) -> list[float]:
    """The inputs of a row as finite numbers."""
    try:
        numbers = [_number(row.cells[column]) for column in inputs]
    except ValueError:
        column = next(c for c in inputs if not _is_number(row.cells[c]))
        remedy = (
            "set data.header=true if this line names the columns"
            if is_first and columns.header is None
            else "correct it, or set data.missing to what stands for a missing value"
        )
        raise DataError(
            f"{columns.place}, line {row.line}, {columns.describe(column)}: "
            f"{excerpt(row.cells[column])} is not a number: {remedy}."
        ) from None
    if not all(map(math.isfinite, numbers)):
        column = inputs[[math.isfinite(number) for number in numbers].index(False)]
        cell = row.cells[column]
        raise DataError(
            f"{columns.place}, line {row.line}, {columns.describe(column)}: {excerpt(cell)} is "
            f"not a finite number: correct it, or set data.missing={cell[:_SHOWN]} to drop such "
            "rows."
        )
    return numbers


class _Labels:
    """The labels of the rows, each text once in memory."""

    def __init__(self, layout: Layout) -> None:
        self.found: list[str] = []
        self._names = layout.label_names or {}
        self._known: dict[str, str] = {}

    def add(self, row: _Row, column: int, columns: _Columns) -> None:
        """Take the label of one more row."""
        cell = row.cells[column]
        if not cell:
            raise DataError(
                f"{columns.place}, line {row.line}, {columns.describe(column)}: the label is empty."
            )
        label = self._names.get(cell, cell)
        self.found.append(self._known.setdefault(label, label))


def _is_missing(cell: str, layout: Layout) -> bool:
    return layout.missing is not None and cell.lower() == layout.missing.lower()


def _is_incomplete(row: _Row, columns: list[int], layout: Layout) -> bool:
    return any(_is_missing(row.cells[column], layout) for column in columns)


def _number(cell: str) -> float:
    """As `float`, which however reads 1_5 as 15."""
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def excerpt(cell: str) -> str:
    """A cell in a message, its beginning if it is long."""
    return repr(cell) if len(cell) <= _SHOWN else f"{cell[:_SHOWN]!r}..."


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """List names in a message, the first few if they are many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"
