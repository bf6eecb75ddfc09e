"""Algorithms that no cell of the check has: one cheap cell each, recorded by a command.

So a new algorithm needs no entry in a table: `mklbench check --record` writes what it gives now to
``records/algorithms.jsonl``, and `mklbench check` compares.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.record import DONE
from mklbench.experiments.records import Layers, RecordFile, export_records, write_sums
from mklbench.experiments.store import Store
from mklbench.report.check.config import CheckConfig
from mklbench.report.check.published import Recorded

# One split of a set that comes with the program, small enough for any algorithm.
_CELL = (
    "data=wdbc", "search=fixed", "split.test_fraction=null", "split.n_train=100",
    "split.n_test=200", "split.n_splits=1",
)  # fmt: skip


def unlisted(config: CheckConfig) -> list[str]:
    """Return the names of the algorithms that no cell of the check has."""
    listed = {override for cell in config.cells for override in cell.slot.overrides}
    return [name for name in resources.choices("algo") if f"algo={name}" not in listed]


def records_of(recorded: Path) -> Path:
    """Return the file of their records among the recorded results."""
    return recorded / "records" / "algorithms.jsonl"


def cell_of(name: str) -> Cell:
    """Return the cell of an algorithm, with the kernels that its config chooses."""
    return Cell.from_overrides([f"algo={name}", *_CELL])


def record(config: CheckConfig, recorded: Path, *, jobs: int = 1) -> list[str]:
    """Run what is not recorded of the algorithms here, and return their names.

    Records of algorithms that are gone, or of other versions, are taken out of the file.

    Raises
    ------
    InputError
        If a cell does not end, or the file cannot be written.
    """
    cells = {name: cell_of(name) for name in unlisted(config)}
    path = records_of(recorded)
    before = [RecordFile(path)] if path.is_file() else []
    missing = [n for n, cell in cells.items() if not any(b.read(cell).done for b in before)]
    with TemporaryDirectory(prefix="mklbench-check-") as directory:
        store = Store(directory)
        for name, result in zip(
            missing, run_cells([cells[n] for n in missing], store, jobs=jobs), strict=True
        ):
            if result.status != DONE:
                failed = next((r.reason for r in result.records if r.error), "")
                raise InputError(
                    f"algo={name} cannot be recorded: {result.error or failed or result.status}"
                )
        export_records(cells.values(), Layers([*before, store]), path)
        write_sums(path.parent)
    return missing


def recorded_cells(config: CheckConfig, recorded: Path) -> list[Recorded]:
    """Return the cells of the algorithms here as they are recorded."""
    path = records_of(recorded)
    source = RecordFile(path) if path.is_file() else None
    remedy = "mklbench check --record and keep the file it writes, as no cell of check.yaml has it"

    def of(name: str) -> Recorded:
        cell = cell_of(name)
        done = [] if source is None else source.read(cell).done
        return Recorded(f"algorithms, {name}", cell, next(iter(done), None), remedy)

    return [of(name) for name in unlisted(config)]
