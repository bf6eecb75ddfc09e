"""Where records are kept: one directory a cell, one file a split, each whole or absent.

Where the splits of a cell share their hyperparameters, each selection has a file as well.

Several processes, also on several machines, may use one store at once: files appear by an atomic
rename, a finished split is never replaced, and what cannot be read counts as missing.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import SCHEMA, Record
from mklbench.experiments.files import (
    check_writable_directory,
    reason,
    remove_abandoned,
    write_atomically,
)
from mklbench.experiments.search import Selection

Status = Literal["done", "incomplete", "failed", "timeout", "missing"]

_SPLIT_STATES = ("done", "failed", "timeout")


class StoreError(InputError):
    """A store that cannot be written."""


class RecordSource(ABC):
    """Anything that has the records of cells."""

    @abstractmethod
    def record(self, cell: Cell, split: int) -> Record | None:
        """Return the record of one split, or None if there is none that can be read."""

    def records(self, cell: Cell) -> list[Record]:
        """Return the records of the cell's splits that there are, sorted by split."""
        found = (self.record(cell, split) for split in range(cell.n_splits))
        return [record for record in found if record is not None]

    def status(self, cell: Cell) -> Status:
        """Return how far a cell is.

        "done" only if every split is; else "failed" or "timeout" if a split ended so, "incomplete"
        if splits are missing, "missing" if all are.
        """
        states = [record["status"] for record in self.records(cell)]
        if states.count("done") == cell.n_splits:
            return "done"
        bad: tuple[Status, ...] = ("failed", "timeout")
        for state in bad:
            if state in states:
                return state
        return "incomplete" if states else "missing"

    def missing(self, cell: Cell) -> list[int]:
        """Return the splits still to run: those without a record and those that failed."""
        return [split for split in range(cell.n_splits) if not self.is_done(cell, split)]

    def is_done(self, cell: Cell, split: int) -> bool:
        """Tell whether a split has a result."""
        record = self.record(cell, split)
        return record is not None and record["status"] == "done"

    def selections(self, cell: Cell) -> dict[int, Selection]:
        """Return by split the selections that the splits of a cell share, as far as there are any.

        Every finished record of the cell carries all of them.
        """
        for split in range(cell.n_splits) if cell.selection_splits else ():
            record = self.record(cell, split)
            if record is not None and record["status"] == "done":
                return {item["split"]: _selection(item) for item in record["selections"]}
        return {}

    def missing_selections(self, cell: Cell) -> list[int]:
        """Return the splits on whose training parts hyperparameters are still to be chosen."""
        found = self.selections(cell)
        return [split for split in cell.selection_splits if split not in found]


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
        return content if _is_record(content, cell.key, split) else None

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
            self._write(cell, self.selection_path(cell, split), content)

    def _read_selection(self, cell: Cell, split: int) -> Selection | None:
        content = _read(self.selection_path(cell, split))
        expected = {"schema": SCHEMA, "key": cell.key, "split": split}
        whole = isinstance(content, dict) and expected.items() <= content.items()
        return _selection(content) if whole else None

    def _write(self, cell: Cell, path: Path, content: dict[str, Any]) -> None:
        description = self.directory(cell) / "cell.json"
        try:
            if not description.exists():
                self.directory(cell).mkdir(parents=True, exist_ok=True)
                write_atomically(description, _dump(_describe(cell), indent=1))
            write_atomically(path, _dump(content))
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


class RecordFile(RecordSource):
    """Records exported to one file of JSON lines (`export_records`), read-only.

    Raises
    ------
    InputError : if the file cannot be read.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._records = {(item["key"], item["split"]): item for item in read_records(path)}

    def record(self, cell: Cell, split: int) -> Record | None:
        """Return the record of one split, or None if the file has none."""
        return self._records.get((cell.key, split))


def export_records(cells: Iterable[Cell], source: RecordSource, path: Path | str) -> int:
    """Write all records of `cells` to one file of JSON lines, in order; return how many.

    Raises
    ------
    InputError : if the file cannot be written.
    """
    records = [record for cell in cells for record in source.records(cell)]
    try:
        write_atomically(path, "".join(_dump(record) for record in records))
    except OSError as error:
        raise InputError(f"The records cannot be written to {path}: {reason(error)}.") from error
    return len(records)


def read_records(path: Path | str) -> list[Record]:
    """Return the records of a file of JSON lines; lines that are no records are passed over.

    Raises
    ------
    InputError : if the file cannot be read.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is not text"
        raise InputError(f"The records in {path} cannot be read: {why}.") from error
    parsed = (_parse(line) for line in lines)
    return [item for item in parsed if item is not None]


def _read(path: Path) -> Any:
    """Return the content of a JSON file, or None if it is absent or cut short."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # ValueError: bad JSON or bad UTF-8
        return None


def _selection(content: Mapping[str, Any]) -> Selection:
    return Selection(**{item.name: content[item.name] for item in fields(Selection)})


def _parse(line: str) -> Record | None:
    try:
        content = json.loads(line)
    except ValueError:
        return None
    if not isinstance(content, dict):
        return None
    return content if _is_record(content, content.get("key"), content.get("split")) else None


def _is_record(content: Any, key: str | None, split: int | None) -> bool:
    """Tell whether parsed JSON is a record of this program, of the given cell and split."""
    return (
        isinstance(content, dict)
        and content.get("schema") == SCHEMA
        and content.get("status") in _SPLIT_STATES
        and content.get("key") == key is not None
        and content.get("split") == split is not None
    )


def _describe(cell: Cell) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "key": cell.key,
        "label": cell.label,
        "data_digest": cell.data_digest,
        "config": cell.config,
    }


def _dump(content: dict[str, Any], indent: int | None = None) -> str:
    return json.dumps(content, indent=indent, allow_nan=False, ensure_ascii=False) + "\n"
