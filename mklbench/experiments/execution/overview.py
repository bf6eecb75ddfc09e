"""What a store says of its cells: what is done, in whose hands, failed, or waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklbench.experiments.execution.lock import Owner, holder
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store, asked_splits, names_in

# Nanoseconds within which two changes may leave the same time, as a file system tells it: what has
# changed so shortly before the newest change is read again.
_TICK = 2 * 10**9


@dataclass(frozen=True)
class CellOverview:
    """How far a cell is.

    Attributes
    ----------
    directory : Path
        Of its records; its name ends in the key of the cell.
    config : mapping or None
        Of the cell; None if it is not known.
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
        begun = {split_of(name) for name in self.running if name.startswith("split-")}
        return self.n_splits - len(ended | begun)


class Overview:
    """Looks at a store again and again, and reads only the cells that have changed since.

    Parameters
    ----------
    store : Store
        The store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[Path, _Read] = {}

    def look(self) -> list[CellOverview]:
        """Return how far each cell is just now, in the order of their names.

        Raises
        ------
        InputError
            If what is there is no directory.
        """
        self._store.check()
        stamps = {directory: _stamp(directory) for directory in cell_directories(self._store)}
        newest = max(stamps.values(), default=0)
        found = {}
        for directory, stamp in stamps.items():
            read = self._read.get(directory)
            if read is None or read.stamp != stamp or newest - stamp < _TICK:
                read = _read(self._store, directory, stamp)
            found[directory] = read
        self._read = found
        return [_overview(directory, read) for directory, read in found.items()]


@dataclass(frozen=True)
class _Read:
    """What was read in the directory of a cell.

    The directory changes whenever a record comes or a lock comes or goes.
    """

    stamp: int
    locks: list[str]
    config: Mapping[str, Any] | None
    n_splits: int
    done: list[int]
    unfinished: dict[int, Record]


def _read(store: Store, directory: Path, stamp: int) -> _Read:
    # A lock is released when the record is there: the other way round neither might be seen.
    locks = [name for name in sorted(names_in(directory)) if _is_lock(name)]
    records = {record.split: record for record in store.records_in(directory)}
    config = store.described_config(directory)
    return _Read(
        stamp,
        locks,
        config,
        max([asked_splits(config), *(split + 1 for split in records)]),
        [split for split, record in records.items() if record.is_done],
        {split: record for split, record in records.items() if not record.is_done},
    )


def overview(store: Store) -> list[CellOverview]:
    """Return how far each cell of a store is, in the order of their names.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    return Overview(store).look()


def cell_directories(store: Store) -> list[Path]:
    """Return the directories of the cells in a store, sorted."""
    return [path for path in store.directories() if "cell.json" in names_in(path)]


def split_of(name: str) -> int:
    """Return the number in the name of a split, ``split-003``; -1 if there is none."""
    number = name.partition("-")[2]
    return int(number) if number.isdecimal() else -1


def _overview(directory: Path, read: _Read) -> CellOverview:
    ended = {f"split-{split:03d}" for split in read.done}  # whose locks are about to be released
    locks = {Path(name).stem: holder(directory / name) for name in read.locks}
    running = {name: owner for name, owner in locks.items() if owner and name not in ended}
    failed = {
        split: record
        for split, record in read.unfinished.items()
        if f"split-{split:03d}" not in running
    }
    return CellOverview(directory, read.config, read.n_splits, read.done, running, failed)


def _is_lock(name: str) -> bool:
    return name.endswith(".lock") and "-" in name and not name.startswith(".")


def _stamp(directory: Path) -> int:
    try:
        return directory.stat().st_mtime_ns
    except OSError:
        return 0
