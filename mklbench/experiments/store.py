"""Where records are kept: one directory a run, one file a split, each whole or absent.

Where the splits of a run share their hyperparameters, each selection has a file as well.

Several processes, also on several machines, may use one store at once: files appear by an atomic
rename, a finished split is never replaced, and what is damaged (`mklbench.experiments.files`)
counts as missing and is named.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from mklbench.errors import InputError, refused
from mklbench.experiments import files
from mklbench.experiments.files import DamagedError, read_verified, warn_damaged, with_checksum
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import RecordSource, RunRecords, shared_selections
from mklbench.experiments.run import Run
from mklbench.resources import write_atomically

_Read = TypeVar("_Read")


class StoreError(InputError):
    """A store that cannot be written."""


class Store(RecordSource):
    """A directory of records.

    Parameters
    ----------
    path : Path or str
        The directory; it is made when the first record is written.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def directory(self, run: Run) -> Path:
        """Return the directory of a run's records."""
        return self.path / run.directory_name

    def record_path(self, run: Run, split: int) -> Path:
        """Return the file of one split's record."""
        return self.directory(run) / f"split-{split:03d}.json"

    def record(self, run: Run, split: int) -> Record | None:
        """Return the record of one split, or None if it is absent or damaged."""
        return _record_in(self.record_path(run, split))

    def all_records(self) -> Iterator[Record]:
        """Yield the records of all runs there are, sorted by directory and split."""
        for directory in self.directories():
            yield from self.records_in(directory)

    def directories(self) -> list[Path]:
        """Return the directories of runs, sorted."""
        return sorted({path.parent for path in self.path.glob("*/*.json")})

    def records_in(self, directory: Path) -> Iterator[Record]:
        """Yield the records in the directory of a run, sorted by split."""
        for path in sorted(directory.glob("split-*.json"), key=number_in):
            if (record := _record_in(path)) is not None:
                yield record

    def described_config(self, directory: Path) -> Mapping[str, Any] | None:
        """Return the config of the run in a directory; None if it is not known."""
        path = directory / "cell.json"
        return _read(path, "config", lambda content: content["config"], key=_key_of(directory))

    def read(self, run: Run) -> RunRecords:
        """Return what there is of a run, each file of a split opened once."""
        self.described_config(self.directory(run))  # names it if it is damaged
        records = list(self._records(run))
        return RunRecords(run, records, self.selections(run, records))

    def is_done(self, run: Run, split: int) -> bool:
        """Tell whether a split has a result."""
        record = self.record(run, split)
        return record is not None and record.is_done

    def selections(self, run: Run, records: Iterable[Record] | None = None) -> dict[int, Selection]:
        """Return by split the selections that the splits of a run share, as far as made.

        They are of a finished one of the `records`, if these have been read, or from their files.
        """
        if found := shared_selections(run, self._records(run) if records is None else records):
            return found
        selections = {}
        for split in run.selection_splits:
            path = self.selection_path(run, split)
            read = _read(path, "seconds", Selection.from_json, key=run.key, split=split)
            if read is not None:
                selections[split] = read
        return selections

    def write(self, run: Run, record: Record) -> None:
        """Write the record of one split, unless a finished one is there already.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if not self.is_done(run, record.split):
            self.describe(run)
            self._write(self.record_path(run, record.split), record.to_json())

    def selection_path(self, run: Run, split: int) -> Path:
        """Return the file of the selection on one split's training part."""
        return self.directory(run) / f"selection-{split:03d}.json"

    def write_selection(self, run: Run, split: int, selection: Selection) -> None:
        """Write the selection on one split's training part, unless there is one already.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if split not in self.selections(run):
            self.describe(run)
            content = {"key": run.key, "split": split, **selection.to_json()}
            self._write(self.selection_path(run, split), content)

    def _records(self, run: Run) -> Iterator[Record]:
        """Read the records of the run's splits that there are, one after the other."""
        found = self.records_in(self.directory(run))
        return (record for record in found if record.split < run.n_splits)

    def describe(self, run: Run) -> None:
        """Write what a run is, unless it is there already with as many splits.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        directory = self.directory(run)
        if asked_splits(self.described_config(directory)) < run.n_splits:
            content = {"key": run.key, "config": described(run)}
            # A sweep has thousands, and what is lost is written again.
            self._write(directory / "cell.json", content, durable=False)

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Raise StoreError within, where the system does not let us write the store."""
        return refused(f"results_dir={self.path} cannot be written", StoreError)

    def _write(self, path: Path, content: dict[str, Any], durable: bool = True) -> None:
        with self.writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, with_checksum(content), durable=durable)

    def remove_description(self, directory: Path) -> None:
        """Delete what says of a run that it is to be run, if there is nothing else of it."""
        with contextlib.suppress(OSError):
            if os.listdir(directory) == ["cell.json"]:
                (directory / "cell.json").unlink()
            directory.rmdir()
            self.path.rmdir()

    def check(self, *, writable: bool = False) -> None:
        """Raise InputError unless there is a store, or can be; and one that is `writable`."""
        files.check_directory("results_dir", self.path, writable=writable)


def copy_records(runs: Iterable[Run], source: RecordSource, store: Store) -> int:
    """Write to `store` the finished records of `source` that it lacks; return how many.

    A run whose splits share their hyperparameters is left out where the two have chosen others,
    as may happen on another machine: all its records are then of one choice.

    Raises
    ------
    StoreError
        If the store cannot be written.
    """
    n_copied = 0
    for run in runs:
        theirs, mine = source.read(run), store.read(run)
        both = mine.selections.keys() & theirs.selections.keys()
        if any(mine.selections[at].params != theirs.selections[at].params for at in both):
            continue
        missing = set(mine.missing)
        for record in theirs.done:
            if record.split in missing:
                store.write(run, record)
                n_copied += 1
    return n_copied


def asked_splits(config: Mapping[str, Any] | None) -> int:
    """Return how many splits the config of a run asks for; 0 if it does not say."""
    return 0 if config is None else int(config["split"]["n_splits"])


def described(run: Run) -> Mapping[str, Any]:
    """Return the config of a run as `Store.described_config` has it: JSON has no infinity."""
    return dict(json.loads(json.dumps(run.config.as_dict()), parse_constant=str))


def number_in(path: Path) -> int:
    """Return the number of the split in the name of a file, ``split-003.json``; -1 if none is."""
    number = path.stem.partition("-")[2]
    return int(number) if number.isdecimal() else -1


def _key_of(directory: Path) -> str:
    """Return the key of the run whose directory it is."""
    return directory.name.rpartition("-")[2]


def _record_in(path: Path) -> Record | None:
    key, split = _key_of(path.parent), number_in(path)
    return _read(path, "status", Record.from_json, key=key, split=split)


def _read(path: Path, has: str, make: Callable[[Any], _Read], **stated: Any) -> _Read | None:
    """Return what `make` makes of a file; None if it is absent or damaged.

    A whole file in the place of another is damaged, too: one that has not what only files of its
    kind have, or states something else.
    """
    try:
        if (content := read_verified(path)) is None:
            return None
        if has not in content or not stated.items() <= content.items():
            raise DamagedError("it is of another run or split")
        return make(content)
    except DamagedError as error:
        warn_damaged(path, str(error))
        return None
