"""The steps of a run: its selections, where all splits share them, and then its splits.

Each step is run by whoever takes it, stored at once, and never run again.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

from mklbench.errors import InputError, place_in_own_code
from mklbench.experiments.evaluation import run_selection, run_split, unfinished
from mklbench.experiments.record import Ended, Record
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store


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
