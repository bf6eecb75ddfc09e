"""How long a step may take, by what was measured of single fits on other data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean

from mklbench import resources
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.record import Record
from mklbench.experiments.records import RecordFile
from mklbench.experiments.search import grid_entries


def scaled_seconds(step: Step, recorded: Iterable[RecordFile]) -> float | None:
    """Return the seconds of a step by those of single fits on other data; None without such.

    They are taken to grow with the square of n, and not with features or classes.
    """
    cell = step.cell
    fits = [
        (record.n_train, fit_seconds(record))
        for file in recorded
        for record in file.of_method(cell.algo, cell.kernel)
        if record.is_done and record.n_train
    ]
    if not fits:
        return None
    n_train = len(cell.rows(step.split)[0])
    # Of the nearest size.
    nearest = min(abs(math.log(n / n_train)) for n, _ in fits)
    sizes = [(n, s) for n, s in fits if abs(math.log(n / n_train)) <= nearest + 1e-9]
    return fmean(seconds * (n_train / n) ** 2 for n, seconds in sizes) * _n_fits(step)


def fit_seconds(record: Record) -> float:
    """Return what one fit of a split took, with its kernels and its predictions."""
    clocks = (record.kernel_seconds, record.fit_seconds, record.predict_seconds)
    return math.fsum(seconds or 0.0 for seconds in clocks)


def _n_fits(step: Step) -> int:
    """Return how many fits a step is: those of its search and the last one."""
    search = step.cell.config["search"]
    n_searched = search["folds"] * len(grid_entries(search["grid"]))
    if not search["grid"]:
        return 1
    if step.cell.selection_splits:
        return n_searched if step.selects else 1
    return n_searched + 1


def of_program(known: Iterable[RecordFile] = ()) -> Iterable[RecordFile]:
    """Yield the recorded results of the program, table by table; those of `known` as they are."""
    records = resources.recorded_results() / "records"
    by_path = {source.path.resolve(): source for source in known}
    paths = (path.resolve() for path in sorted(records.glob("*.jsonl*")))
    return (by_path.get(path) or RecordFile(path) for path in paths)
