"""Recorded splits are run again in a store, and each is compared with its record.

How the two compare is for `mklbench.report.check.comparison` to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.cell_checks import check_cell
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import split_seconds
from mklbench.experiments.store import Store
from mklbench.report.check.comparison import Finding, Outcome, choice, judged

# Seconds after which it is looked whether the time is up; less where little is left of it.
_BATCH_SECONDS = 60.0
# The same of the first batch, which may be on a machine that takes many times as long.
_FIRST_SECONDS = 10.0
# What a split takes beside the seconds of its record, on the machines of the records.
_EACH_SECONDS = 0.1
# What must be left of the time for a split that is expected to take 1.
_MARGIN = 1.25


@dataclass(frozen=True, eq=False)
class Rerun:
    """One recorded split that is to be run again.

    Attributes
    ----------
    label : str
        What it is called in its finding.
    cell, record : Cell or Record
        The run, and the recorded split.
    selections : mapping of int to Selection
        The recorded selections, where the splits of the run share them and they are not to be
        made again.
    """

    label: str
    cell: Cell
    record: Record
    selections: Mapping[int, Selection] = field(default_factory=dict)

    @property
    def split(self) -> int:
        """Its number."""
        return self.record.split

    @property
    def seconds(self) -> float:
        """Seconds that the split took when it was recorded."""
        return split_seconds(self.record)


def run_again(
    items: Sequence[Rerun],
    store: Store,
    executor: Executor,
    progress: Progress | None = None,
    refused: Outcome = Outcome.FAILED,
) -> dict[Rerun, Finding]:
    """Run splits that the store does not have, and compare each with its record.

    Where cross-validation takes another of two candidates that are as good, the split is run at
    the recorded one and compared there.

    Parameters
    ----------
    items : sequence of Rerun
        The splits.
    store : Store
        Where they are and go.
    executor : Executor
        Takes the steps.
    progress : Progress or None, default=None
        Told of every step.
    refused : Outcome, default=Outcome.FAILED
        How a run ends that an InputError stops.
    """
    errors = _run(items, store, executor, progress or Progress())
    findings, turned = {}, {}
    for item in items:
        now = _ended(item, store, errors)
        if isinstance(now, str):
            outcome = refused if item.cell.key in errors else Outcome.FAILED
            findings[item] = Finding(item.label, outcome, now)
            continue
        is_as_good, text = choice(item.cell, now, item.record)
        if not is_as_good:
            findings[item] = Finding(item.label, Outcome.MOVED, text)
        elif text:
            at_recorded = item.cell.without_search(item.record.params or {})
            turned[item] = Rerun(item.label, at_recorded, item.record), text
        else:
            findings[item] = Finding(item.label, *judged(item.cell, now, item.record))
    errors = _run([fixed for fixed, _ in turned.values()], store, executor, Progress())
    for item, (fixed, text) in turned.items():
        now = _ended(fixed, store, errors)
        ended = (
            (Outcome.FAILED, now)
            if isinstance(now, str)
            else judged(item.cell, now, item.record, text)
        )
        findings[item] = Finding(item.label, *ended)
    return findings


def _run(
    items: Sequence[Rerun], store: Store, executor: Executor, progress: Progress
) -> dict[str, str]:
    """Run what the store does not have; return by key the sentences of what was refused."""
    missing = [item for item in items if not store.is_done(item.cell, item.split)]
    if not missing:
        return {}
    executor.prepare([item.cell for item in missing], store)
    errors: dict[str, str] = {}
    steps: list[Step] = []
    for item in missing:
        try:
            check_cell(item.cell, [item.split], executor.at_once)
        except InputError as error:
            errors[item.cell.key] = str(error)
            continue
        for selected, selection in item.selections.items():
            store.write_selection(item.cell, selected, selection)
        found = missing_steps(item.cell, store)
        steps += [step for step in found if step.selects or step.split == item.split]
    progress.start(steps, len(missing))
    try:
        errors |= executor.run(list(dict.fromkeys(steps)), store, progress)
    finally:
        progress.stop()
    return errors


def _ended(item: Rerun, store: Store, errors: Mapping[str, str]) -> Record | str:
    """Return the finished split that the store has now, or why there is none."""
    if item.cell.key in errors:
        return errors[item.cell.key]
    record = store.record(item.cell, item.split)
    if record is None:
        return "it ended without a record"
    return record if record.is_done else record.reason


def batches(
    waiting: Sequence[Rerun],
    jobs: int,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[list[Rerun]]:
    """Yield so much work at a time that the clock is looked at often; of one data set together.

    Each batch tells how long work takes here, measured against its records. What would not end
    before the deadline is passed over for what would.

    Parameters
    ----------
    waiting : sequence of Rerun
        In the order in which they are to be run.
    jobs : int
        How many are run at once.
    deadline : float
        By `clock`.
    clock : callable, default=time.monotonic
        Returns seconds.
    """
    pace, is_measured = 1.0, False
    while waiting:
        left, began = deadline - clock(), clock()
        limit = min(_BATCH_SECONDS, left / 3 if is_measured else min(_FIRST_SECONDS, left / 10))
        batch: list[Rerun] = []
        others: list[Rerun] = []
        expected = 0.0
        for item in waiting:
            seconds = pace * (item.seconds + _EACH_SECONDS)
            is_full = len(batch) >= jobs and expected + seconds / jobs > limit
            if is_full or _MARGIN * (expected + seconds) > left:
                others.append(item)
            else:
                batch.append(item)
                expected += seconds / jobs
        if not batch:
            break
        waiting = others
        yield sorted(batch, key=lambda item: item.cell.data)
        pace *= ((clock() - began) / expected) ** (0.5 if is_measured else 1.0)
        is_measured = True
