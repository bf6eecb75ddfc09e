"""What is still to be run, and how long that may take, judged by what was measured before."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.progress import duration
from mklbench.experiments.store import RecordSource
from mklbench.report.assemble import DONE, Record

CLOCKS = ("search_seconds", "kernel_seconds", "fit_seconds", "predict_seconds")


@dataclass(frozen=True)
class Work:
    """What is missing of one cell; `seconds` is None where nothing was measured to go by."""

    cell: Cell
    n_missing: int
    seconds: float | None
    problem: str = ""


def outstanding_work(
    cells: Iterable[Cell], store: RecordSource, recorded: Sequence[RecordSource]
) -> list[Work]:
    """Return the work on every distinct cell, finished ones included.

    Parameters
    ----------
    cells : of the tables; one that stands in several of them is counted once.
    store : where finished splits are looked up.
    recorded : where to look for times of cells that the store has not.
    """
    work: dict[str, Work] = {}
    for cell in cells:
        try:
            if cell.key not in work:
                work[cell.key] = _work(cell, store, recorded)
        except InputError as error:  # without its data a cell may have no key
            work[repr(cell.config)] = Work(cell, cell.n_splits, None, str(error))
    return list(work.values())


def describe_work(work: Sequence[Work]) -> str:
    """Return a table of the outstanding work and its sum, for a terminal."""
    from tabulate import tabulate

    rows = [
        [
            item.cell.label,
            item.cell.search,
            _value_of_C(item.cell),
            f"{item.n_missing}/{item.cell.n_splits}",
            item.problem or _estimate(item.seconds),
        ]
        for item in work
    ]
    headings = ["cell", "search", "C", "missing splits", "estimate"]
    n_missing = sum(item.n_missing for item in work)
    known = math.fsum(item.seconds for item in work if item.seconds is not None)
    n_unknown = sum(item.seconds is None for item in work)
    total = f"{len(work)} cells, {n_missing} splits to run"
    if n_unknown < len(work):
        total += f", about {duration(known)} on one core"
    if n_unknown:
        total += f", {n_unknown} cells whose time is not known"
    return f"{tabulate(rows, headings, disable_numparse=True)}\n\n{total}."


def _work(cell: Cell, store: RecordSource, recorded: Sequence[RecordSource]) -> Work:
    n_missing = len(store.missing(cell))
    if n_missing == 0:
        return Work(cell, 0, 0.0)
    for source in (store, *recorded):
        measured = [_seconds(record) for record in source.records(cell) if _is_done(record)]
        if measured:
            return Work(cell, n_missing, n_missing * math.fsum(measured) / len(measured))
    return Work(cell, n_missing, None)


def _is_done(record: Record) -> bool:
    return bool(record["status"] == DONE)


def _seconds(record: Record) -> float:
    return math.fsum(float(record.get(clock) or 0.0) for clock in CLOCKS)


def _estimate(seconds: float | None) -> str:
    return "not known" if seconds is None else duration(seconds)


def _value_of_C(cell: Cell) -> str:
    if "algo.C" in cell.config["search"]["grid"]:
        return "searched"
    return f"{cell.config['algo'].get('C', '-')}"
