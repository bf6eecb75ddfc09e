"""The columns of one file: where the one is that an option names, and what messages call it."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.data.row_numbers import described
from mklbench.data.table import shortened
from mklbench.data.values import ColumnReference
from mklbench.errors import DataError


@dataclass(frozen=True)
class Columns:
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


def asking_about_index(numbering: list[int], columns: Columns) -> DataError:
    """Return the question whether columns that number the rows are to be learned from."""
    shown = described([columns.describe(column) for column in numbering])
    return _asking(f"{columns.place} has {shown}, as an index does")


def asking_about_unnamed(unnamed: list[int], columns: Columns) -> DataError:
    """Return the question whether columns without a name are to be learned from."""
    shown = " and ".join(columns.describe(column) for column in unnamed)
    return _asking(
        f"{columns.place} has {shown} without a name, as an index that numbers the rows has none"
    )


def _asking(found: str) -> DataError:
    return DataError(
        f"{found}: set data.index=drop to leave that out, or data.index=keep to learn from it."
    )
