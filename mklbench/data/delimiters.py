"""What separates the cells of a text file, found from its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from mklbench.errors import DataError

WHITESPACE = "whitespace"
# Numbers as those countries write them that have a comma for the point.
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")

_CANDIDATES = (",", ";", "\t", "|", WHITESPACE)


def find_delimiter(lines: Sequence[str], place: str) -> str | None:
    """Return the delimiter that splits all lines into as many cells, most of them numbers.

    Parameters
    ----------
    lines : sequence of str
        The first lines of the file, without empty ones.
    place : str
        The file in messages.

    Returns
    -------
    str or None
        One of comma, semicolon, tab, bar and "whitespace"; None where each line is one cell. Where
        no delimiter gives each line as many cells, that of the first line, so that the line which
        has more or fewer can be named.

    Raises
    ------
    DataError
        Two of them do as well.
    """
    shares: dict[str, float] = {}
    for delimiter in _CANDIDATES:
        rows = [split_line(line, delimiter) for line in lines]
        widths = {0 if row is None else len(row) for row in rows}
        if len(widths) == 1 and widths.pop() > 1:
            cells = [cell for row in rows[1:] or rows for cell in row or ()]
            shares[delimiter] = sum(_is_numeric(cell, delimiter) for cell in cells) / len(cells)
    best = [delimiter for delimiter in shares if shares[delimiter] == max(shares.values())]
    if len(best) > 1 and WHITESPACE in best:
        best.remove(WHITESPACE)
    if len(best) > 1:
        raise DataError(
            f"{place} can be split at {best[0]!r} or at {best[1]!r}: set data.delimiter to what "
            f"separates its cells, as in 'data.delimiter=\"{best[0]}\"'."
        )
    if best:
        return best[0]
    counts = {d: lines[0].count(d) for d in _CANDIDATES[:-1]} if lines else {}
    most = max(counts, key=lambda d: counts[d], default=None)
    return most if most is not None and counts[most] else None


def split_line(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of a line; None if it cannot be split, as after a stray quote."""
    if delimiter == WHITESPACE:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return None


def _is_numeric(cell: str, delimiter: str) -> bool:
    cell = cell.strip()
    try:
        float(cell)
    except ValueError:
        return COMMA_NUMBER.fullmatch(cell) is not None
    return "_" not in cell
