"""Claims of steps: of many runners on one store one has a step in hand (`mklbench.claims`).

The claim of a step stands beside its record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from mklbench.claims import (
    SILENT_AFTER,
    Owner,
    PathClaims,
    claiming_paths,
    clear,
    heartbeat,
    holder,
)
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.steps import Step, is_done
from mklbench.experiments.store import Store, cannot_be_written

__all__ = [
    "SILENT_AFTER",
    "Claims",
    "Owner",
    "claim_path",
    "claiming",
    "clear",
    "clear_done",
    "heartbeat",
    "holder",
]


class Claims:
    """The claims that one runner holds in a store.

    Parameters
    ----------
    store : Store
        Of the steps.
    paths : PathClaims or None, default=None
        That hold them; default new ones, which nobody releases.
    """

    def __init__(self, store: Store, paths: PathClaims | None = None) -> None:
        self._store = store
        self._paths = PathClaims() if paths is None else paths

    def take(self, step: Step) -> bool:
        """Claim a step, or take it over from who is gone; tell whether this runner holds it now.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        path = claim_path(self._store, step)
        try:
            return self._paths.take(path)
        except OSError as error:
            raise cannot_be_written(self._store, error) from error

    def release(self, step: Step) -> None:
        """Give up a claim, unless it was lost."""
        self._paths.release(claim_path(self._store, step))


@contextlib.contextmanager
def claiming(store: Store) -> Iterator[Claims]:
    """Give claims on a store that are released at the end, also if the process is ended."""
    with claiming_paths() as paths:
        yield Claims(store, paths)


def claim_path(store: Store, step: Step) -> Path:
    """Return the place of the claim of a step."""
    place = store.selection_path if step.selects else store.record_path
    return place(step.cell, step.split).with_suffix(".claim")


def clear_done(cell: Cell, store: Store) -> None:
    """Delete the claims that runners who were killed have left on steps of a cell that are done."""
    for path in store.directory(cell).glob("*.claim"):
        kind, _, number = path.stem.partition("-")
        if number.isdecimal() and is_done(Step(cell, int(number), kind == "selection"), store):
            clear(path)
