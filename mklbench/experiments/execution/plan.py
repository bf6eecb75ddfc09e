"""What of some cells is missing, who takes it, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.cell_checks import check_cell
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.progress import Progress
from mklbench.experiments.records import CellRecords
from mklbench.experiments.store import Store


class Executor(Protocol):
    """Takes steps wherever it has been told to; what has become of them is known by the store.

    A new one is a class with these, and a config ``executor/NAME.yaml`` whose ``_target_`` it is;
    it is made with ``jobs``, ``timeout`` and what else its config says.
    """

    @property
    def at_once(self) -> int:
        """How many steps may be taken on this machine at the same time; 0 where none is."""

    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        """See that steps can be taken at all, before anything of the cells is looked at.

        Raises
        ------
        InputError
            If they cannot.
        """

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Return when every one of `steps` has ended, here or by another runner on the store.

        Whoever takes a step locks it first (`mklbench.experiments.execution.lock`), wherever that
        is; `Pending` does so, and knows what is left.

        Parameters
        ----------
        steps : sequence of Step
            Of one or several cells, the selections of each before its splits.
        store : Store
            Where the results go.
        progress : Progress
            To be told of each step and each cell that has ended.

        Returns
        -------
        By cell key the sentences of the InputErrors that stopped a cell.

        Raises
        ------
        InputError
            If the store cannot be written, or nothing can be started.
        """


def run_cells(
    cells: Iterable[Cell],
    store: Store,
    jobs: int = 1,
    timeout: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[CellRecords]:
    """Run the splits of `cells` that the store does not have, and return how each cell ended.

    One cell that cannot run or fails does not stop the others. Several runners may do this with
    one store at once, also on several machines: they share the steps, and each returns when all
    have ended.

    Parameters
    ----------
    cells : iterable of Cell
        What to run; of several with one key, the one with the most splits stands for all.
    store : Store
        Where the records are and go.
    jobs, timeout : int or float or None
        Of the local executor, see `Local`.
    progress : Progress or None, default=None
        Told of every step; silent if not given.
    executor : Executor or None, default=None
        Takes the steps in place of the local one.

    Raises
    ------
    InputError
        If the store is no directory or cannot be written.
    KeyboardInterrupt
        On Ctrl-C; finished splits are in the store.
    """
    listed = list(cells)
    told = progress or Progress()
    chosen = executor or Local(jobs, timeout)
    errors: dict[str, str] = {}
    store.check()
    chosen.prepare(listed, store)
    work = _plan(listed, store, chosen.at_once, errors)
    if work:
        n_splits = sum(cell.n_splits for cell in _distinct(listed, errors))
        errors |= _run(work, n_splits, store, chosen, told)
    return [_result(cell, store, errors) for cell in listed]


def _run(
    work: dict[Cell, list[Step]],
    n_splits: int,
    store: Store,
    executor: Executor,
    progress: Progress,
) -> dict[str, str]:
    store.check_writable()
    for cell in work:
        store.describe(cell)  # so that others can tell what is to come
    steps = [step for listed in work.values() for step in listed]
    progress.start(steps, n_splits)
    try:
        errors = executor.run(steps, store, progress)
    finally:
        progress.stop()
    for cell in work:
        if cell.key in errors:
            store.remove_description(cell)
    return errors


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
) -> dict[Cell, list[Step]]:
    """Return the steps of each cell that has any, having checked what can be checked beforehand."""
    missing: dict[Cell, list[Step]] = {}
    for cell in _distinct(cells, errors):
        missing[cell] = missing_steps(cell, store)
    at_once = min(jobs, sum(map(len, missing.values())))  # 0 elsewhere, where memory is asked for
    work: dict[Cell, list[Step]] = {}
    for cell, steps in missing.items():
        if not steps:
            continue
        try:
            check_cell(cell, [step.split for step in steps], at_once)
        except InputError as error:
            errors[cell.key] = str(error)
            continue
        work[cell] = steps
    return work


def _result(cell: Cell, store: Store, errors: dict[str, str]) -> CellRecords:
    error = errors.get(repr(cell.config))
    if error is not None:
        return CellRecords(cell, [], error=error)
    return replace(store.read(cell), error=errors.get(cell.key))
