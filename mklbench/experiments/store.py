"""Where records are kept: one directory a cell, one file a split, each whole or absent.

Where the splits of a cell share their hyperparameters, each selection has a file as well.

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
from mklbench.experiments.cell import Cell
from mklbench.experiments.checksum import DamagedError, read_verified, warn_damaged, with_checksum
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import CellRecords, RecordSource, shared_selections
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

    def directory(self, cell: Cell) -> Path:
        """Return the directory of a cell's records."""
        return self.path / cell.directory_name

    def record_path(self, cell: Cell, split: int) -> Path:
        """Return the file of one split's record."""
        return self.directory(cell) / f"split-{split:03d}.json"

    def record(self, cell: Cell, split: int) -> Record | None:
        """Return the record of one split, or None if it is absent or damaged."""
        path = self.record_path(cell, split)
        return _read(path, partial(Record.from_json, key=cell.key, split=split))

    def all_records(self) -> Iterator[Record]:
        """Yield the records of all cells there are, sorted by directory and split."""
        for directory in self.directories():
            yield from self.records_in(directory)

    def directories(self) -> list[Path]:
        """Return the directories of cells, and whatever else there is, sorted."""
        return [self.path / name for name in sorted(names_in(self.path))]

    def records_in(self, directory: Path) -> Iterator[Record]:
        """Yield the records in the directory of a cell, sorted by split."""
        key = _key_of(directory)
        for split, name in sorted(_splits_among(names_in(directory))):
            record = _read(directory / name, partial(Record.from_json, key=key, split=split))
            if record is not None:
                yield record

    def described_splits(self, directory: Path) -> int:
        """Return how many splits the description of a cell asks for; 0 if it does not say."""
        return asked_splits(self.described_config(directory))

    def described_config(self, directory: Path) -> Mapping[str, Any] | None:
        """Return the config of the cell in a directory; None if it is not known."""
        return (self._description(directory) or {}).get("config")

    @staticmethod
    def as_described(cell: Cell) -> Mapping[str, Any]:
        """Return the config of a cell as `described_config` has it."""
        config: Mapping[str, Any] = _in_json(cell.config.as_dict())
        return config

    def read(self, cell: Cell) -> CellRecords:
        """Return what there is of a cell, each file of a split opened once."""
        with contextlib.suppress(OSError):  # of which each file will tell
            if not self.directory(cell).exists():  # as of most cells of most tables
                return CellRecords(cell, [])
        self._description(self.directory(cell))  # names it if it is damaged
        records = list(self._records(cell))
        return CellRecords(cell, records, self._selections(cell, records))

    def is_done(self, cell: Cell, split: int) -> bool:
        """Tell whether a split has a result."""
        record = self.record(cell, split)
        return record is not None and record.is_done

    def selections(self, cell: Cell) -> dict[int, Selection]:
        """Return by split the selections that the splits of a cell share, as far as made."""
        return self._selections(cell, self._records(cell))

    def write(self, cell: Cell, record: Record) -> None:
        """Write the record of one split, unless a finished one is there already.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if not self.is_done(cell, record.split):
            self._write(cell, self.record_path(cell, record.split), record.to_json())
            self._write_traceback(self.traceback_path(cell, record.split), record.traceback)

    def traceback_path(self, cell: Cell, split: int) -> Path:
        """Return the file of the traceback of a split that has failed."""
        return traceback_of(self.record_path(cell, split))

    def selection_path(self, cell: Cell, split: int) -> Path:
        """Return the file of the selection on one split's training part."""
        return self.directory(cell) / f"selection-{split:03d}.json"

    def write_selection(self, cell: Cell, split: int, selection: Selection) -> None:
        """Write the selection on one split's training part, unless there is one already.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if split not in self.selections(cell):
            content = {"key": cell.key, "split": split, **selection.to_json()}
            self._write(cell, self.selection_path(cell, split), content)

    def _records(self, cell: Cell) -> Iterator[Record]:
        """Read the records of the cell's splits that there are, one after the other."""
        found = (self.record(cell, split) for split in range(cell.n_splits))
        return (record for record in found if record is not None)

    def _selections(self, cell: Cell, records: Iterable[Record]) -> dict[int, Selection]:
        """Return the shared selections: of a finished record, or else from their files."""
        if found := shared_selections(cell, records):
            return found
        read = {split: self._selection(cell, split) for split in cell.selection_splits}
        return {split: selection for split, selection in read.items() if selection is not None}

    def _selection(self, cell: Cell, split: int) -> Selection | None:
        path = self.selection_path(cell, split)
        return _read(path, lambda content: _as_selection(content, cell.key, split))

    def _description(self, directory: Path) -> dict[str, Any] | None:
        """Return what the directory of a cell says of it, or None."""
        key = _key_of(directory)
        return _read(directory / "cell.json", lambda content: _as_description(content, key))

    def _write(self, cell: Cell, path: Path, content: dict[str, Any]) -> None:
        try:
            if not (path.parent / "cell.json").exists():  # what is in it is read before a run
                self._describe(cell)
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

    def describe(self, cell: Cell) -> None:
        """Write what a cell is, unless it is there already with as many splits.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if self.described_splits(self.directory(cell)) < cell.n_splits:
            try:
                self._describe(cell)
            except OSError as error:
                raise cannot_be_written(self, error) from error

    def _describe(self, cell: Cell) -> None:
        path = self.directory(cell) / "cell.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path)
        # A sweep has thousands, and what is lost is written again.
        write_atomically(path, with_checksum(_describe(cell), indent=1), durable=False)

    def remove_description(self, cell: Cell) -> None:
        """Delete what says of a cell that it is to be run, if there is nothing else of it."""
        directory = self.directory(cell)
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


def copy_records(cells: Iterable[Cell], source: RecordSource, store: Store) -> int:
    """Write to `store` the finished records of `source` that it lacks; return how many.

    A cell whose splits share their hyperparameters is left out where the two have chosen others,
    as may happen on another machine: all its records are then of one choice.

    Raises
    ------
    StoreError
        If the store cannot be written.
    """
    n_copied = 0
    for cell in cells:
        theirs = source.read(cell)
        if not theirs.done:
            continue
        mine = store.read(cell)
        both = mine.selections.keys() & theirs.selections.keys()
        if any(mine.selections[at].params != theirs.selections[at].params for at in both):
            continue
        missing = set(mine.missing)
        for record in theirs.done:
            if record.split in missing:
                store.write(cell, record)
                n_copied += 1
    return n_copied


def asked_splits(config: Mapping[str, Any] | None) -> int:
    """Return how many splits the config of a cell asks for; 0 if it does not say."""
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
    """Return the key of the cell whose directory it is."""
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
    raise DamagedError("it is no selection of this cell and split")


def _as_description(content: dict[str, Any], key: str) -> dict[str, Any]:
    if content.get("key") != key or "config" not in content:
        raise DamagedError("it describes another run")
    return content


def _make_room(path: Path) -> None:
    """Put a directory that stands in the place of a file aside; it may hold what somebody needs."""
    if path.is_dir() and not path.is_symlink():
        with contextlib.suppress(FileNotFoundError):  # somebody was quicker
            path.rename(path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.aside"))


def _describe(cell: Cell) -> dict[str, Any]:
    return {
        "key": cell.key,
        "label": cell.label,
        "data_digest": cell.data_digest,
        "config": _in_json(cell.config.as_dict()),
    }


def _in_json(value: Any) -> Any:
    """Return a part of a config with infinite numbers as text, as JSON has none."""
    if isinstance(value, Mapping):
        return {key: _in_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value
