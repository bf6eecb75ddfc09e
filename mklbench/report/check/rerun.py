"""Recorded splits run again: in batches that fit into a time, and each judged beside its record.

How a rerun compares with its record is for `mklbench.report.check.comparison` to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.cell_checks import check_cell
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.progress import Silent
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import split_seconds
from mklbench.experiments.store import Store
from mklbench.report.check.comparison import Outcome, choice, judged
from mklbench.report.check.published import Finding

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
        Table and place of the cell.
    cell, record : Cell or Record
        The cell, and the recorded split.
    selections : mapping of int to Selection
        The recorded selections, where the splits of the cell share them.
    """

    label: str
    cell: Cell
    record: Record
    selections: Mapping[int, Selection]

    @property
    def seconds(self) -> float:
        """Seconds that the split took when it was recorded."""
        return split_seconds(self.record)


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
        left = deadline - clock()
        limit = min(_BATCH_SECONDS, left / 3 if is_measured else min(_FIRST_SECONDS, left / 10))
        batch: list[Rerun] = []
        others: list[Rerun] = []
        expected = 0.0
        for at, item in enumerate(waiting):
            seconds = pace * (item.seconds + _EACH_SECONDS)
            if _MARGIN * (expected + seconds) > left:
                others.append(item)
                continue
            if len(batch) >= jobs and expected + seconds / jobs > limit:
                others += waiting[at:]
                break
            batch.append(item)
            expected += seconds / jobs
        if not batch:
            break
        waiting, began = others, clock()
        yield sorted(batch, key=lambda item: item.cell.data)
        pace *= ((clock() - began) / expected) ** (0.5 if is_measured else 1.0)
        is_measured = True


class Judge(Silent):
    """Runs splits again and compares what they give with what is recorded.

    Parameters
    ----------
    listed : sequence of Rerun
        What may be run.
    found : callable
        Told of each how it ended.
    """

    def __init__(self, listed: Iterable[Rerun], found: Callable[[Rerun, Finding], object]) -> None:
        super().__init__()
        self._found = found
        self._items = {(item.cell.key, item.record.split): item for item in listed}
        self._turned: dict[Rerun, str] = {}  # where cross-validation takes another choice

    def run(self, batch: Sequence[Rerun], store: Store, executor: Executor) -> None:
        """Run a batch; whatever ends it, what has been run is judged."""
        errors: dict[str, str] = {}
        steps = []
        executor.prepare([item.cell for item in batch], store)
        for item in batch:
            try:
                check_cell(item.cell, [item.record.split], executor.at_once)
            except InputError as error:  # its data are not at hand, most often
                errors[item.cell.key] = str(error)
                continue
            for selected, selection in item.selections.items():
                store.write_selection(item.cell, selected, selection)
            steps.append(Step(item.cell, item.record.split))
        errors |= executor.run(steps, store, self)
        errors |= self.run_turned(store, executor)
        for item in batch:
            if item.cell.key in errors:
                sentence = errors[item.cell.key]
                self._found(item, Finding(item.label, Outcome.NOT_CHECKED, sentence))

    def run_turned(self, store: Store, executor: Executor) -> dict[str, str]:
        """Run what took another choice, as good, at the recorded one; return what was refused."""
        steps = {
            Step(item.cell.without_search(item.record.params or {}), item.record.split): item
            for item in self._turned
        }
        missing = [step for step in steps if not store.is_done(step.cell, step.split)]
        refused = executor.run(missing, store, Silent()) if missing else {}
        for step, item in steps.items():
            record = store.record(step.cell, step.split)
            if step.cell.key not in refused and record is not None:
                self._compare(item, record, self._turned[item])
        self._turned = {}
        return {
            item.cell.key: refused[step.cell.key]
            for step, item in steps.items()
            if step.cell.key in refused
        }

    def step_ended(self, step: Step, record: Record | None) -> None:
        """Judge the record that a split has led to."""
        item = self._items[step.cell.key, step.split]
        if record is None:
            return
        is_as_good, turned = True, ""
        if record.is_done:
            is_as_good, turned = choice(item.cell, record, item.record)
        if not is_as_good:
            self._found(item, Finding(item.label, Outcome.MOVED, turned))
        elif turned:
            self._turned[item] = turned
        else:
            self._compare(item, record)

    def _compare(self, item: Rerun, record: Record, turned: str = "") -> None:
        if not record.is_done:
            self._found(item, Finding(item.label, Outcome.FAILED, record.reason))
            return
        self._found(item, Finding(item.label, *judged(item.cell, record, item.record, turned)))


def unexpected(findings: Sequence[Finding]) -> list[str]:
    """Return a line for all that could not be run, failed or moved for one reason."""
    lines = []
    for outcome in (Outcome.NOT_CHECKED, Outcome.FAILED, Outcome.MOVED):
        by_detail: dict[str, list[str]] = {}
        for finding in findings:
            if finding.outcome is outcome:
                by_detail.setdefault(finding.detail, []).append(finding.subject)
        for detail, subjects in by_detail.items():
            shown = "; ".join(subjects[:3]) + (
                f" and {len(subjects) - 3} more" if len(subjects) > 3 else ""
            )
            lines.append(f"{outcome}: {shown}: {detail}")
    return lines


def passed(findings: Iterable[Finding]) -> bool:
    """Tell whether no number moved and no rerun failed."""
    return all(f.outcome not in (Outcome.MOVED, Outcome.FAILED) for f in findings)
