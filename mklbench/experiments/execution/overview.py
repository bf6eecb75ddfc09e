"""What a store says of its cells: what is done, in whose hands, failed, or waits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mklbench.experiments.execution.claims import Owner, holder
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store


@dataclass(frozen=True)
class CellOverview:
    """How far a cell is.

    Attributes
    ----------
    directory : Path
        Of its records; its name ends in the key of the cell.
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


def overview(store: Store) -> list[CellOverview]:
    """Return how far each cell of a store is, in the order of their names.

    Raises
    ------
    InputError
        If what is there is no directory.
    """
    store.check()
    return [_look_at(store, directory) for directory in cell_directories(store)]


def cell_directories(store: Store) -> list[Path]:
    """Return the directories of the cells in a store, sorted."""
    return sorted(path.parent for path in store.path.glob("*/cell.json"))


def split_of(name: str) -> int:
    """Return the number in the name of a split, ``split-003``; -1 if there is none."""
    number = name.partition("-")[2]
    return int(number) if number.isdecimal() else -1


def _look_at(store: Store, directory: Path) -> CellOverview:
    claims = {path.stem: holder(path) for path in sorted(directory.glob("*-*.claim"))}
    records = {record.split: record for record in store.records_in(directory)}
    done = [split for split, record in records.items() if record.is_done]
    ended = {f"split-{split:03d}" for split in done}  # whose claims are about to be released
    running = {name: owner for name, owner in claims.items() if owner and name not in ended}
    failed = {
        split: record
        for split, record in records.items()
        if split not in done and f"split-{split:03d}" not in running
    }
    asked = store.described_splits(directory)
    return CellOverview(directory, max([asked, *(s + 1 for s in records)]), done, running, failed)
