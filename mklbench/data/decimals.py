"""Numbers with a decimal point or a decimal comma, told apart by the whole file."""

from __future__ import annotations

import re
from typing import Literal

from mklbench.data.delimiters import COMMA_NUMBER
from mklbench.errors import DataError

Decimal = Literal["point", "comma", "auto"]

# What may be a number of thousands as well: 1,234.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


class Decimals:
    """Reads the numbers of one file.

    Parameters
    ----------
    decimal : Decimal
        What stands before the decimals. "auto": a point, or in the whole file a comma.
    """

    def __init__(self, decimal: Decimal) -> None:
        self._decimal = decimal
        self._comma: str | None = None  # the first cell with one
        self._point: str | None = None
        self._is_clear = False

    @property
    def has_commas(self) -> bool:
        """Whether the numbers so far have decimal commas."""
        return self._decimal == "comma" or self._comma is not None

    def number(self, cell: str) -> float:
        """Return a cell as a number.

        Raises
        ------
        ValueError
            It is none.
        """
        if self._decimal == "comma":
            if "." in cell:
                raise ValueError(cell)
            return plain_number(cell.replace(",", ".", 1))
        try:
            found = plain_number(cell)
        except ValueError:
            if self._decimal == "point" or not COMMA_NUMBER.fullmatch(cell):
                raise
            self._comma = self._comma or cell
            self._is_clear = self._is_clear or not _THOUSANDS.fullmatch(cell)
            return plain_number(cell.replace(",", ".", 1))
        if self._point is None and "." in cell:
            self._point = cell
        return found

    def is_number(self, cell: str) -> bool:
        """Tell whether a cell is a number, without remembering it."""
        try:
            Decimals(self._decimal).number(cell)
        except ValueError:
            return False
        return True

    def check(self, place: str) -> None:
        """Raise DataError unless it is clear what the commas of the file, if any, stand for."""
        if self._comma is None:
            return
        if self._point is not None:
            raise DataError(
                f"{place} has numbers with a comma, {self._comma}, and with a point, "
                f"{self._point}: write all of them in one way."
            )
        if not self._is_clear:
            raise DataError(
                f"{place} has numbers such as {self._comma}, whose commas may stand before "
                "decimals or after thousands: set data.decimal=comma, or write them without commas."
            )


def plain_number(cell: str) -> float:
    """As `float`, which however reads 1_5 as 15."""
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)
