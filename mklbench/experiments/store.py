"""Where records are kept: one directory a cell, one file a split, each whole or absent.

Where the splits of a cell share their hyperparameters, each selection has a file as well.

Several processes, also on several machines, may use one store at once: files appear by an atomic
rename, a finished split is never replaced, and what cannot be read counts as missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import SCHEMA, Record
from mklbench.experiments.files import (
    check_writable_directory,
    reason,
    remove_abandoned,
    write_atomically,
)
from mklbench.experiments.records import RecordSource, as_selection, dump, is_record
from mklbench.experiments.search import Selection


class StoreError(InputError):
    """A store that cannot be written."""


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
        """Return the record of one split, or None if it is absent, cut short or of another kind."""
        content = _read(self.record_path(cell, split))
        return content if is_record(content, cell.key, split) else None

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
            content = {"schema": SCHEMA, "key": cell.key, "split": split, **asdict(selection)}
            path = self.selection_path(cell, split)
            # Splits that run at once have to read the same selection, whoever writes it first; only
            # a file that cannot be read is replaced.
            self._write(cell, path, content, keep=not path.exists())

    def _read_selection(self, cell: Cell, split: int) -> Selection | None:
        content = _read(self.selection_path(cell, split))
        expected = {"schema": SCHEMA, "key": cell.key, "split": split}
        whole = isinstance(content, dict) and expected.items() <= content.items()
        return as_selection(content) if whole else None

    def _write(
        self, cell: Cell, path: Path, content: dict[str, Any], *, keep: bool = False
    ) -> None:
        description = self.directory(cell) / "cell.json"
        try:
            if not description.exists():
                self.directory(cell).mkdir(parents=True, exist_ok=True)
                write_atomically(description, dump(_describe(cell), indent=1))
            write_atomically(path, dump(content), keep=keep)
        except OSError as error:
            raise StoreError(
                f"results_dir={self.path} cannot be written: {reason(error)}."
            ) from error

    def check_writable(self) -> None:
        """Raise InputError unless records can be written; leave no trace."""
        check_writable_directory("results_dir", self.path)

    def tidy(self, cell: Cell) -> None:
        """Delete what killed writers left in a cell's directory a day or more ago."""
        remove_abandoned(self.directory(cell))


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


def _read(path: Path) -> Any:
    """Return the content of a JSON file, or None if it is absent or cut short."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # ValueError: bad JSON or bad UTF-8
        return None


def _describe(cell: Cell) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
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
