"""Running cells: what is missing, here or in workers, each finished step stored at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from mklbench import interruption
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.steps import Step, is_done, missing_steps, record, take
from mklbench.experiments.progress import Progress, Silent
from mklbench.experiments.record import Record
from mklbench.experiments.records import Status
from mklbench.experiments.store import Store, StoreError


@dataclass(frozen=True)
class CellResult:
    """How a cell ended.

    Attributes
    ----------
    cell : the cell.
    status : as the store has it now: "done", "failed", "timeout", "incomplete" or "missing".
    records : of its splits, sorted.
    error : the sentence of what the user has to mend before it can run, or None.
    """

    cell: Cell
    status: Status
    records: list[Record] = field(default_factory=list)
    error: str | None = None


def run_cells(
    cells: Iterable[Cell],
    store: Store,
    jobs: int = 1,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> list[CellResult]:
    """Run the splits of `cells` that the store does not have, and return how each cell ended.

    One cell that cannot run or fails does not stop the others. With one job and no timeout the
    work is done in this process; otherwise in worker processes that take one step at a time (a
    split, or a selection for all splits), so that a crash costs that step only and a timeout can
    interrupt it.

    Parameters
    ----------
    cells : what to run; of several with one key, the one with the most splits stands for all.
    store : where the records are and go.
    jobs : worker processes.
    timeout : seconds of computing a cell may take, summed over its workers; None for no limit.
    progress : told of every step; silent if not given.

    Raises
    ------
    InputError : if the store is no directory or cannot be written.
    KeyboardInterrupt : on Ctrl-C; finished splits are in the store.
    """
    listed = list(cells)
    told = progress or Silent()
    errors: dict[str, str] = {}
    store.check()
    with _parallel(jobs):
        work = _plan(listed, store, jobs, errors)
    if work:
        store.check_writable()
        n_splits = sum(cell.n_splits for cell in _distinct(listed, errors))
        told.start([step for steps in work for step in steps], n_splits)
        try:
            with interruption.on_leaving(told.stop):
                run_steps(work, store, jobs, timeout, told, errors)
        finally:
            told.stop()
    return [_result(cell, store, errors) for cell in listed]


def run_steps(
    work: list[list[Step]],
    store: Store,
    jobs: int,
    timeout: float | None,
    progress: Progress,
    errors: dict[str, str],
) -> None:
    """Take the steps in `work`, here or in workers.

    Parameters and errors are those of `mklbench.experiments.execution.processes.run_in_workers`.
    """
    if jobs == 1 and timeout is None:
        _run_here(work, store, progress, errors)
        return
    from mklbench.experiments.execution.processes import run_in_workers

    run_in_workers(work, store, jobs, timeout, progress, errors)


def _parallel(jobs: int) -> AbstractContextManager[Any]:
    """Let what data sets compute when they are loaded first use as many processes as the run."""
    if jobs == 1:
        return nullcontext()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where nothing can be written it says that it goes on
        from joblib import parallel_config

    return parallel_config(n_jobs=jobs)


def _distinct(cells: Sequence[Cell], errors: dict[str, str]) -> list[Cell]:
    """Return one cell for each key, that with the most splits, in order; note unusable data."""
    distinct: dict[str, Cell] = {}
    for cell in cells:
        try:
            known = distinct.setdefault(cell.key, cell)
        except InputError as error:  # without its data a cell has no key
            errors[repr(cell.config)] = str(error)
            continue
        if cell.n_splits > known.n_splits:
            distinct[cell.key] = cell
    return list(distinct.values())


def _plan(
    cells: Sequence[Cell], store: Store, jobs: int, errors: dict[str, str]
) -> list[list[Step]]:
    """Return the steps of each cell, having checked what can be checked beforehand."""
    missing: dict[Cell, list[Step]] = {}
    for cell in _distinct(cells, errors):
        store.tidy(cell)
        missing[cell] = missing_steps(cell, store)
    at_once = min(jobs, sum(map(len, missing.values())))
    work: list[list[Step]] = []
    for cell, steps in missing.items():
        if not steps:
            continue
        try:
            cell.check([step.split for step in steps], at_once)
        except InputError as error:
            errors[cell.key] = str(error)
            continue
        work.append(steps)
    return work


def _run_here(
    work: list[list[Step]], store: Store, progress: Progress, errors: dict[str, str]
) -> None:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # so that timings mean the same as in a worker
        for steps in work:
            cell = steps[0].cell
            for step in steps:
                try:
                    take(step, store)
                except StoreError:
                    raise
                except InputError as error:
                    errors[cell.key] = str(error)
                    break
                progress.step_ended(step, record(step, store))
                if step.selects and not is_done(step, store):
                    break  # the splits cannot be run without it
            if cell.key not in errors:
                found = store.read(cell)
                progress.cell_ended(cell, found.status, found.records)


def _result(cell: Cell, store: Store, errors: dict[str, str]) -> CellResult:
    error = errors.get(repr(cell.config))
    if error is not None:
        return CellResult(cell, "missing", [], error)
    found = store.read(cell)
    return CellResult(cell, found.status, found.records, errors.get(cell.key))
