"""The check of all recorded cells that other sources measured: one split of each is run again.

How a rerun compares with its record is for `mklbench.report.check.comparison` to say. What was
found is kept at once (`Confirmed`), so that the check can be interrupted, and does not run again
what it has confirmed.
"""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklbench import interruption
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.cell_checks import check_cell
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.progress import Silent, duration
from mklbench.experiments.provenance import blas_kernels, cpu_model
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import RecordFile, record_path, split_seconds
from mklbench.experiments.store import Store
from mklbench.report.analysis.confirmed import Confirmation, Confirmed, numbers_digest
from mklbench.report.analysis.places import CellFinder
from mklbench.report.check.comparison import Outcome, differences, is_near_tie, other_choice
from mklbench.report.check.published import Finding
from mklbench.report.layout.origins import Origin, origin
from mklbench.report.table.paper_table import PaperTable

# Seconds after which it is looked whether the time is up; less where little is left of it.
_BATCH_SECONDS = 60.0
# The same of the first batch, which may be on a machine that takes many times as long.
_FIRST_SECONDS = 10.0
# What a split takes beside the seconds of its record, on the machines of the records.
_EACH_SECONDS = 0.1
# What must be left of the time for a split that is expected to take 1.
_MARGIN = 1.25
_INTERVAL = 10.0  # seconds between two lines of progress

# Of old "same" was to the digits; what is the same now is so within its stopping rule.
_OUTCOMES = {"same": Outcome.SAME, "within": Outcome.SAME, "moved": Outcome.MOVED}


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
    known : Confirmation or None
        What an earlier check has found of it by the sources at hand, if there was one.
    """

    label: str
    cell: Cell
    record: Record
    selections: Mapping[int, Selection]
    known: Confirmation | None

    @property
    def seconds(self) -> float:
        """Seconds that the split took when it was recorded."""
        return split_seconds(self.record)

    @property
    def is_confirmed(self) -> bool:
        """Whether it need not be run."""
        return self.known is not None and self.known.outcome != "moved"


def reruns(tables: Iterable[PaperTable], records: Path, confirmed: Confirmed) -> list[Rerun]:
    """Return the cheapest recorded split of each cell that other sources measured, cheapest first.

    Parameters
    ----------
    tables : iterable of PaperTable
        Whose cells are looked at; one that stands in several of them comes once.
    records : Path
        Directory of the recorded splits.
    confirmed : Confirmed
        What was found before.
    """
    found: dict[str, Rerun] = {}
    for table in tables:
        path = record_path(records, table.name)
        if not path.is_file():
            continue
        source = RecordFile(path)
        finder = CellFinder(source)
        for slot in table.slots():
            cell = finder.cell(slot)
            recorded = source.read(cell)
            done = recorded.done
            if cell.key in found or not done or origin(done, cell.sources) is Origin.AT_HAND:
                continue
            known = confirmed[cell.key]
            if known is not None and not known.holds_for(done, cell.sources):
                known = None
            found[cell.key] = Rerun(
                label=f"{table.name}, {' '.join(slot.place)}",
                cell=cell,
                record=min(done, key=split_seconds),
                selections=recorded.selections,
                known=known,
            )
    return sorted(found.values(), key=lambda item: item.seconds)


def check_all(
    listed: Sequence[Rerun],
    confirmed: Confirmed,
    *,
    executor: Executor,
    scratch: str | None = None,
    seconds: float | None = None,
    say: Any = print,
) -> list[Finding]:
    """Run again what is not confirmed, and return what is known of every cell of `listed`.

    Parameters
    ----------
    listed : sequence of Rerun
        As from `reruns`.
    confirmed : Confirmed
        Where it is kept.
    executor : Executor
        Takes the steps.
    scratch : str or None, default=None
        Where the temporary store is made; where the system has its temporary files if not given.
    seconds : float or None, default=None
        When to stop; nothing is begun that would take longer. None for no limit.
    say : object, default=print
        Told of each number that has moved, and of the progress.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    waiting = [item for item in listed if not item.is_confirmed]
    check = _Check(waiting, confirmed, say)
    judge = Judge(waiting, check.found)
    at_once = executor.at_once or len(waiting)  # elsewhere: all of them
    with interruption.temporary_directory("mklbench-check-", scratch) as directory:
        for batch in batches(waiting, at_once, deadline):
            judge.run(batch, Store(directory), executor)
    return [check.finding(item) for item in listed]


