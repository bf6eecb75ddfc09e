"""The check of all recorded cells that other sources measured: one split of each is run again.

How a rerun compares with its record is for `mklbench.report.check.comparison` to say. What was
found is kept at once (`Confirmed`), so that the check can be interrupted, and does not run again
what it has confirmed.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

# Seconds of work, as they were recorded, after which it is looked whether the time is up.
_BATCH_SECONDS = 20.0
_INTERVAL = 10.0  # seconds between two lines of progress

# Of old "same" was to the digits; what is the same now is so within its stopping rule.
_OUTCOMES = {"same": Outcome.SAME, "within": Outcome.SAME, "moved": Outcome.MOVED}


@dataclass(frozen=True)
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
        When to stop; nothing is begun that would, by its record, take longer. None for no
        limit.
    say : object, default=print
        Told of each number that has moved, and of the progress.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    judge = _Judge(listed, confirmed, say)
    waiting = [item for item in listed if not item.is_confirmed]
    at_once = executor.at_once or len(waiting)  # elsewhere: all of them
    with interruption.temporary_directory("mklbench-check-", scratch) as directory:
        for batch in _batches(waiting, at_once, deadline):
            judge.run(batch, Store(directory), executor)
    return [judge.finding(item) for item in listed]


def _batches(waiting: Sequence[Rerun], jobs: int, deadline: float | None) -> Iterator[list[Rerun]]:
    """Yield so much work at a time that the clock is looked at often; of one data set together."""
    batch: list[Rerun] = []
    for item in waiting:
        in_batch = sum(other.seconds for other in batch)
        if len(batch) >= jobs and in_batch + item.seconds > _BATCH_SECONDS * jobs:
            yield sorted(batch, key=lambda other: other.cell.data)
            batch, in_batch = [], 0.0
        if deadline is not None and time.monotonic() + (in_batch + item.seconds) / jobs > deadline:
            break
        batch.append(item)
    if batch:
        yield sorted(batch, key=lambda other: other.cell.data)


class _Judge:
    """Compares what has been run with what is recorded, says so and keeps it (a `Progress`)."""

    def __init__(self, listed: Sequence[Rerun], confirmed: Confirmed, say: Any) -> None:
        self._confirmed, self._say = confirmed, say
        self._by_key = {item.cell.key: item for item in listed}
        self._findings: dict[str, Finding] = {}
        self._turned: list[tuple[Rerun, str]] = []  # where cross-validation takes another choice
        self._n_waiting = sum(not item.is_confirmed for item in listed)
        self._total = sum(item.seconds for item in listed if not item.is_confirmed)
        self._recorded = 0.0  # seconds that the splits took that have been run again
        self._started = self._said = time.monotonic()

    def run(self, batch: Sequence[Rerun], store: Store, executor: Executor) -> None:
        """Run a batch; whatever ends it, what has been run is judged and kept."""
        errors: dict[str, str] = {}
        steps = []
        executor.prepare([item.cell for item in batch], store)
        for item in batch:
            split = item.record.split
            try:
                check_cell(item.cell, [split], executor.at_once)
            except InputError as error:  # its data are not at hand, most often
                errors[item.cell.key] = str(error)
                continue
            for selected, selection in item.selections.items():
                store.write_selection(item.cell, selected, selection)
            steps.append(Step(item.cell, split))
        errors |= executor.run(steps, store, self)
        for item, turned in self._turned:
            cell, split = item.cell.without_search(item.record.params or {}), item.record.split
            if found := executor.run([Step(cell, split)], store, Silent()):
                errors[item.cell.key] = next(iter(found.values()))
            for record in store.read(cell).records:
                if record.split == split:
                    self._judge(item, record, turned)
        self._turned = []
        for key, sentence in errors.items():
            self._note(key, Finding(self._by_key[key].label, Outcome.NOT_CHECKED, sentence))

    def start(self, steps: Sequence[Step], n_splits: int) -> None: ...

    def step_advanced(self, step: Step, n_done: int, n_fits: int) -> None: ...

    def step_ended(self, step: Step, record: Record | None) -> None:
        item = self._by_key[step.cell.key]
        if record is None:
            return
        if record.is_done and record.params != item.record.params:
            turned = other_choice(record, item.record)
            if is_near_tie(item.cell, record, item.record):
                self._turned.append((item, f"{turned}, which is as good and is compared"))
            else:
                self._keep(item, Outcome.MOVED, turned)
            return
        self._judge(item, record)

    def _judge(self, item: Rerun, record: Record, turned: str = "") -> None:
        if not record.is_done:
            self._note(item.cell.key, Finding(item.label, Outcome.FAILED, record.reason))
            return
        moved = list(differences(item.cell, record, item.record))
        outcome = Outcome.MOVED if moved else Outcome.SAME
        self._keep(item, outcome, "; ".join(filter(None, [*moved, turned])))

    def _keep(self, item: Rerun, outcome: Outcome, detail: str) -> None:
        self._confirmed.add(item.cell.key, _confirmation(item, outcome, detail))
        self._note(item.cell.key, Finding(item.label, outcome, detail))

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None: ...

    def stop(self) -> None: ...

    def finding(self, item: Rerun) -> Finding:
        """Return what is known of a cell: now, from an earlier check, or nothing."""
        known = item.known
        if item.cell.key in self._findings:
            return self._findings[item.cell.key]
        if known is not None:
            return Finding(item.label, _OUTCOMES[known.outcome], known.detail)
        return Finding(item.label, Outcome.NOT_CHECKED, "not run again yet")

    def _note(self, key: str, finding: Finding) -> None:
        self._findings[key] = finding
        self._recorded += self._by_key[key].seconds
        now = time.monotonic()
        if finding.outcome in (Outcome.MOVED, Outcome.FAILED):
            self._say(f"{finding.subject} {finding.outcome}: {finding.detail}")
        elif now - self._said < _INTERVAL:
            return
        self._said = now
        self._say(
            f"{len(self._findings)} of {self._n_waiting} cells run again, about "
            f"{duration(self._seconds_left(now))} left"
        )

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
