"""Numbers as texts: which sign stands before the decimals, and which between the thousands.

1.379 is a number a little above 1, or a number of thousands, as 950 beside it suggests: the file is
asked as a whole, and the user where that does not tell.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import DataError

Decimal = Literal["point", "comma", "auto"]

# Before the decimals, and between the thousands.
_SIGNS = {"point": (".", ","), "comma": (",", ".")}
_PATTERNS = {
    decimal: re.compile(
        rf"[+-]?(?:(?:\d+|[1-9]\d{{0,2}}(?:\{group}\d{{3}})+)(?:\{sign}\d*)?|\{sign}\d+)"
        r"(?:[eE][+-]?\d+)?"
    )
    for decimal, (sign, group) in _SIGNS.items()
}
_TRUTH = {"true": 1.0, "false": 0.0}
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
    with contextlib.suppress(TypeError, ValueError):
        return None if "_" in str(cell) else float(cell)  # type: ignore[arg-type]
    return None


def numbers_of(cells: NDArray[Any], decimal: str = "point") -> NDArray[np.float64]:
    """Return cells (n,), texts or numbers, as numbers, to the last bit; NaN for all others.

    True and false are 1 and 0 where no cell is a number.
    """
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64, copy=False)
    with contextlib.suppress(TypeError, ValueError):
        if not set(",_") & set("".join(cells)) and decimal == "point":
            return cells.astype(np.float64)
    found = [_number(cell, decimal) for cell in cells]
    if not any(number is not None for number in found):  # among numbers they would be a mistake
        found = [_TRUTH.get(str(cell).lower()) for cell in cells]
    return np.array([np.nan if number is None else number for number in found], np.float64)


def _number(cell: Any, decimal: str) -> float | None:
    """Return one cell as a number; None for what is none."""
    if not isinstance(cell, str):
        return plain_number(cell)
    cell = cell.replace("\u2212", "-")  # the minus of typesetters
    if spaced := _SPACED.fullmatch(cell):
        cell = cell.replace(spaced[1], "")
    sign, group = _SIGNS[decimal]
    if _PATTERNS[decimal].fullmatch(cell):
        return float(cell.replace(group, "").replace(sign, "."))
    return None if set(".,") & set(cell) else plain_number(cell)


def decimal_of(
    columns: Iterable[tuple[str, NDArray[Any]]], decimal: Decimal, place: str
) -> Decimal:
    """Find what stands before the decimals of the numbers of a file, a "point" or a "comma".

    The other sign may stand between groups of three digits.

    Parameters
    ----------
    columns : iterable of (str, ndarray of shape (n,))
        What messages call each column, and its cells; those that are no texts do not count.
    decimal : Decimal
        As the user has stated it; "auto" is found.
    place : str
        The file in messages.

    Raises
    ------
    DataError
        The file or a column may be read in two ways.
    """
    if decimal != "auto":
        return decimal
    found: list[Decimal] = ["point", "comma"]
    texts = {name: _signed(cells) for name, cells in columns if cells.dtype == object}
    for cell in itertools.chain(*texts.values()):
        fitting = [one for one in _PATTERNS if _PATTERNS[one].fullmatch(cell)]
        found = [one for one in found if one in fitting] or found
        if len(found) == 1:
            break
    for name, cells in texts.items() if len(found) > 1 else ():
        for cell in cells:
            if _number(cell, "point") != _number(cell, "comma"):
                sign = "point" if "." in cell else "comma"
                raise DataError(
                    f"{place}, {name} has {cell}, whose {sign} may stand before decimals or "
                    "after thousands: set data.decimal=point or data.decimal=comma."
                )
    return found[0]


def _signed(cells: NDArray[Any]) -> list[str]:
    """Return the first texts of a column, each once, if any of them has a point or a comma."""
    texts = list(dict.fromkeys(cell for cell in cells[:_SEEN] if isinstance(cell, str)))
    joined = "".join(texts)
    return texts if "." in joined or "," in joined else []
