"""Numbers as texts: what stands before the decimals, and what between the thousands.

1.379 is a number a little above 1, or a number of thousands, as 950 beside it suggests: the file is
asked as a whole, and the user where that does not tell.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import DataError

Decimal = Literal["point", "comma", "auto"]

_SIGNS = {"point": ".", "comma": ","}
_OTHER = {".": ",", ",": "."}
# Cells of a column that tell how its numbers are written.
_SEEN = 10_000
_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?:\.\d{3})+(?:,\d+)?|(?:,\d{3})+(?:\.\d+)?)")


def is_number(cell: str) -> bool:
    """Tell whether a text is a number, with a point or a comma."""
    return bool(_NUMBER.fullmatch(cell) or _GROUPED.fullmatch(cell)) or (
        plain_number(cell) is not None
    )


def plain_number(cell: object) -> float | None:
    """As `float`, which however reads 1_5 as 15; None for what is no number."""
    try:
        return None if "_" in str(cell) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


@dataclass(frozen=True)
class Notation:
    """How the numbers of a file are written.

    Attributes
    ----------
    decimal : str
        "." or ",".
    thousands : str
        What may stand between groups of three digits; empty: nothing.
    """

    decimal: str = "."
    thousands: str = ""

    def numbers(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """Return cells (n,), texts or numbers, as numbers, to the last bit; NaN for all others."""
        if cells.dtype.kind in "biuf":
            return cells.astype(np.float64, copy=False)
        if self == Notation():
            with contextlib.suppress(TypeError, ValueError):
                if "_" not in "".join(cells):
                    return cells.astype(np.float64)
        found = [self._number(cell) for cell in cells]
        return np.array([np.nan if number is None else number for number in found], np.float64)

    def _number(self, cell: Any) -> float | None:
        if not isinstance(cell, str) or self == Notation():
            return plain_number(cell)
        sign = re.escape(self.decimal)
        grouped = rf"[+-]?\d{{1,3}}(?:{re.escape(self.thousands)}\d{{3}})+(?:{sign}\d+)?"
        if self.thousands and re.fullmatch(grouped, cell):
            cell = cell.replace(self.thousands, "")
        if self.decimal == ",":
            return None if "." in cell else plain_number(cell.replace(",", ".", 1))
        return plain_number(cell)


def notation(
    columns: Iterable[tuple[str, NDArray[Any]]], decimal: Decimal, thousands: str | None, place: str
) -> Notation:
    """Find how the numbers of a file are written.

    Parameters
    ----------
    columns : iterable of (str, ndarray of shape (n,))
        What messages call each column, and its cells; those that are no texts do not count.
    decimal, thousands : Decimal, str or None
        As the user has stated them; "auto" and None are found.
    place : str
        The file in messages.

    Raises
    ------
    DataError
        The file or a column may be read in two ways.
    """
    if thousands:
        other = _OTHER.get(thousands, ".")
        return Notation(_SIGNS.get(decimal, other), thousands)
    if decimal != "auto":
        return Notation(_SIGNS[decimal])
    seen = [_Seen(name, cells) for name, cells in columns]
    clear = {sign: next((s.clear[sign] for s in seen if s.clear[sign]), "") for sign in ".,"}
    groups = {sign: next((s.groups[sign] for s in seen if s.groups[sign]), "") for sign in ".,"}
    if clear["."] and clear[","]:
        raise DataError(
            f"{place} has numbers with a comma, {clear[',']}, and with a point, {clear['.']}: "
            "write all of them in one way."
        )
    for sign in ".,":
        if groups[sign] and clear[sign]:
            raise DataError(
                f"{place} has numbers such as {groups[sign]} and {clear[sign]}, so that "
                f"{sign!r} stands between thousands and before decimals: write all in one way."
            )
    known = next((sign for sign in ".," if clear[sign] or groups[_OTHER[sign]]), None)
    for one in seen:
        for sign in ".,":
            if one.open[sign] and not one.clear[sign]:
                _require_clear(one, sign, known, bool(groups[sign]), place)
    found = known or ("," if any(one.open[","] for one in seen) else ".")
    other = _OTHER[found]
    has_thousands = any(one.open[other] or one.groups[other] for one in seen)
    return Notation(found, other if has_thousands else "")


class _Seen:
    """What the cells of a column tell: an example of each kind by its sign, or an empty text."""

    def __init__(self, name: str, cells: NDArray[Any]) -> None:
        self.name = name
        self.clear = {".": "", ",": ""}  # of decimals for certain
        self.groups = {".": "", ",": ""}  # of thousands for certain
        self.open = {".": "", ",": ""}  # of either
        self.whole = ""  # a number below a thousand without a sign
        self.large = False  # one from a thousand without a sign
        texts = dict.fromkeys(cell for cell in cells[:_SEEN] if isinstance(cell, str))
        signs = [sign for sign in ".," if sign in "".join(texts)]
        for cell in texts:
            self._see(cell)
            if signs and all(self.clear[sign] for sign in signs):
                break  # nothing is open

    def _see(self, cell: str) -> None:
        if cell.isdigit():
            self.whole, self.large = self.whole or cell, self.large or len(cell) > 3
            return
        for sign in ".,":
            if sign not in cell:
                continue
            other = _OTHER[sign]
            group = rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(sign)}\d{{3}})"
            if re.fullmatch(group, cell):
                self.open[sign] = self.open[sign] or cell
            elif re.fullmatch(rf"{group}{{2,}}|{group}+{re.escape(other)}\d+", cell):
                self.groups[sign] = self.groups[sign] or cell
            elif other not in cell and _NUMBER.fullmatch(cell):
                self.clear[sign] = self.clear[sign] or cell


def _require_clear(column: _Seen, sign: str, known: str | None, groups: bool, place: str) -> None:
    """Raise DataError for a column whose numbers may be decimals or thousands."""
    if groups or known == _OTHER[sign] or column.large:
        return
    if known is not None and not column.whole:
        return
    beside = f" beside {column.whole}" if column.whole else ""
    name = "point" if sign == "." else "comma"
    raise DataError(
        f"{place}, {column.name} has {column.open[sign]}{beside}, whose {name} may stand before "
        f"decimals or after thousands: set data.decimal={name}, or 'data.thousands=\"{sign}\"'."
    )
