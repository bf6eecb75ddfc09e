"""Algorithms that no cell of the check has: one cheap cell each, recorded by a command.

So a new algorithm needs no entry in a table: `mklbench check --record` writes what it gives now to
``records/algorithms.jsonl``, and `mklbench check` compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mklbench import interruption, resources
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import Executor, run_cells
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import DONE, Record
from mklbench.experiments.records import (
    Layers,
    RecordFile,
    RecordSource,
    export_records,
    write_sums,
)
from mklbench.experiments.store import Store
from mklbench.report.check.comparison import Outcome, compare_splits
from mklbench.report.check.config import CheckConfig
from mklbench.report.check.published import Finding

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
    with interruption.temporary_directory("mklbench-check-") as directory:
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


def check_again(
    config: CheckConfig,
    recorded: Path,
    *,
    executor: Executor | None = None,
    scratch: str | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Run the cells of the algorithms here again and compare them with their records.

    Parameters are those of `mklbench.report.check.published.check_again`.
    """
    names, path = unlisted(config), records_of(recorded)
    if not names:
        return []
    source = RecordFile(path) if path.is_file() else None
    cells = [cell_of(name) for name in names]
    with interruption.temporary_directory("mklbench-check-", scratch) as directory:
        results = run_cells(cells, Store(directory), executor=executor, progress=progress)
    return [
        _finding(config, name, cell, result.records, source)
        for name, cell, result in zip(names, cells, results, strict=True)
    ]


def _finding(
    config: CheckConfig,
    name: str,
    cell: Cell,
    records: Sequence[Record],
    source: RecordSource | None,
) -> Finding:
    label = f"algorithms, {name}"
    before = {} if source is None else {r.split: r for r in source.read(cell).done}
    if not before:
        return Finding(
            label,
            Outcome.NOT_RECORDED,
            "it is in no cell of check.yaml and not recorded in this version: run mklbench check "
            "--record and keep the file it writes",
        )
    failed = [r.reason for r in records if not r.is_done]
    if failed or not records:
        return Finding(label, Outcome.FAILED, failed[0] if failed else "it was not run")
    moved = compare_splits(records, before, config.tolerance_of(name))
    if moved:
        return Finding(label, Outcome.MOVED, "; ".join(moved))
    return Finding(label, Outcome.SAME, "splits compared: 1")
