"""Steps of simulated cells, and who hears of their end, for the tests of what drives a cluster."""

from __future__ import annotations

from typing import Any

from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import unfinished
from mklbench.experiments.execution.chunks import GIB
from mklbench.experiments.execution.estimates import Estimates
from mklbench.experiments.execution.outstanding import Outstanding
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.store import Store


class Heard:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.steps: list[tuple[Step, Record | None]] = []
        self.cells: list[tuple[Cell, str]] = []

    def start(self, steps: Any, n_splits: int) -> None: ...

    def step_advanced(self, step: Step, n_done: int, n_fits: int) -> None: ...

    def step_ended(self, step: Step, record: Record | None) -> None:
        self.steps.append((step, record))

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None:
        self.cells.append((cell, status))

    def stop(self) -> None: ...


class Known(Estimates):
    """Estimates that ask no records."""

    def bytes(self, step: Step) -> float:
        return GIB

    def _looked_up(self, step: Step) -> float:
        return 60.0


def of(store: Store, *cells: Cell) -> tuple[Outstanding, Heard]:
    """Return the steps of cells that are missing, and who hears of their end."""
    heard = Heard()
    steps = [step for cell in cells for step in missing_steps(cell, store)]
    return Outstanding(steps, store, heard, Known(store)), heard


def write(store: Store, step: Step, status: Any = "done") -> None:
    """Write how a step has ended."""
    if step.selects:
        store.write_selection(step.cell, step.split, Selection({"algo.C": 1.0}, 0.5, 3.0))
        return
    record = unfinished(step.cell, step.split, status, "" if status == "done" else "it failed")
    if status == "done":
        values = {"accuracy": 0.5, "objective": 1.0, "gap": 0.0, "fit_seconds": 2.0}
        record = Record(**{**vars(record), **values})
    store.write(step.cell, record)
