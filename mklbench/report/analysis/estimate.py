"""What is still to be run, and how long that may take, by what was measured of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from mklbench.errors import InputError
from mklbench.experiments.progress import duration
from mklbench.experiments.record import Record
from mklbench.experiments.records import RecordFile, RecordSource, RunRecords, split_seconds
from mklbench.experiments.run import Run


@dataclass(frozen=True)
class Work:
    """What is missing of one run; `seconds` is None where nothing was measured to go by.

    `n_missing` are its splits, `n_selections` the selections of hyperparameters that come before.
    """

    run: Run
    n_missing: int
    seconds: float | None
    problem: str = ""
    n_selections: int = 0


def outstanding_work(
    runs: Iterable[Run], store: RecordSource, recorded: Sequence[RecordFile]
) -> list[Work]:
    """Return the work on every distinct run, finished ones included.

    Parameters
    ----------
    runs : iterable of Run
        Of the tables; one that stands in several of them is counted once.
    store : RecordSource
        Where finished splits are looked up.
    recorded : sequence of RecordFile
        Where to look for times of runs that the store has not.
    """
    work: dict[str, Work] = {}
    for run in runs:
        before = (source.read(run).records for source in recorded)
        try:
            if run.key not in work:
                work[run.key] = _work(run, store.read(run), before)
        except InputError as error:  # without its data a run may have no key
            work[repr(run.config)] = Work(run, run.n_splits, None, str(error))
    return list(work.values())


def describe_work(work: Sequence[Work], jobs: int = 1) -> str:
    """Return a table of the outstanding work and its sum, for a terminal."""
    from tabulate import tabulate

    rows = [
        [
            item.run.label,
            f"{item.n_missing}/{item.run.n_splits}",
            f"{item.n_selections}/{len(item.run.selection_splits)}" if item.n_selections else "",
            estimate_text(item),
        ]
        for item in work
    ]
    headings = ["run", "missing splits", "selections", "estimate"]
    n_missing = sum(item.n_missing for item in work)
    known = math.fsum(item.seconds for item in work if item.seconds is not None)
    n_unknown = sum(item.seconds is None for item in work)
    total = f"{len(work)} runs, {n_missing} splits to run"
    if n_unknown < len(work):
        total += f", about {duration(known)} on one core"
        total += f" or {duration(known / jobs)} on {jobs}" if jobs > 1 else ""
    if n_unknown:
        total += f", {n_unknown} runs whose time is not known"
    return f"{tabulate(rows, headings, disable_numparse=True)}\n\n{total}."


def _work(run: Run, found: RunRecords, before: Iterable[list[Record]]) -> Work:
    n_missing = len(found.missing)
    if n_missing == 0:
        return Work(run, 0, 0.0)
    n_selections = len(found.missing_selections)
    for records in itertools.chain([found.records], before):
        done = [record for record in records if record.is_done]
        shared = (selection for r in done for selection in r.shared_selections.values())
        selections = [selection.seconds for selection in shared]
        if done and (selections or not n_selections):
            seconds = n_missing * fmean(map(split_seconds, done))
            seconds += n_selections * fmean(selections or [0.0])
            return Work(run, n_missing, seconds, n_selections=n_selections)
    return Work(run, n_missing, None, n_selections=n_selections)


def estimate_text(item: Work) -> str:
    """Return the time of one run's work for a terminal, or why it is not known."""
    if item.problem:
        return item.problem
    return "not known" if item.seconds is None else duration(item.seconds)
