"""Which cells the regression check runs again and how far each number may move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from mklbench import resources
from mklbench.errors import InputError, unknown
from mklbench.report.table.loading import load_table
from mklbench.report.table.paper_table import PaperTable, Slot
from mklbench.report.table.section import Section


@dataclass(frozen=True)
class Tolerance:
    """How far the numbers of one split may move, and why so far.

    Attributes
    ----------
    accuracy : test samples that may be classified otherwise.
    objective : relative change of the objective.
    reason : why it is not zero.
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
    cells : to be run again by `mklbench check`.
    default : how far their numbers may move where nothing else is said.
    algorithms : the same by name of the algorithm, for all other cells (`mklbench check --all`).
    blas_kernels : for which processor the BLAS had kernels, by the name of the processor, of
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


def load_check(path: Path | None = None) -> CheckConfig:
    """Load ``configs/check.yaml``, or the file given.

    Raises
    ------
    InputError
        If an entry is wrong, missing or unknown, or names a cell that its table does not have.
    """
    path = path or resources.configs() / "check.yaml"
    section = Section(resources.read_yaml(path), path.name)
    n_splits = section.count("splits")
    default = _tolerance(section.section("tolerances"), None)
    load = cache(load_table)
    cells = tuple(_cell(part, load, n_splits, default) for part in section.sections("cells"))
    of_algorithms = section.section("algorithms")
    algorithms = {
        name: _tolerance(of_algorithms.section(name), default) for name in of_algorithms.names()
    }
    processors = section.section("blas_kernels")
    blas_kernels = {name: processors.text(name) for name in processors.names()}
    section.finish()
    if not cells:
        raise InputError(f"{path.name}: cells is empty: name at least one cell to check.")
    return CheckConfig(cells, default, algorithms, blas_kernels)


def _cell(
    section: Section, load: Callable[[str], PaperTable], n_splits: int, default: Tolerance
) -> CheckedCell:
    table = load(section.text("table"))
    place = " ".join(section.text(key) for key in ("row", "column", "protocol"))
    slots = {" ".join(slot.place): slot for slot in table.slots()}
    if place not in slots:
        raise unknown(f"{section.where}: cell of {table.name}", place, slots)
    own_splits = section.count("splits", n_splits)
    special = section.section("tolerances")
    tolerance = _tolerance(special, default) if special.names() else default
    section.finish()
    return CheckedCell(table.name, slots[place], own_splits, tolerance)


def _tolerance(section: Section, default: Tolerance | None) -> Tolerance:
    """Read tolerances; a missing one is that of `default`, but a reason is always asked for."""
    accuracy, objective = (None, None) if default is None else (default.accuracy, default.objective)
    tolerance = Tolerance(
        accuracy=section.number("accuracy", accuracy),
        objective=section.number("objective", objective),
        reason=section.text("reason"),
    )
    section.finish()
    return tolerance
