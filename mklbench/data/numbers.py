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
# Cells of a column that tell how its numbers are written.
_SEEN = 2000
# 80 438, with the blanks and the apostrophes that stand between thousands and mean nothing else.
_SPACED = re.compile(r"[+-]?\d{1,3}(?:([ \u00a0\u2009\u202f'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")


def is_number(cell: str) -> bool:
    """Tell whether a text is a number, with a point or a comma."""
    written = any(pattern.fullmatch(cell) for pattern in (*_PATTERNS.values(), _SPACED))
    return written or plain_number(cell) is not None


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
        What may stand between groups of three digits, beside blanks; empty: nothing.
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
        found = [self.number(cell) for cell in cells]
        return np.array([np.nan if number is None else number for number in found], np.float64)

    def number(self, cell: Any) -> float | None:
        """Return one cell as a number; None for what is none."""
        if not isinstance(cell, str):
            return plain_number(cell)
        cell = cell.replace("\u2212", "-")  # the minus of typesetters
        if spaced := _SPACED.fullmatch(cell):
            cell = cell.replace(spaced[1], "")
        if self.thousands and self.thousands in cell:
            if not self.pattern.fullmatch(cell):
                return None
            cell = cell.replace(self.thousands, "")
        if self.decimal == ",":
            return None if "." in cell else plain_number(cell.replace(",", ".", 1))
        return plain_number(cell)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Of its numbers, where those from a thousand on have the sign of thousands."""
        sign, group = re.escape(self.decimal), re.escape(self.thousands)
        whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d{{1,3}})" if group else r"\d+"
        return re.compile(rf"[+-]?(?:{whole}(?:{sign}\d*)?|{sign}\d+)(?:[eE][+-]?\d+)?")


_PATTERNS = {
    one: one.pattern
    for one in (Notation("."), Notation(","), Notation(".", ","), Notation(",", "."))
}


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
        return Notation(_SIGNS.get(decimal, "," if thousands == "." else "."), thousands)
    if decimal != "auto":
        return Notation(_SIGNS[decimal])
    found = list(_PATTERNS)
    texts = {name: _signed(cells) for name, cells in columns if cells.dtype == object}
    for name, cells in texts.items():
        signs = set("".join(cells)) & set(".,")
        for cell in cells:
            if signs <= {one.decimal for one in found} and len({o.decimal for o in found}) == 1:
                break  # nothing is open
            fitting = [one for one in found if _PATTERNS[one].fullmatch(cell)]
            if not fitting and any(pattern.fullmatch(cell) for pattern in _PATTERNS.values()):
                raise DataError(
                    f"{place}, {name} has {cell}, which is written otherwise than numbers before "
                    "it: write all numbers in one way."
                )
            found = fitting or found
    decimals = {one.decimal: one for one in reversed(found)}
    for name, cells in texts.items() if len(decimals) > 1 else ():
        for cell in cells:
            if decimals["."].number(cell) != decimals[","].number(cell):
                sign, called = (".", "point") if "." in cell else (",", "comma")
                raise DataError(
                    f"{place}, {name} has {cell}, whose {called} may stand before decimals or "
                    f"after thousands: set data.decimal={called}, or 'data.thousands=\"{sign}\"'."
                )
    return found[0]


def _signed(cells: NDArray[Any]) -> list[str]:
    """Return the first texts of a column, each once, if any of them has a point or a comma."""
    texts = list(dict.fromkeys(cell for cell in cells[:_SEEN] if isinstance(cell, str)))
    joined = "".join(texts)
    return texts if "." in joined or "," in joined else []
