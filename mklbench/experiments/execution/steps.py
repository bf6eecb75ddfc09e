"""The steps of a run: its selections, where all splits share them, and then its splits.

Each step is run by whoever takes it, stored at once, and never run again. `Pending` knows what is
left: every executor takes its steps from there and tells how they ended. Other runners may work on
the same store; what they do is known by the store alone, and counts as if it had been done here.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mklbench.errors import InputError, place_in_own_code
from mklbench.experiments.evaluation import run_selection, run_split, unfinished
from mklbench.experiments.execution.lock import Locks
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Ended, Record
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store
from mklbench.resources import remove_unfinished

# Seconds after which it is looked again whether a step that another runner has in hand has ended.
LOOK_AGAIN = 0.5


@dataclass(frozen=True)
class Step:
    """A piece of work that is done as a whole.

    Attributes
    ----------
    run : Run
        What it is part of.
    split : int
        Number of the split.
    selects : bool
        Whether hyperparameters are to be chosen on the training part of the split for all
        splits of the run (`Run.selection_splits`), rather than the split to be run.
    """

    run: Run
    split: int
    selects: bool = False


def missing_steps(run: Run, store: Store) -> list[Step]:
    """Return the steps still to take, the selections first: the splits need all of them."""
    found = store.read(run)
    splits = found.missing
    return [
        *(Step(run, split, selects=True) for split in found.missing_selections if splits),
        *(Step(run, split) for split in splits),
    ]


def result_path(store: Store, step: Step) -> Path:
    """Return the file of the result of a step."""
    place = store.selection_path if step.selects else store.record_path
    return place(step.run, step.split)


def is_done(step: Step, store: Store) -> bool:
    """Tell whether the store has the result of a step."""
    if step.selects:
        return step.split in store.selections(step.run)
    return store.is_done(step.run, step.split)


def take(step: Step, store: Store) -> None:
    """Take a step and store its result or its crash, unless another run has done it meanwhile.

    Raises
    ------
    InputError
        For what the user can mend; nothing is stored then.
    StoreError
        If the store cannot be written.
    """
    run, split = step.run, step.split
    if is_done(step, store):
        return
    try:
        if step.selects:
            store.write_selection(run, split, run_selection(run, split))
        else:
            store.write(run, run_split(run, split, store.selections(run)))
    except BaseException as error:  # sys.exit() in an algorithm must not end the run
        where = place_in_own_code(error)
        # What options are to blame for ends the run, unless code of the user's own led to it.
        if isinstance(error, InputError) and not where:
            raise
        said = f"{type(error).__name__}: {error}"
        said = f"{said.rstrip('.')} ({where})" if where else said
        give_up(step, store, "failed", said, traceback.format_exc())


def give_up(
    step: Step, store: Store, status: Ended, error: str, details: str | None = None
) -> None:
    """Store that a step has ended without a result: "failed" or "timeout".

    Of a selection this is said in the record of the first split that waits for it; the others
    stay without one.

    Raises
    ------
    StoreError
        If the store cannot be written.
    """
    split = step.split
    if step.selects:
        waiting = store.read(step.run).missing
        if not waiting:  # another runner has ended the run
            return
        split, error = waiting[0], f"model selection on split {split}: {error}"
    store.write(step.run, unfinished(step.run, split, status, error, details))


def record(step: Step, store: Store) -> Record | None:
    """Return the record a step has led to: of a split its own, of a selection only a failure."""
    if not step.selects:
        return store.record(step.run, step.split)
    if is_done(step, store):
        return None
    return next((r for r in store.read(step.run).records if not r.is_done), None)


def lock_path(store: Store, step: Step) -> Path:
    """Return the place of the lock of a step, beside that of its result."""
    return result_path(store, step).with_suffix(".lock")


class Pending:
    """The steps of a run that have not ended.

    The splits of a run wait for its selections. A step that fails has ended, whoever tried it. The
    records of former failures are deleted when this is made, unless it is by a job: its driver has
    done so.

    Parameters
    ----------
    steps : sequence of Step
        In the order in which they are to be begun, the selections of a run before its splits.
    store : Store
        Where the results are.
    progress : Progress
        Told of each step and run that has ended.
    locks : Locks
        Of this runner.

    Attributes
    ----------
    errors : dict of str to str
        By run key the sentences of the InputErrors that stopped a run.
    """

    def __init__(
        self, steps: Sequence[Step], store: Store, progress: Progress, locks: Locks
    ) -> None:
        self._store, self._progress, self._locks = store, progress, locks
        self._waiting = dict.fromkeys(steps, 0.0)  # when to look at each next
        self._n_left = Counter(step.run.key for step in steps)
        self._n_selecting = Counter(step.run.key for step in steps if step.selects)
        self.errors: dict[str, str] = {}
        for step in () if locks.job else steps:
            if not step.selects and self._has_ended(step) and self._lock(step):
                if not is_done(step, store):
                    result_path(store, step).unlink(missing_ok=True)
                locks.release(lock_path(store, step))

    @property
    def is_empty(self) -> bool:
        """Whether no step is left to be begun, here or elsewhere."""
        return not self._waiting

    def ready(self) -> Iterator[Step]:
        """Yield the steps that can be begun: splits wait for the selections of their run."""
        for step in self._waiting:
            if step.selects or not self._n_selecting[step.run.key]:
                yield step

    def look(self) -> None:
        """Take note of the steps that others have ended."""
        for step in list(self._waiting):
            if step in self._waiting and self._has_ended(step):
                self._account(step)

    def begin(self) -> Step | None:
        """Lock the first step that nobody has in hand; None if there is none just now.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        now = time.monotonic()
        while step := next((s for s in self.ready() if self._waiting[s] <= now), None):
            self._waiting[step] = now + LOOK_AGAIN
            if self._has_ended(step):
                self._account(step)
            elif self._lock(step):
                if not self._has_ended(step):
                    del self._waiting[step]
                    return step
                self.end(step)  # between the look and the lock
        return None

    def _lock(self, step: Step) -> bool:
        with self._store.writing():
            return self._locks.take(lock_path(self._store, step))

    def end(self, step: Step) -> None:
        """Take note that a step that was begun here has ended, in whatever way."""
        remove_unfinished(result_path(self._store, step))
        self._locks.release(lock_path(self._store, step))
        self._account(step)

    def refuse(self, key: str, sentence: str) -> None:
        """Take note that the run with this key cannot be run, for what the user has to mend."""
        self.errors.setdefault(key, sentence)
        for step in [step for step in self._waiting if step.run.key == key]:
            self._drop(step)

    def _drop(self, step: Step) -> None:
        self._waiting.pop(step, None)
        self._n_left[step.run.key] -= 1
        self._n_selecting[step.run.key] -= step.selects

    def _account(self, step: Step) -> None:
        run = step.run
        self._drop(step)
        if step.selects and not is_done(step, self._store):  # the splits cannot be run without it
            for other in [other for other in self._waiting if other.run.key == run.key]:
                self._drop(other)
        if run.key in self.errors:  # said at the end of all runs
            return
        self._progress.step_ended(step, record(step, self._store))
        if self._n_left[run.key] == 0:
            read = self._store.read(run)
            self._progress.run_ended(run, read.status, read.records)

    def _has_ended(self, step: Step) -> bool:
        """Tell whether a runner has ended a step, by its result or by its failure."""
        if step.selects and is_done(step, self._store):
            return True
        return record(step, self._store) is not None
