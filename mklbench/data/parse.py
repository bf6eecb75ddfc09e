"""From the bytes of a delimited text file to arrays, with errors that name the line and column."""

from __future__ import annotations

import contextlib
import csv
import itertools
import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split
from mklbench.data.decimals import Decimals
from mklbench.data.delimiters import COMMA_NUMBER, find_delimiter
from mklbench.data.limits import most_bytes
from mklbench.data.row_numbers import described, is_unnamed, row_numbers
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
# Lines, and their characters, that the delimiter is found from.
_SAMPLE, _SAMPLE_SIZE = 50, 2**20


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
    notes : tuple of str
        What was done to the columns of the file.
    """

    X: NDArray[np.float64]
    labels: tuple[str, ...]
    feature_names: tuple[str, ...]
    dropped_rows: int = 0
    splits: tuple[Split, ...] = ()
    view_sizes: tuple[int, ...] = ()
    digest: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """The cells of one line of a file, without surrounding blanks."""

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
        name = f" ({self.header[column]})" if self.header and self.header[column] else ""
        return f"column {column + 1}{name}"

    def reference(self, column: int) -> str:
        """What an option calls the column: its name, or its number where it has none."""
        return self.header[column] if self.header and self.header[column] else str(column + 1)


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
    text = _decode(content, place, layout)
    is_alone = False
    if layout.delimiter == "auto":
        delimiter = find_delimiter(_sample(text, layout), place)
        is_alone = delimiter is None
        layout = replace(layout, delimiter=delimiter or "\0")  # which no text file holds
    return table_of_rows(lambda: _rows(text, layout, place), layout, place, is_alone)


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
        As `parse_table`.
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
    columns = _Columns(len(first.cells), header, place)
    if not is_alone:
        _require_several(columns, layout)
    label = columns.find(layout.label, "label")
    ids = {columns.find(reference, "id_columns") for reference in layout.id_columns}
    inputs = [column for column in range(columns.width) if column != label and column not in ids]
    if not inputs and not is_alone:
        raise DataError(f"{place} has no inputs: all its columns are labels or ids.")
    unnamed = [column for column in inputs if header is not None and is_unnamed(header[column])]
    if layout.index == "ask" and unnamed:
        raise _ask(unnamed, columns)
    if layout.index == "drop":
        inputs = [column for column in inputs if column not in unnamed]
    for column in sorted({*inputs, label} & set(others)):
        raise DataError(
            f"{place}, {columns.describe(column)} holds {others[column]}, which is neither a "
            f"number nor text: leave it out with data.id_columns=[{columns.reference(column)}], "
            "or write it as numbers."
        )
    return _Body(columns, inputs, label, layout, body).table(unnamed)


class _Body:
    """The rows below the header, read column by column as the layout says."""

    def __init__(
        self,
        columns: _Columns,
        inputs: list[int],
        label: int,
        layout: Layout,
        rows: Callable[[], Iterator[Row]],
    ) -> None:
        self._columns, self._inputs, self._label = columns, inputs, label
        self._layout, self._rows = layout, rows
        self._decimals = Decimals(layout.decimal)
        self._codes = {column: dict[str, int]() for column in self._categories()}

    def table(self, unnamed: list[int]) -> Table:
        """Read all rows; `unnamed` are the columns that were left out for their lack of a name."""
        numbers, labels, n_dropped = array("d"), _Labels(self._layout), 0
        place = self._columns.place
        for row in self._rows():
            _require_width(row, self._columns)
            if _is_incomplete(row, [*self._inputs, self._label], self._layout):
                n_dropped += 1
                continue
            numbers.extend(self._numbers(row, is_first=not labels.found))
            labels.add(row, self._label, self._columns, self._decimals)
        if not labels.found:
            raise DataError(f"{place} has no row without a missing value ({self._layout.missing}).")
        self._decimals.check(place)
        n_rows = len(labels.found)
        X = np.frombuffer(numbers, dtype=np.float64).reshape(n_rows, len(self._inputs))
        kept, left_out = self._without_numbers_of_rows(X, n_rows + n_dropped, unnamed)
        X, names = self._expanded(X, kept)
        texts = labels.found
        if self._decimals.has_commas:
            texts = [t.replace(",", ".", 1) if COMMA_NUMBER.fullmatch(t) else t for t in texts]
        return Table(
            X=X,
            labels=tuple(texts),
            feature_names=names,
            dropped_rows=n_dropped,
            notes=self._notes(left_out),
        )

    def _notes(self, left_out: list[int]) -> tuple[str, ...]:
        notes = []
        if left_out:
            shown = ", ".join(map(self._columns.describe, left_out))
            notes.append(f"{shown} left out, as data.index=drop says")
        if self._codes:
            shown = ", ".join(
                f"{self._columns.describe(c)}: {len(v)}" for c, v in self._codes.items()
            )
            notes.append(f"a feature for each value of {shown}")
        return tuple(notes)

    def _without_numbers_of_rows(
        self, X: NDArray[np.float64], n_rows: int, unnamed: list[int]
    ) -> tuple[list[int], list[int]]:
        """Return the positions of the inputs to keep, and the columns left out as an index."""
        everything = list(range(len(self._inputs)))
        if self._layout.index == "keep":
            return everything, []
        found = [i for i in row_numbers(X, n_rows) if self._inputs[i] not in self._codes]
        numbering = [self._inputs[i] for i in found]
        if self._layout.index == "ask":
            if numbering:
                raise _ask(numbering, self._columns)
            return everything, []
        left_out = sorted([*unnamed, *numbering])
        if not left_out:
            raise DataError(
                f"data.index=drop finds no column in {self._columns.place} that numbers the rows: "
                "leave it out, or name the column in data.id_columns."
            )
        kept = [i for i in everything if i not in found]
        if not kept:
            raise DataError(
                f"{self._columns.place} has no inputs: all its columns are labels or an index."
            )
        return kept, left_out

    def _expanded(
        self, X: NDArray[np.float64], kept: list[int]
    ) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """Return the inputs, a category as a feature for each of its values, and their names."""
        if len(kept) == X.shape[1] and not self._codes:
            return X, tuple(self._name(i) for i in kept)
        n_features = sum(len(self._codes.get(self._inputs[i], [0])) for i in kept)
        if len(X) * n_features > most_bytes(self._layout) // 2:
            raise DataError(
                f"{self._columns.place} makes {n_features} features of {len(X)} rows, which is "
                "too much: leave columns with many values out, with data.id_columns."
            )
        parts, names = [], list[str]()
        for i in kept:
            codes = self._codes.get(self._inputs[i])
            if codes is None:
                parts.append(X[:, [i]])
                names.append(self._name(i))
                continue
            ordered = sorted(codes)
            parts.append(np.array([X[:, i] == codes[value] for value in ordered], float).T)
            names += [f"{self._name(i)}={value}" for value in ordered]
        return np.hstack(parts) if parts else X[:, :0], tuple(names)

    def _name(self, i: int) -> str:
        header = self._columns.header
        return header[self._inputs[i]] if header else f"x{i + 1}"

    def _categories(self) -> list[int]:
        """Return the columns that become a feature for each of their values."""
        stated = self._layout.categories
        if stated is None:
            return []
        if stated != "onehot":
            found = [self._columns.find(reference, "categories") for reference in stated]
            for column in found:
                if column not in self._inputs:
                    raise DataError(
                        f"data.categories={self._columns.describe(column)} is no input of "
                        f"{self._columns.place}: leave it out of the list."
                    )
            return found
        texts = self._texts()
        for column, (values, n_texts, n_rows) in texts.items():
            if n_texts and len(values) > max(10, n_rows // 2):
                raise DataError(
                    f"{self._columns.place}, {self._columns.describe(column)} has {len(values)} "
                    f"different values in {n_rows} rows: leave it out with "
                    f"data.id_columns=[{self._columns.reference(column)}]."
                )
        return [column for column, (_, n_texts, _) in texts.items() if n_texts]

    def _texts(self) -> dict[int, tuple[set[str], int, int]]:
        """Return of each input its values, how many cells are no numbers, and how many there are.

        Of a column of numbers alone no values are kept.
        """
        texts = dict.fromkeys(self._inputs, 0)
        n_rows = 0
        for row in self._complete():
            n_rows += 1
            for column in self._inputs:
                cell = row.cells[column]
                texts[column] += bool(cell) and not self._decimals.is_number(cell)
        values: dict[int, set[str]] = {column: set() for column in self._inputs}
        columns = [column for column in self._inputs if texts[column]]
        for row in self._complete() if columns else ():
            for column in columns:
                values[column].add(row.cells[column])
        return {column: (values[column], texts[column], n_rows) for column in self._inputs}

    def _complete(self) -> Iterator[Row]:
        for row in self._rows():
            _require_width(row, self._columns)
            if not _is_incomplete(row, [*self._inputs, self._label], self._layout):
                yield row

    def _numbers(self, row: Row, is_first: bool) -> list[float]:
        """The inputs of a row as finite numbers; of a category the number of its value."""
        read, cells = self._decimals.number, row.cells
        try:
            if self._codes:
                numbers = [self._coded(row, column) for column in self._inputs]
            else:
                numbers = [read(cells[column]) for column in self._inputs]
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise self._no_number(row, is_first) from None
        if not all(map(math.isfinite, numbers)):
            column = self._inputs[[math.isfinite(number) for number in numbers].index(False)]
            cell = cells[column]
            raise DataError(
                f"{self._columns.place}, line {row.line}, {self._columns.describe(column)}: "
                f"{excerpt(cell)} is not a finite number: correct it, or set "
                f"data.missing={cell[:_SHOWN]} to drop such rows."
            )
        return numbers

    def _coded(self, row: Row, column: int) -> float:
        cell, codes = row.cells[column], self._codes.get(column)
        if codes is None:
            return self._decimals.number(cell)
        if not cell:
            raise DataError(
                f"{self._columns.place}, line {row.line}, {self._columns.describe(column)} is "
                "empty: fill it in, or set data.missing= to drop such rows."
            )
        return codes.setdefault(cell, len(codes))

    def _no_number(self, row: Row, is_first: bool) -> DataError:
        """Build the error for a cell that is no number: a mistake, a header, or a category."""
        is_number, columns = self._decimals.is_number, self._columns
        bad = [c for c in self._inputs if c not in self._codes and not is_number(row.cells[c])]
        column = bad[0]
        counts = {c: (v, n, of) for c, (v, n, of) in self._texts().items() if 2 * n > of > 1}
        place = f"{columns.place}, line {row.line}, {columns.describe(column)}"
        if column not in counts or not self._layout.asks_for_categories:
            remedy = (
                "set data.header=true if this line names the columns"
                if is_first and columns.header is None
                else "correct it, or set data.missing to what stands for a missing value"
            )
            return DataError(f"{place}: {excerpt(row.cells[column])} is not a number: {remedy}.")
        listed = [columns.describe(c) for c in counts]
        names = ",".join(str(columns.reference(c)) for c in counts)
        each = ", ".join(f"{len(values)}" for values, *_ in counts.values())
        if all(len(values) > max(10, of // 2) for values, _, of in counts.values()):
            remedy = f"leave out what identifies a row with data.id_columns=[{names}]"
        else:
            remedy = (
                f"set data.categories=onehot to make features of the values ({each}), or "
                f"data.id_columns=[{names}] to leave out what identifies a row"
            )
        verb = "holds" if len(listed) == 1 else "hold"
        return DataError(
            f"{columns.place}, {shortened(listed)} {verb} text, such as "
            f"{excerpt(row.cells[column])} in line {row.line}: {remedy}."
        )


def _ask(numbering: list[int], columns: _Columns) -> DataError:
    shown = described([columns.describe(column) for column in numbering])
    return DataError(
        f"{columns.place} has {shown}, as an index does: set data.index=drop to leave that out, or "
        "data.index=keep to learn from it."
    )


def _sample(text: str, layout: Layout) -> list[str]:
    """The first lines with something in them, behind those that are skipped."""
    lines = itertools.islice(_lines(text[:_SAMPLE_SIZE]), layout.skip_lines, None)
    return list(itertools.islice((line for line in lines if line.strip()), _SAMPLE))


def _names_labels(first: Row, rest: Iterator[Row], layout: Layout) -> bool:
    """Tell whether the first line of a single column is its name: no label is there once alone."""
    if layout.header != "auto":
        return bool(layout.header)
    others = {row.cells[0] for row in rest}
    return first.cells[0] not in others and not (
        Decimals(layout.decimal).is_number(first.cells[0]) and len(others) > 0
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


def _rows(text: str, layout: Layout, place: str) -> Iterator[Row]:
    """Split into cells without surrounding blanks; empty lines are passed over."""
    for number, line in enumerate(_lines(text), 1):
        if number > layout.skip_lines and line.strip():
            cells = _cells(line, layout.delimiter, f"{place}, line {number}")
            yield Row(number, [cell.strip() for cell in cells])


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


def _has_header(first: Row, layout: Layout) -> bool:
    """Apply the header option; "auto" wants every cell but missing ones to be no number."""
    if layout.header != "auto":
        return bool(layout.header)
    is_number = Decimals(layout.decimal).is_number
    named = [cell for cell in first.cells if not (layout.index != "keep" and is_unnamed(cell))]
    return bool(named) and not any(is_number(c) or _is_missing(c, layout) for c in named)


def _require_several(columns: _Columns, layout: Layout) -> None:
    if columns.width == 1:
        raise DataError(
            f"{columns.place} has a single column when split at data.delimiter="
            f"{layout.delimiter!r}: set data.delimiter to what separates its cells, as in "
            f"'data.delimiter=\";\"' or data.delimiter=whitespace."
        )


def _require_width(row: Row, columns: _Columns) -> None:
    if len(row.cells) != columns.width:
        raise DataError(
            f"{columns.place}, line {row.line} has {len(row.cells)} cells where "
            f"{columns.width} were expected."
        )


class _Labels:
    """The labels of the rows, each text once in memory."""

    def __init__(self, layout: Layout) -> None:
        self.found: list[str] = []
        self._names = layout.label_names or {}
        self._known: dict[str, str] = {}

    def add(self, row: Row, column: int, columns: _Columns, decimals: Decimals) -> None:
        """Take the label of one more row; its decimals are those of the file."""
        cell = row.cells[column]
        if not cell:
            raise DataError(
                f"{columns.place}, line {row.line}, {columns.describe(column)}: the label is empty."
            )
        if cell not in self._known and COMMA_NUMBER.fullmatch(cell):
            with contextlib.suppress(ValueError):
                decimals.number(cell)
        label = self._names.get(cell, cell)
        self.found.append(self._known.setdefault(label, label))


def _is_missing(cell: str, layout: Layout) -> bool:
    return layout.missing is not None and cell.lower() == layout.missing.lower()


def _is_incomplete(row: Row, columns: list[int], layout: Layout) -> bool:
    return any(_is_missing(row.cells[column], layout) for column in columns)


def excerpt(cell: str) -> str:
    """A cell in a message, its beginning if it is long."""
    return repr(cell) if len(cell) <= _SHOWN else f"{cell[:_SHOWN]!r}..."


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """List names in a message, the first few if they are many."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"
