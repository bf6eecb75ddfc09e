"""Where records are kept: one directory a cell, one file a split, each whole or absent.

Where the splits of a cell share their hyperparameters, each selection has a file as well.

Several processes, also on several machines, may use one store at once: files appear by an atomic
rename, a finished split is never replaced, and what is damaged (`mklbench.experiments.sealing`)
counts as missing and is named.
"""

from __future__ import annotations

import contextlib
import math
import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import Record
from mklbench.experiments.files import (
    check_directory,
    check_writable_directory,
    reason,
    remove_abandoned,
    remove_unfinished,
    write_atomically,
)
from mklbench.experiments.records import RecordSource, as_selection, check_record
from mklbench.experiments.sealing import DamagedError, read_sealed, sealed, warn_damaged
from mklbench.experiments.search import Selection


class StoreError(InputError):
    """A store that cannot be written."""


def cannot_be_written(store: Store, error: OSError) -> StoreError:
    """Build the error for a store that the system does not let us write."""
    return StoreError(f"results_dir={store.path} cannot be written: {reason(error)}.")


class Store(RecordSource):
    """A directory of records.

    Parameters
    ----------
    path : the directory; it is made when the first record is written.
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
        return _read(path, lambda content: check_record(content, cell.key, split))

    def records(self, cell: Cell) -> list[Record]:
        """Return the records of the cell's splits that there are, sorted by split."""
        self._description(cell)  # names it if it is damaged
        return super().records(cell)

    def write(self, cell: Cell, record: Record) -> None:
        """Write the record of one split, unless a finished one is there already.

        Raises
        ------
        StoreError : if the store cannot be written.
        """
        if not self.is_done(cell, record["split"]):
            self._write(cell, self.record_path(cell, record["split"]), record)

    def selection_path(self, cell: Cell, split: int) -> Path:
        """Return the file of the selection on one split's training part."""
        return self.directory(cell) / f"selection-{split:03d}.json"

    def selections(self, cell: Cell) -> dict[int, Selection]:
        """Return by split the selections of a cell: of a finished record, or from their files."""
        found = super().selections(cell)
        if found:
            return found
        read = {split: self._read_selection(cell, split) for split in cell.selection_splits}
        return {split: selection for split, selection in read.items() if selection is not None}

    def write_selection(self, cell: Cell, split: int, selection: Selection) -> None:
        """Write the selection on one split's training part, unless there is one already.

        Raises
        ------
        StoreError : if the store cannot be written.
        """
        if split not in self.selections(cell):
            content = {"key": cell.key, "split": split, **asdict(selection)}
            path = self.selection_path(cell, split)
            # Splits that run at once have to read the same selection, whoever writes it first; only
            # a file that cannot be read is replaced.
            self._write(cell, path, content, keep=not os.path.lexists(path))

    def _read_selection(self, cell: Cell, split: int) -> Selection | None:
        content = _read(
            self.selection_path(cell, split),
            lambda content: _check_selection(content, cell.key, split),
        )
        return None if content is None else as_selection(content)

    def _description(self, cell: Cell) -> dict[str, Any] | None:
        """Return what the directory of a cell says of it, or None."""
        path = self.directory(cell) / "cell.json"
        return _read(path, lambda content: _check_description(content, cell.key))

    def _write(
        self, cell: Cell, path: Path, content: dict[str, Any], *, keep: bool = False
    ) -> None:
        try:
            if self._description(cell) is None:
                self._describe(cell)
            _make_room(path)
            write_atomically(path, sealed(content), keep=keep)
        except OSError as error:
            raise cannot_be_written(self, error) from error

    def describe(self, cell: Cell) -> None:
        """Write what a cell is, unless it is there already with as many splits.

        Raises
        ------
        StoreError : if the store cannot be written.
        """
        described = self._description(cell)
        if described is None or described_splits(described) < cell.n_splits:
            try:
                self._describe(cell)
            except OSError as error:
                raise cannot_be_written(self, error) from error

    def _describe(self, cell: Cell) -> None:
        path = self.directory(cell) / "cell.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path)
        write_atomically(path, sealed(_describe(cell), indent=1))

    def remove_description(self, cell: Cell) -> None:
        """Delete what says of a cell that it is to be run, if there is nothing else of it."""
        directory = self.directory(cell)
        with contextlib.suppress(OSError):
            if [path.name for path in directory.iterdir()] == ["cell.json"]:
                (directory / "cell.json").unlink()
                directory.rmdir()
                self.path.rmdir()

    def check(self) -> None:
        """Raise InputError if what is there is no store, and cannot become one."""
        check_directory("results_dir", self.path)

    def check_writable(self) -> None:
        """Raise InputError unless records can be written; leave no trace."""
        check_writable_directory("results_dir", self.path)

    def remove_unfinished(self, cell: Cell, mark: str) -> None:
        """Delete what a process that was killed was writing for a cell (`files.mark`)."""
        remove_unfinished(self.directory(cell), mark)

    def tidy(self, cell: Cell) -> None:
        """Mend a cell's damaged description; delete what writers killed a day ago left."""
        remove_abandoned(self.directory(cell))
        if self.directory(cell).is_dir() and self._description(cell) is None:
            with contextlib.suppress(OSError):  # a finished cell may stand where nobody can write
                self._describe(cell)


def copy_records(cells: Iterable[Cell], source: RecordSource, store: Store) -> int:
    """Write to `store` the finished records of `source` that it lacks; return how many.

    A cell whose splits share their hyperparameters is left out where the two have chosen others,
    as may happen on another machine: all its records are then of one choice.

    Raises
    ------
    StoreError : if the store cannot be written.
    """
    n_copied = 0
    for cell in cells:
        mine, theirs = store.selections(cell), source.selections(cell)
        if any(mine[split].params != theirs[split].params for split in mine.keys() & theirs.keys()):
            continue
        for record in source.records(cell):
            if record["status"] == "done" and not store.is_done(cell, record["split"]):
                store.write(cell, record)
                n_copied += 1
    return n_copied


def described_splits(description: Mapping[str, Any]) -> int:
    """Return how many splits the description of a cell asks for; 0 if it does not say."""
    config = description.get("config")
    split = config.get("split") if isinstance(config, Mapping) else None
    asked = split.get("n_splits") if isinstance(split, Mapping) else None
    return asked if isinstance(asked, int) else 0


def _read(path: Path, check: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
    """Return the content of a file that passes `check`; None if it is absent or damaged."""
    try:
        content = read_sealed(path)
        if content is not None:
            check(content)
        return content
    except DamagedError as error:
        warn_damaged(path, str(error))
        return None


def _check_selection(content: Mapping[str, Any], key: str, split: int) -> None:
    if {"key": key, "split": split}.items() <= content.items() and "params" in content:
        return
    raise DamagedError("it is no selection of this cell and split")


def _check_description(content: Mapping[str, Any], key: str) -> None:
    if content.get("key") != key:
        raise DamagedError("it describes another cell")
    if not isinstance(content.get("config"), Mapping):
        raise DamagedError("it describes no cell")


def _make_room(path: Path) -> None:
    """Put a directory that stands in the place of a file aside; it may hold what somebody needs."""
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.aside"))


def _describe(cell: Cell) -> dict[str, Any]:
    return {
        "key": cell.key,
        "label": cell.label,
        "data_digest": cell.data_digest,
        "config": _in_json(cell.config),
    }


def _in_json(value: Any) -> Any:
    """Return a part of a config with infinite numbers as text, as JSON has none."""
    if isinstance(value, Mapping):
        return {key: _in_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value
