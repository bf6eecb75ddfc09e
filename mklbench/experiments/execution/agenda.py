"""What is left of a run: which step can be begun, which is in hand, here or elsewhere.

Every executor asks its agenda for steps and tells it how they ended. Other runners may work on the
same store; what they do is known by the store alone, and counts as if it had been done here.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence

from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.claims import Claims
from mklbench.experiments.execution.steps import Step, is_done, record
from mklbench.experiments.files import stamp
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store

# Seconds after which it is looked again whether a step that another runner has in hand has ended.
LOOK_AGAIN = 0.5

_Stamp = tuple[int, int] | None


class Agenda:
    """The steps of a run that have not ended.

    The splits of a cell wait for its selections. A step that fails has ended; what another runner
    records of one counts from when the agenda was made.

    Parameters
    ----------
    steps : sequence of Step
        In the order in which they are to be begun, the selections of a cell before its splits.
    store : Store
        Where the results are.
    progress : Progress
        Told of each step and cell that has ended.
    claims : Claims
        Of this runner.

    Attributes
    ----------
    errors : dict of str to str
        By cell key the sentences of the InputErrors that stopped a cell.
    """

    def __init__(
        self, steps: Sequence[Step], store: Store, progress: Progress, claims: Claims
    ) -> None:
        self._store, self._progress, self._claims = store, progress, claims
        self._waiting = OrderedDict.fromkeys(steps, 0.0)  # when to look at each next
        self._n_left = Counter(step.cell.key for step in steps)
        self._n_selecting = Counter(step.cell.key for step in steps if step.selects)
        # A selection that fails is told in the record of the first split that waits for it.
        self._told_in = {step.cell.key: step for step in reversed(steps) if not step.selects}
        self._before = {step: self._stamp(step) for step in steps}
        self.errors: dict[str, str] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no step is left to be begun, here or elsewhere."""
        return not self._waiting

    def __contains__(self, step: Step) -> bool:
        return step in self._waiting

    def ready(self) -> Iterator[Step]:
        """Yield the steps that can be begun: splits wait for the selections of their cell."""
        for step in self._waiting:
            if step.selects or not self._n_selecting[step.cell.key]:
                yield step

    def look(self, steps: Sequence[Step] | None = None) -> list[tuple[Step, Record]]:
        """Take note of the steps that others have ended; return those that led to a record.

        Parameters
        ----------
        steps : sequence of Step or None, default=None
            Where to look; None is at all that have not ended.
        """
        ended = []
        for step in list(self._waiting) if steps is None else steps:
            if step in self and self._has_ended(step):
                found = self._account(step)
                if found is not None:
                    ended.append((step, found))
        return ended

    def begin(self) -> Step | None:
        """Claim the first step that nobody has in hand; None if there is none just now.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        now = time.monotonic()
        while (step := self._first(now)) is not None:
            self._waiting[step] = now + LOOK_AGAIN
            if self._has_ended(step):
                self._account(step)
            elif self._claims.take(step):
                if not self._has_ended(step):  # between the look and the claim
                    del self._waiting[step]
                    return step
                self._claims.release(step)
                self._account(step)
        return None

    def begin_or_wait(self) -> Step | None:
        """Claim a step as soon as there is one; None when all have ended."""
        while not self.is_empty:
            if (step := self.begin()) is not None:
                return step
            if not self.is_empty:
                time.sleep(LOOK_AGAIN)
        return None

    def advance(self, step: Step, n_done: int, n_fits: int) -> None:
        """Take note that the search of a step in hand has done so many of its fits."""
        self._progress.step_advanced(step, n_done, n_fits)

    def end(self, step: Step) -> None:
        """Take note that a step that was begun here has ended, in whatever way."""
        self._claims.release(step)
        self._account(step)

    def refuse(self, step: Step, sentence: str) -> None:
        """Take note that the cell of a step cannot be run, for what the user has to mend."""
        self.errors.setdefault(step.cell.key, sentence)
        self.abandon(step.cell)
        self.end(step)

    def abandon(self, cell: Cell) -> None:
        """Drop what is left of a cell."""
        for step in [step for step in self._waiting if step.cell.key == cell.key]:
            del self._waiting[step]
            self._n_left[cell.key] -= 1
            self._n_selecting[cell.key] -= step.selects

    def _first(self, now: float) -> Step | None:
        return next((step for step in self.ready() if self._waiting[step] <= now), None)

    def _account(self, step: Step) -> Record | None:
        cell = step.cell
        self._waiting.pop(step, None)
        self._n_left[cell.key] -= 1
        self._n_selecting[cell.key] -= step.selects
        if step.selects and not is_done(step, self._store):
            self.abandon(cell)  # the splits cannot be run without it
        if cell.key in self.errors:  # said at the end of the run
            return None
        found = record(step, self._store)
        self._progress.step_ended(step, found)
        if self._n_left[cell.key] == 0:
            read = self._store.read(cell)
            self._progress.cell_ended(cell, read.status, read.records)
        return found

    def _has_ended(self, step: Step) -> bool:
        """Tell whether another runner has ended a step since the agenda was made."""
        if self._stamp(step) == self._before[step]:
            return False
        return is_done(step, self._store) or record(step, self._store) is not None

    def _stamp(self, step: Step) -> tuple[_Stamp, ...]:
        """Return what changes when a step ends: by its result, or by its failure."""
        store, cell = self._store, step.cell
        if not step.selects:
            return (stamp(store.record_path(cell, step.split)),)
        told_in = self._told_in.get(cell.key)
        failure = None if told_in is None else stamp(store.record_path(cell, told_in.split))
        return stamp(store.selection_path(cell, step.split)), failure
