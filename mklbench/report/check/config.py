"""Which cells the regression check runs again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mklbench import resources
from mklbench.errors import InputError, unknown
from mklbench.reader import read
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import Slot
from mklbench.report.table.values import TableWhere


@dataclass(frozen=True)
class CheckedCell:
    """The cell at one place of a paper table, of which the first split is run."""

    table: str
    slot: Slot

    @property
    def label(self) -> str:
        """Table, row, column and protocol."""
        return f"{self.table}, {' '.join(self.slot.place)}"


@dataclass(frozen=True)
class CheckConfig:
    """The cells to run again; the verdicts of their tables are checked as well."""

    cells: tuple[CheckedCell, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables of the cells."""
        return tuple(dict.fromkeys(cell.table for cell in self.cells))

    def restricted_to(self, tables: Sequence[str]) -> CheckConfig:
        """Return the check of some tables only; of all when none is named.

        Raises
        ------
        InputError
            If no cell of a table is to be checked.
        """
        for name in tables:
            if name not in self.tables:
                raise unknown("table to check", name, self.tables)
        return replace(self, cells=tuple(c for c in self.cells if not tables or c.table in tables))


@dataclass(frozen=True)
class _Cell:
    """One entry of the file: a place of a table."""

    table: str
    row: str
    column: str
    protocol: str


@dataclass(frozen=True)
class _File:
    """The file as it is written."""

    cells: tuple[_Cell, ...] = ()


def load_check(path: Path | None = None) -> CheckConfig:
    """Load ``configs/check.yaml``, or the file given.

    Raises
    ------
    InputError
        If an entry is wrong, missing or unknown, or names a cell that its table does not have.
    """
    path = path or resources.configs() / "check.yaml"
    where = TableWhere((path.name,))
    file = read(_File, resources.read_yaml(path), where)
    if not file.cells:
        raise InputError(f"{path.name}: cells is empty: name at least one cell to check.")
    load = cache(load_table)

    def checked(cell: _Cell, place: TableWhere) -> CheckedCell:
        table = load(cell.table)
        name = " ".join((cell.row, cell.column, cell.protocol))
        slots = {" ".join(slot.place): slot for slot in table.slots()}
        if name not in slots:
            raise unknown(f"{place}: cell of {table.name}", name, slots)
        return CheckedCell(table.name, slots[name])

    return CheckConfig(
        tuple(checked(cell, (where / "cells").item(i)) for i, cell in enumerate(file.cells))
    )
