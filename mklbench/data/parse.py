"""From the bytes of a delimited text file to arrays, with errors that name the line and column."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split
from mklbench.data.schema import ColumnReference, Layout
from mklbench.errors import DataError

# Compressed files are known by their first bytes, so that sonar.data and sonar.data.gz read alike.
_DECOMPRESSORS = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"BZh": bz2.decompress,
}


@dataclass(frozen=True)
class Table:
    """A parsed file, before any choice about its content is made.

    Attributes
    ----------
    X : (n, d) the inputs.
    labels : n labels as text.
    feature_names : d names, from the header or x1 ... xd.
    dropped_rows : number of rows left out for a missing value.
    splits : training and test rows of each split that the file holds, from 0.
    view_sizes : columns of each view, where the file has several; else empty.
    digest : of the content, where that is not `X`; else None.
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
    content : the bytes of the file; gzip, xz and bzip2 are unpacked.
    layout : how the text is laid out.
    place : the file's name in messages.

    Raises
    ------
    DataError
        The content is not such a table; the message names the line and the column.
    """
    rows = _rows(_decode(content, place), layout, place)
    header = rows.pop(0).cells if rows and _has_header(rows[0], layout) else None
    if not rows:
        raise DataError(f"{place} holds no rows of data.")
    columns = _Columns(len(header or rows[0].cells), header, place)
    _require_width(rows, columns, layout)
    label = columns.find(layout.label, "label")
    ids = {columns.find(reference, "id_columns") for reference in layout.id_columns}
    inputs = [column for column in range(columns.width) if column != label and column not in ids]
    if not inputs:
        raise DataError(f"{place} has no inputs: all its columns are labels or ids.")
    complete = [row for row in rows if not _is_incomplete(row, [*inputs, label], layout)]
    if not complete:
        raise DataError(f"{place} has no row without a missing value ({layout.missing}).")
    return Table(
        X=_numbers(complete, inputs, columns),
        labels=_labels(complete, label, columns, layout),
        feature_names=tuple(
            header[column] if header else f"x{position}"
            for position, column in enumerate(inputs, 1)
        ),
        dropped_rows=len(rows) - len(complete),
    )


def unpack(content: bytes, place: str) -> bytes:
    """Unpack what gzip, xz or bzip2 packed; anything else is returned as it is.

    Raises
    ------
    DataError
        The compressed content is damaged.
    """
    for signature, decompress in _DECOMPRESSORS.items():
        if content.startswith(signature):
            try:
                return decompress(content)
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise DataError(f"{place} is a damaged compressed file ({error}).") from error
    return content


def _decode(content: bytes, place: str) -> str:
    """Unpack and decode; a byte-order mark is passed over."""
    try:
        return unpack(content, place).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place} is not a text file in UTF-8: byte {error.start + 1} cannot be read."
        ) from error


def _rows(text: str, layout: Layout, place: str) -> list[_Row]:
    """Split into cells without surrounding blanks; empty lines are passed over."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if number > layout.skip_lines and line.strip():
            cells = _cells(line, layout.delimiter, f"{place}, line {number}")
            rows.append(_Row(number, [cell.strip() for cell in cells]))
    return rows


def _cells(line: str, delimiter: str, place: str) -> list[str]:
    if delimiter == "whitespace":
        return line.split()
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


def _require_width(rows: list[_Row], columns: _Columns, layout: Layout) -> None:
    if columns.width == 1:
        raise DataError(
            f"{columns.place} has a single column when split at data.delimiter="
            f"{layout.delimiter!r}: set data.delimiter to what separates its cells, such as ';' "
            f"or whitespace."
        )
    for row in rows:
        if len(row.cells) != columns.width:
            raise DataError(
                f"{columns.place}, line {row.line} has {len(row.cells)} cells where "
                f"{columns.width} were expected."
            )


def _numbers(rows: list[_Row], inputs: list[int], columns: _Columns) -> NDArray[np.float64]:
    """The inputs as an (n, d) array of finite numbers."""
    X = np.empty((len(rows), len(inputs)))
    for i, row in enumerate(rows):
        try:
            X[i] = [_number(row.cells[column]) for column in inputs]
        except ValueError:
            column = next(c for c in inputs if not _is_number(row.cells[c]))
            remedy = (
                "set data.header=true if this line names the columns"
                if i == 0 and columns.header is None
                else "correct it, or set data.missing to what stands for a missing value"
            )
            raise DataError(
                f"{columns.place}, line {row.line}, {columns.describe(column)}: "
                f"{row.cells[column]!r} is not a number: {remedy}."
            ) from None
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        row, column = rows[bad[0, 0]], inputs[bad[0, 1]]
        raise DataError(
            f"{columns.place}, line {row.line}, {columns.describe(column)}: "
            f"{row.cells[column]!r} is not a finite number: correct it, or set "
            f"data.missing={row.cells[column]} to drop such rows."
        )
    return X


def _labels(rows: list[_Row], label: int, columns: _Columns, layout: Layout) -> tuple[str, ...]:
    names = layout.label_names or {}
    for row in rows:
        if not row.cells[label]:
            raise DataError(
                f"{columns.place}, line {row.line}, {columns.describe(label)}: the label is empty."
            )
    return tuple(names.get(row.cells[label], row.cells[label]) for row in rows)


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


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """List names in a message, the first few if they are many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"
