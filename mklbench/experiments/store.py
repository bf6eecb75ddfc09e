"""Where records are kept: one directory a run, one file a split, each whole or absent.

Where the splits of a run share their hyperparameters, each selection has a file as well.

Several processes, also on several machines, may use one store at once: files appear by an atomic
rename, a finished split is never replaced, and what is damaged (`mklbench.experiments.checksum`)
counts as missing and is named.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mklbench.errors import InputError
from mklbench.experiments import files
from mklbench.experiments.checksum import DamagedError, read_verified, warn_damaged, with_checksum
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import RecordSource, RunRecords, shared_selections
from mklbench.experiments.run import Run
from mklbench.resources import write_atomically

_Read = TypeVar("_Read")

_RECORD = re.compile(r"split-([0-9]+)\.json")


class StoreError(InputError):
    """A store that cannot be written."""


def cannot_be_written(store: Store, error: OSError) -> StoreError:
    """Build the error for a store that the system does not let us write."""
    return StoreError(f"results_dir={store.path} cannot be written: {files.reason(error)}.")


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
        path = self.record_path(run, split)
        return _read(path, partial(Record.from_json, key=run.key, split=split))

    def all_records(self) -> Iterator[Record]:
        """Yield the records of all runs there are, sorted by directory and split."""
        for directory in self.directories():
            yield from self.records_in(directory)

    def directories(self) -> list[Path]:
        """Return the directories of runs, and whatever else there is, sorted."""
        return [self.path / name for name in sorted(names_in(self.path))]

    def records_in(self, directory: Path) -> Iterator[Record]:
        """Yield the records in the directory of a run, sorted by split."""
        key = _key_of(directory)
        for split, name in sorted(_splits_among(names_in(directory))):
            record = _read(directory / name, partial(Record.from_json, key=key, split=split))
            if record is not None:
                yield record

    def described_splits(self, directory: Path) -> int:
        """Return how many splits the description of a run asks for; 0 if it does not say."""
        return asked_splits(self.described_config(directory))

    def described_config(self, directory: Path) -> Mapping[str, Any] | None:
        """Return the config of the run in a directory; None if it is not known."""
        return (self._description(directory) or {}).get("config")

    @staticmethod
    def as_described(run: Run) -> Mapping[str, Any]:
        """Return the config of a run as `described_config` has it."""
        config: Mapping[str, Any] = _in_json(run.config.as_dict())
        return config

    def read(self, run: Run) -> RunRecords:
        """Return what there is of a run, each file of a split opened once."""
        with contextlib.suppress(OSError):  # of which each file will tell
            if not self.directory(run).exists():  # as of most runs of most tables
                return RunRecords(run, [])
        self._description(self.directory(run))  # names it if it is damaged
        records = list(self._records(run))
        return RunRecords(run, records, self._selections(run, records))

    def is_done(self, run: Run, split: int) -> bool:
        """Tell whether a split has a result."""
        record = self.record(run, split)
        return record is not None and record.is_done

    def selections(self, run: Run) -> dict[int, Selection]:
        """Return by split the selections that the splits of a run share, as far as made."""
        return self._selections(run, self._records(run))

    def write(self, run: Run, record: Record) -> None:
        """Write the record of one split, unless a finished one is there already.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if not self.is_done(run, record.split):
            self._write(run, self.record_path(run, record.split), record.to_json())
            self._write_traceback(self.traceback_path(run, record.split), record.traceback)

    def traceback_path(self, run: Run, split: int) -> Path:
        """Return the file of the traceback of a split that has failed."""
        return traceback_of(self.record_path(run, split))

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
            content = {"key": run.key, "split": split, **selection.to_json()}
            self._write(run, self.selection_path(run, split), content)

    def _records(self, run: Run) -> Iterator[Record]:
        """Read the records of the run's splits that there are, one after the other."""
        found = (self.record(run, split) for split in range(run.n_splits))
        return (record for record in found if record is not None)

    def _selections(self, run: Run, records: Iterable[Record]) -> dict[int, Selection]:
        """Return the shared selections: of a finished record, or else from their files."""
        if found := shared_selections(run, records):
            return found
        read = {split: self._selection(run, split) for split in run.selection_splits}
        return {split: selection for split, selection in read.items() if selection is not None}

    def _selection(self, run: Run, split: int) -> Selection | None:
        path = self.selection_path(run, split)
        return _read(path, lambda content: _as_selection(content, run.key, split))

    def _description(self, directory: Path) -> dict[str, Any] | None:
        """Return what the directory of a run says of it, or None."""
        key = _key_of(directory)
        return _read(directory / "cell.json", lambda content: _as_description(content, key))

    def _write(self, run: Run, path: Path, content: dict[str, Any]) -> None:
        try:
            if not (path.parent / "cell.json").exists():  # what is in it is read before a run
                self._describe(run)
            _make_room(path)
            write_atomically(path, with_checksum(content))
        except OSError as error:
            raise cannot_be_written(self, error) from error

    @staticmethod
    def _write_traceback(path: Path, text: str | None) -> None:
        """Write what went wrong as it is read by people; the record has it as well."""
        with contextlib.suppress(OSError):
            if text:
                write_atomically(path, text, durable=False)
            else:
                path.unlink(missing_ok=True)

    def describe(self, run: Run) -> None:
        """Write what a run is, unless it is there already with as many splits.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if self.described_splits(self.directory(run)) < run.n_splits:
            try:
                self._describe(run)
            except OSError as error:
                raise cannot_be_written(self, error) from error

    def _describe(self, run: Run) -> None:
        path = self.directory(run) / "cell.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path)
        # A sweep has thousands, and what is lost is written again.
        write_atomically(path, with_checksum(_describe(run), indent=1), durable=False)

    def remove_description(self, run: Run) -> None:
        """Delete what says of a run that it is to be run, if there is nothing else of it."""
        directory = self.directory(run)
        with contextlib.suppress(OSError):
            if names_in(directory) == ["cell.json"]:
                (directory / "cell.json").unlink()
                directory.rmdir()
                self.path.rmdir()

    def check(self) -> None:
        """Raise InputError if what is there is no store, and cannot become one."""
        files.check_directory("results_dir", self.path)

    def check_writable(self) -> None:
        """Raise InputError unless records can be written; leave no trace."""
        files.check_writable_directory("results_dir", self.path)


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
        theirs = source.read(run)
        if not theirs.done:
            continue
        mine = store.read(run)
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
    asked = None if config is None else config["split"].get("n_splits")
    return asked if isinstance(asked, int) else 0


def traceback_of(record_path: Path) -> Path:
    """Return the file of the traceback beside that of a record."""
    return record_path.with_suffix(".traceback.txt")


def names_in(directory: Path) -> list[str]:
    """Return the names in a directory: none, which is said, if it cannot be read."""
    try:
        return os.listdir(directory)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESTALE, errno.ENOTDIR):
            warn_damaged(directory, f"it cannot be read ({files.reason(error)})")
        return []


def _splits_among(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and the name of each record of a split."""
    for name in names:
        if (found := _RECORD.fullmatch(name)) is not None:
            yield int(found[1]), name


