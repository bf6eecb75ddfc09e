"""Which cells the regression check runs again and how far each number may move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from mklbench import resources
from mklbench.errors import InputError, unknown
from mklbench.reader import read
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import Slot
from mklbench.report.table.values import TableWhere


@dataclass(frozen=True)
class Tolerance:
    """How far the numbers of one split may move, and why so far.

    Attributes
    ----------
    accuracy : float
        Test samples that may be classified otherwise.
    objective : float
        Relative change of the objective.
    reason : str
        Why it is not zero.
    """

    accuracy: float
    objective: float
    reason: str


@dataclass(frozen=True)
class CheckedCell:
    """The first `n_splits` splits of the cell at one place of a paper table."""

    table: str
    slot: Slot
    n_splits: int
    tolerance: Tolerance

    @property
    def label(self) -> str:
        """Table, row, column and protocol."""
        return f"{self.table}, {' '.join(self.slot.place)}"


@dataclass(frozen=True)
class CheckConfig:
    """The cells to check; the verdicts of their tables are checked as well.

    Attributes
    ----------
    cells : tuple of CheckedCell
        To be run again by `mklbench check`.
    default : Tolerance
        How far their numbers may move where nothing else is said.
    algorithms : mapping of str to Tolerance
        The same by name of the algorithm, for all other cells (`mklbench check --all`).
    blas_kernels : mapping of str to str
        For which processor the BLAS had kernels, by the name of the processor, of
        records that do not say so.
    """

    cells: tuple[CheckedCell, ...]
    default: Tolerance
    algorithms: Mapping[str, Tolerance] = field(default_factory=dict)
    blas_kernels: Mapping[str, str] = field(default_factory=dict)

    def tolerance_of(self, algorithm: str) -> Tolerance:
        """Return how far the numbers of an algorithm may move."""
        return self.algorithms.get(algorithm, self.default)

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
    splits: int | None = None
    tolerances: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _File:
    """The file as it is written."""

    splits: int
    tolerances: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[_Cell, ...] = ()
    algorithms: Mapping[str, Any] = field(default_factory=dict)
    blas_kernels: Mapping[str, str] = field(default_factory=dict)


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
    default = read(Tolerance, file.tolerances, where / "tolerances")
    # Of a special tolerance the reason is always asked for.
    usual = {"accuracy": default.accuracy, "objective": default.objective}
    load = cache(load_table)

    def checked(cell: _Cell, place: TableWhere) -> CheckedCell:
        table, tolerance = load(cell.table), default
        name = " ".join((cell.row, cell.column, cell.protocol))
        slots = {" ".join(slot.place): slot for slot in table.slots()}
        if name not in slots:
            raise unknown(f"{place}: cell of {table.name}", name, slots)
        if cell.tolerances:
            tolerance = read(Tolerance, cell.tolerances, place / "tolerances", defaults=usual)
        return CheckedCell(table.name, slots[name], cell.splits or file.splits, tolerance)

    return CheckConfig(
        tuple(checked(cell, (where / "cells").item(i)) for i, cell in enumerate(file.cells)),
        default,
        {
            name: read(Tolerance, found, where / "algorithms" / name, defaults=usual)
            for name, found in file.algorithms.items()
        },
        file.blas_kernels,
    )
