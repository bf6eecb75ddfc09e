"""What is left of a run whose steps are taken elsewhere: what can be submitted, what is under way.

The driver asks it what to submit, and tells it what has become of jobs. That a step has ended is
known by the store alone, whoever has ended it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.chunks import Demand
from mklbench.experiments.execution.claims import claim_path
from mklbench.experiments.execution.estimates import Estimates
from mklbench.experiments.execution.journal import Job
from mklbench.experiments.execution.steps import Step, give_up, is_done, record
from mklbench.experiments.files import stamp
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Record
from mklbench.experiments.records import split_seconds
from mklbench.experiments.store import Store


@dataclass
class Item:
    """A step that has not ended.

    Attributes
    ----------
    step : Step
        The step.
    before : tuple
        Of the files that tell how it has ended, as they were when the run began.
    job : str
        Name of the job that has it; empty of one to be submitted.
    not_before : float
        When it may be submitted, by the clock of the driver.
    failures : int
        How often it was begun in vain.
    times_memory, times_seconds : float
        What its needs are multiplied by: 2 after it has run out of what it had.
    """

    step: Step
    before: tuple[tuple[int, int] | None, ...]
    job: str = ""
    not_before: float = 0.0
    failures: int = 0
    times_memory: float = 1.0
    times_seconds: float = 1.0


@dataclass
class Outstanding:
    """The steps of a run that have not ended.

    The splits of a cell wait for its selections.

    Parameters
    ----------
    steps : sequence of Step
        Those of the run.
    store : Store
        Where results come to.
    progress : Progress
        Told of each step and cell that has ended.
    estimates : Estimates
        What steps need.
    """

    steps: Sequence[Step]
    store: Store
    progress: Progress
    estimates: Estimates
    errors: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A selection that fails is told in the record of the first split that waits for it.
        waiting = (step for step in reversed(self.steps) if not step.selects)
        self._told_in = {step.cell.key: step for step in waiting}
        self._items = {_place(step): Item(step, self._stamps(step)) for step in self.steps}
        self._n_left = Counter(step.cell.key for step in self.steps)
        self._n_selecting = Counter(step.cell.key for step in self.steps if step.selects)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(list(self._items.values()))

    def of_job(self, job: Job) -> dict[int, Item]:
        """Return by position the steps of a job that have not ended and are not another job's."""
        found = ((number, self._items.get(place)) for number, place in enumerate(job.steps))
        return {
            number: item
            for number, item in found
            if item is not None and item.job in ("", job.name)
        }

    def demands(self, now: float) -> list[Demand]:
        """Return what can be submitted, and what it needs."""
        return [
            Demand(
                item.step,
                self.estimates.seconds(item.step),
                self.estimates.bytes(item.step),
                item.times_memory,
                item.times_seconds,
            )
            for item in self._items.values()
            if not item.job and item.not_before <= now and self._can_begin(item.step)
        ]

    def hand_over(self, job: Job) -> None:
        """Take note that a job has its steps."""
        for place in job.steps:
            if place in self._items:
                self._items[place].job = job.name

    def look(self, items: Iterable[Item] | None = None) -> int:
        """Look in the store for steps that have ended; return how many have.

        One directory is listed for each cell, and only what is new in it is read.
        """
        looked = list(self._items.values()) if items is None else list(items)
        by_cell: dict[str, list[Item]] = defaultdict(list)
        for item in looked:
            by_cell[item.step.cell.key].append(item)
        n_ended = 0
        for listed in by_cell.values():
            names = _names(self.store, listed[0].step.cell)
            for item in listed:
                there = any(path.name in names for path in self._paths(item.step))
                if there and self._stamps(item.step) != item.before:
                    n_ended += self._look_at(item)
        return n_ended

    def claimed(self) -> list[Item]:
        """Return the steps that somebody has in hand, or had; one listing for each cell."""
        cells = {item.step.cell.key: item.step.cell for item in self._items.values()}
        names = {key: _names(self.store, cell) for key, cell in cells.items()}
        return [
            item
            for item in self._items.values()
            if claim_path(self.store, item.step).name in names[item.step.cell.key]
        ]

    def fail(self, item: Item, sentence: str) -> None:
        """Record a step as failed."""
        give_up(item.step, self.store, "failed", sentence)
        self._account(item)

    def refuse(self, cell: Cell, sentence: str) -> None:
        """Drop what is left of a cell, for what the user has to mend."""
        self.errors.setdefault(cell.key, sentence)
        self._abandon(cell)

    def _can_begin(self, step: Step) -> bool:
        return step.selects or not self._n_selecting[step.cell.key]

    def _look_at(self, item: Item) -> bool:
        """Account for a step whose file has changed, if that means that it has ended."""
        if not is_done(item.step, self.store) and record(item.step, self.store) is None:
            return False
        self._account(item)
        return True

    def _account(self, item: Item) -> None:
        step, cell = item.step, item.step.cell
        if self._items.pop(_place(step), None) is None:
            return
        self._n_left[cell.key] -= 1
        self._n_selecting[cell.key] -= step.selects
        found = record(step, self.store)
        self._learn(step, found)
        if step.selects and not is_done(step, self.store):
            self._abandon(cell)  # the splits cannot be run without it
        if cell.key in self.errors:
            return
        self.progress.step_ended(step, found)
        if self._n_left[cell.key] == 0:
            read = self.store.read(cell)
            self.progress.cell_ended(cell, read.status, read.records)

    def _learn(self, step: Step, found: Record | None) -> None:
        if step.selects:
            chosen = self.store.selections(step.cell).get(step.split)
            if chosen is not None:
                self.estimates.learn(step, chosen.seconds)
        elif found is not None and found.is_done:
            self.estimates.learn(step, split_seconds(found))

    def _abandon(self, cell: Cell) -> None:
        for item in list(self._items.values()):
            if item.step.cell.key == cell.key:
                del self._items[_place(item.step)]
                self._n_left[cell.key] -= 1
                self._n_selecting[cell.key] -= item.step.selects

    def _stamps(self, step: Step) -> tuple[tuple[int, int] | None, ...]:
        return tuple(map(stamp, self._paths(step)))

    def _paths(self, step: Step) -> list[Path]:
        """Return the files that tell that a step has ended: by its result, or by its failure."""
        store, cell = self.store, step.cell
        if not step.selects:
            return [store.record_path(cell, step.split)]
        told_in = self._told_in.get(cell.key)
        failure = [] if told_in is None else [store.record_path(cell, told_in.split)]
        return [store.selection_path(cell, step.split), *failure]


def _place(step: Step) -> tuple[str, int, bool]:
    return step.cell.key, step.split, step.selects


def _names(store: Store, cell: Cell) -> set[str]:
    try:
        return set(os.listdir(store.directory(cell)))
    except OSError:
        return set()