def _key_of(directory: Path) -> str:
    """Return the key of the run whose directory it is."""
    return directory.name.rpartition("-")[2]


def _read(path: Path, take: Callable[[dict[str, Any]], _Read]) -> _Read | None:
    """Return what `take` makes of the content of a file; None if it is absent or damaged."""
    try:
        content = read_verified(path)
        return None if content is None else take(content)
    except DamagedError as error:
        warn_damaged(path, str(error))
        return None


def _as_selection(content: Mapping[str, Any], key: str, split: int) -> Selection:
    if {"key": key, "split": split}.items() <= content.items() and "params" in content:
        return Selection.from_json(content)
    raise DamagedError("it is no selection of this run and split")


def _as_description(content: dict[str, Any], key: str) -> dict[str, Any]:
    if content.get("key") != key or "config" not in content:
        raise DamagedError("it describes another run")
    return content


def _make_room(path: Path) -> None:
    """Put a directory that stands in the place of a file aside; it may hold what somebody needs."""
    if path.is_dir() and not path.is_symlink():
        with contextlib.suppress(FileNotFoundError):  # somebody was quicker
            path.rename(path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.aside"))


def _describe(run: Run) -> dict[str, Any]:
    return {
        "key": run.key,
        "label": run.label,
        "data_digest": run.data_digest,
        "config": _in_json(run.config.as_dict()),
    }


def _in_json(value: Any) -> Any:
    """Return a part of a config with infinite numbers as text, as JSON has none."""
    if isinstance(value, Mapping):
        return {key: _in_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value
