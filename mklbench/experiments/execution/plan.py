"""What of some runs is missing, who takes it, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from mklbench.errors import InputError
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.progress import Progress
from mklbench.experiments.records import RunRecords
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.experiments.store import Store


class Executor(Protocol):
    """Takes steps wherever it has been told to; what has become of them is known by the store.

    A new one is a class with these, and a config ``executor/NAME.yaml`` whose ``_target_`` it is;
    it is made with ``jobs``, ``timeout`` and what else its config says.
    """

    @property
    def at_once(self) -> int:
        """How many steps may be taken on this machine at the same time; 0 where none is."""

    def prepare(self, runs: Sequence[Run], store: Store) -> None:
        """See that steps can be taken at all, before anything of the runs is looked at.

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
            Of one or several runs, the selections of each before its splits.
        store : Store
            Where the results go.
        progress : Progress
            To be told of each step and each run that has ended.

        Returns
        -------
        By run key the sentences of the InputErrors that stopped a run.

        Raises
        ------
        InputError
            If the store cannot be written, or nothing can be started.
        """


def run_all(
    runs: Iterable[Run],
    store: Store,
    jobs: int = 1,
    timeout: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[RunRecords]:
    """Run the splits of `runs` that the store does not have, and return how each run ended.

    One run that cannot run or fails does not stop the others. Several runners may do this with
    one store at once, also on several machines: they share the steps, and each returns when all
    have ended.

    Parameters
    ----------
    runs : iterable of Run
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
    listed = list(runs)
    told = progress or Progress()
    chosen = executor or Local(jobs, timeout)
    errors: dict[str, str] = {}
    store.check()
    chosen.prepare(listed, store)
    distinct = _distinct(listed, errors)
    steps = _missing(distinct, store, chosen.at_once, errors)
    if steps:
        store.check(writable=True)
        described = {step.run: None for step in steps}
        for run in described:
            store.describe(run)  # so that others can tell what is to come
        told.start(steps, sum(run.n_splits for run in distinct))
        try:
            errors |= chosen.run(steps, store, told)
        finally:
            told.stop()
        for run in described:
            if run.key in errors:
                store.remove_description(store.directory(run))
    return [_result(run, store, errors) for run in listed]


def _distinct(runs: Sequence[Run], errors: dict[str, str]) -> list[Run]:
    """Return one run for each key, that with the most splits, in order; note unusable data."""
    distinct: dict[str, Run] = {}
    for run in runs:
        try:
            known = distinct.setdefault(run.key, run)
        except InputError as error:  # without its data a run has no key
            errors[repr(run.config)] = str(error)
            continue
        if run.n_splits > known.n_splits:
            distinct[run.key] = run
    return list(distinct.values())


def _missing(runs: Sequence[Run], store: Store, jobs: int, errors: dict[str, str]) -> list[Step]:
    """Return the steps to take, of runs that have passed what can be checked beforehand."""
    missing = {run: missing_steps(run, store) for run in runs}
    at_once = min(jobs, sum(map(len, missing.values())))  # 0 elsewhere, where memory is asked for
    for run, steps in missing.items():
        try:
            if steps:
                check_run(run, [step.split for step in steps], at_once)
        except InputError as error:
            errors[run.key] = str(error)
    return [step for run, steps in missing.items() if run.key not in errors for step in steps]


def _result(run: Run, store: Store, errors: dict[str, str]) -> RunRecords:
    if (error := errors.get(repr(run.config))) is not None:
        return RunRecords(run, [], error=error)
    return replace(store.read(run), error=errors.get(run.key))
