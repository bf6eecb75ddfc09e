"""What a store says of its runs: what is done, in whose hands, failed, or waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklbench.experiments.execution.lock import Owner, holder
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store, asked_splits, number_in


@dataclass(frozen=True)
class RunOverview:
    """How far a run is.

    Attributes
    ----------
    directory : Path
        Of its records; its name ends in the key of the run.
    config : mapping or None
        Of the run; None if it is not known.
    n_splits : int
        How many were asked for, as far as is known.
    done : list of int
        The splits that have a result.
    running : dict of str to Owner
        Who has which step in hand, by its name: ``split-003``.
    failed : dict of int to Record
        By split the record of a failure or a timeout that nobody tries again just now.
    """

    directory: Path
    config: Mapping[str, Any] | None
    n_splits: int
    done: list[int]
    running: dict[str, Owner]
    failed: dict[int, Record]

    @property
    def n_waiting(self) -> int:
        """How many splits have neither ended nor begun."""
        ended = {*self.done, *self.failed}
        begun = {number_in(Path(name)) for name in self.running if name.startswith("split-")}
        return self.n_splits - len(ended | begun)


def overview(store: Store) -> list[RunOverview]:
    """Return how far each run of a store is, in the order of their names.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    store.check()
    return [_overview(store, directory) for directory in store.directories()]


def _overview(store: Store, directory: Path) -> RunOverview:
    # A lock is released when the record is there: the other way round neither might be seen.
    paths = sorted(directory.glob("[!.]*-*.lock"))
    locks = {path.stem: holder(path) for path in paths}
    records = {record.split: record for record in store.records_in(directory)}
    config = store.described_config(directory)
    done = [split for split, record in records.items() if record.is_done]
    ended = {f"split-{split:03d}" for split in done}  # whose locks are about to be released
    running = {name: owner for name, owner in locks.items() if owner and name not in ended}
    failed = {
        split: record
        for split, record in records.items()
        if not record.is_done and f"split-{split:03d}" not in running
    }
    n_splits = max([asked_splits(config), *(split + 1 for split in records)])
    return RunOverview(directory, config, n_splits, done, running, failed)
