"""From the bytes of a delimited text file to a table: unpacked, decoded, split into cells.

What the cells mean is found in `mklbench.data.rows`, and below the header in `mklbench.data.body`.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from mklbench.data.delimiters import find_delimiter
from mklbench.data.limits import most_bytes
from mklbench.data.rows import table_of_rows
from mklbench.data.schema import Layout
from mklbench.data.table import Row, Table
from mklbench.data.unpacking import unpack
from mklbench.errors import DataError

_ZIP = b"PK\x03\x04"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What `str.splitlines` takes as the end of a line.
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Characters that are split into lines at a time.
_BLOCK = 2**20
# A row of cells takes some 60 bytes each while it is read.
_MOST_COLUMNS = 1_000_000
# Lines, and their characters, that the delimiter is found from.
_SAMPLE, _SAMPLE_SIZE = 50, 2**20


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


def _sample(text: str, layout: Layout) -> list[str]:
    """The first lines with something in them, behind those that are skipped."""
    lines = itertools.islice(_lines(text[:_SAMPLE_SIZE]), layout.skip_lines, None)
    return list(itertools.islice((line for line in lines if line.strip()), _SAMPLE))


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