def batches(
    waiting: Sequence[Rerun],
    jobs: int,
    deadline: float | None,
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
    deadline : float or None
        By `clock`; None for no limit.
    clock : callable, default=time.monotonic
        Returns seconds.
    """
    pace, is_measured = 1.0, False
    while waiting:
        left = math.inf if deadline is None else deadline - clock()
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
        if record is not None and record.is_done and record.params != item.record.params:
            turned = other_choice(record, item.record)
            if is_near_tie(item.cell, record, item.record):
                self._turned[item] = f"{turned}, which is as good and is compared"
            else:
                self._found(item, Finding(item.label, Outcome.MOVED, turned))
        elif record is not None:
            self._compare(item, record)

    def _compare(self, item: Rerun, record: Record, turned: str = "") -> None:
        if not record.is_done:
            self._found(item, Finding(item.label, Outcome.FAILED, record.reason))
            return
        moved = list(differences(item.cell, record, item.record))
        outcome = Outcome.MOVED if moved else Outcome.SAME
        detail = "; ".join(filter(None, [*moved, turned]))
        self._found(item, Finding(item.label, outcome, detail))


class _Check:
    """Keeps what is found of each cell, and says how far the check is."""

    def __init__(self, waiting: Sequence[Rerun], confirmed: Confirmed, say: Any) -> None:
        self._confirmed, self._say = confirmed, say
        self._findings: dict[str, Finding] = {}
        self._n_waiting = len(waiting)
        self._total = sum(item.seconds for item in waiting)
        self._recorded = 0.0  # seconds that the splits took that have been run again
        self._started = self._said = time.monotonic()

    def found(self, item: Rerun, finding: Finding) -> None:
        """Take note of how a rerun ended."""
        if finding.outcome in (Outcome.SAME, Outcome.MOVED):
            confirmation = _confirmation(item, finding.outcome, finding.detail)
            self._confirmed.add(item.cell.key, confirmation)
        self._findings[item.cell.key] = finding
        self._recorded += item.seconds
        now = time.monotonic()
        if finding.outcome in (Outcome.MOVED, Outcome.FAILED):
            self._say(f"{finding.subject} {finding.outcome}: {finding.detail}")
        elif now - self._said < _INTERVAL:
            return
        self._said = now
        self._say(
            f"{len(self._findings)} of {self._n_waiting} runs repeated, about "
            f"{duration(self._seconds_left(now))} left"
        )

    def finding(self, item: Rerun) -> Finding:
        """Return what is known of a cell: now, from an earlier check, or nothing."""
        known = item.known
        if item.cell.key in self._findings:
            return self._findings[item.cell.key]
        if known is not None:
            return Finding(item.label, _OUTCOMES[known.outcome], known.detail)
        return Finding(item.label, Outcome.NOT_CHECKED, "not run again yet")

    def _seconds_left(self, now: float) -> float:
        """Take each cell for what it took when it was recorded, and for what comes on top here."""
        on_top = max(now - self._started - self._recorded, 0.0) / len(self._findings)
        n_left = self._n_waiting - len(self._findings)
        return max(self._total - self._recorded, 0.0) + n_left * on_top


def describe_plan(listed: Sequence[Rerun], jobs: int) -> str:
    """Say how much there is to run again, and how long that may take."""
    waiting = [item for item in listed if not item.is_confirmed]
    seconds = sum(item.seconds for item in waiting)
    text = f"{len(listed)} cells were not measured by the sources at hand, as far as is recorded"
    if len(waiting) < len(listed):
        text += f"; {len(listed) - len(waiting)} of them are confirmed"
    if not waiting:
        return f"{text}."
    text += f"; one split of {len(waiting)} is to be run again: about {duration(seconds)} on "
    return text + ("one core." if jobs == 1 else f"one core, {duration(seconds / jobs)} on {jobs}.")


def describe(findings: Sequence[Finding]) -> str:
    """Return the conclusion, with every cell that is not the same, and why."""
    lines = unexpected(findings)
    outcomes = [finding.outcome for finding in findings]
    counts = ", ".join(f"{outcomes.count(o)} {o}" for o in Outcome if o in outcomes)
    ending = "passed" if passed(findings) else "failed"
    lines.append(f"The check {ending}: {counts or 'nothing to check'}.")
    if Outcome.MOVED in outcomes:
        lines.append(
            "Where a number was meant to move, raise VERSION of its algorithm or kernel, and "
            "mklbench reproduce measures it again."
        )
    return "\n".join(lines)


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


def _confirmation(item: Rerun, outcome: Outcome, detail: str) -> Confirmation:
    return Confirmation(
        split=item.record.split,
        numbers=numbers_digest(item.record),
        sources=item.cell.sources,
        outcome="moved" if outcome is Outcome.MOVED else "within",
        detail=detail,
        machine=f"{cpu_model()}, BLAS kernels for {blas_kernels()}",
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )
