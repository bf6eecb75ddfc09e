"""Records wherever they are kept, and their export to one file of JSON lines."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import Record
from mklbench.experiments.files import open_regular, reason, write_atomically
from mklbench.experiments.sealing import DamagedError, opened, sealed, warn_damaged
from mklbench.experiments.search import Selection

Status = Literal["done", "incomplete", "failed", "timeout", "missing"]

# All records of the program take a thirtieth of this.
_MOST_BYTES = 2**30

_SPLIT_STATES = ("done", "failed", "timeout")


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
                return {item["split"]: as_selection(item) for item in record["selections"]}
        return {}

    def missing_selections(self, cell: Cell) -> list[int]:
        """Return the splits on whose training parts hyperparameters are still to be chosen."""
        found = self.selections(cell)
        return [split for split in cell.selection_splits if split not in found]


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

    def as_recorded(self, cell: Cell) -> Cell:
        """Return the cell on the edition of its data that is recorded; `cell` if none is."""
        editions = cell.editions()
        if len(editions) == 1:
            return cell
        recorded = {key for key, _ in self._records}
        return next((edition for edition in editions if edition.key in recorded), cell)

    def alike(self, cell: Cell) -> list[Record]:
        """Return the records of all cells with the same algorithm, kernel, data and search.

        They are another version's, or another's in some option: no results of `cell`, but they
        tell how long it may take.
        """
        return self._by_names.get((cell.algo, cell.kernel, cell.data, cell.search), [])

    @cached_property
    def _by_names(self) -> dict[tuple[str, str, str, str], list[Record]]:
        found: dict[tuple[str, str, str, str], list[Record]] = {}
        for item in self._records.values():
            names = (item["algo"], item["kernel"], item["data"], item["search"])
            found.setdefault(names, []).append(item)
        return found


class Layers(RecordSource):
    """Several sources as one, in which a split is done if it is in any of them."""

    def __init__(self, sources: Sequence[RecordSource]) -> None:
        self._sources = sources

    def record(self, cell: Cell, split: int) -> Record | None:
        """Return the record of one split: of the first source where it is done, if there is one."""
        found = [source.record(cell, split) for source in self._sources]
        there = [record for record in found if record is not None]
        done = (record for record in there if record["status"] == "done")
        return next(done, there[0] if there else None)

    def selections(self, cell: Cell) -> dict[int, Selection]:
        """Return by split the shared selections of the source that has the most of them."""
        return max((source.selections(cell) for source in self._sources), key=len, default={})


def export_records(cells: Iterable[Cell], source: RecordSource, path: Path | str) -> int:
    """Write all records of `cells` to one file of JSON lines, in order; return how many.

    Raises
    ------
    InputError : if the file cannot be written.
    """
    records = [record for cell in cells for record in source.records(cell)]
    try:
        write_atomically(path, "".join(sealed(record) for record in records))
    except OSError as error:
        raise InputError(f"The records cannot be written to {path}: {reason(error)}.") from error
    return len(records)


def read_records(path: Path | str) -> list[Record]:
    """Return the records of a file of JSON lines; damaged lines are passed over and named.

    Raises
    ------
    InputError : if the file cannot be read.
    """
    try:
        with open_regular(Path(path), _MOST_BYTES) as stream:
            lines = stream.read().split(b"\n")
    except OSError as error:
        raise InputError(f"The records in {path} cannot be read: {reason(error)}.") from error
    records, damaged = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            content = opened(line)
            check_record(content, content.get("key"), content.get("split"))
        except DamagedError as error:
            damaged.append((number, str(error)))
        else:
            records.append(content)
    if damaged:
        number, why = damaged[0]
        more = f", and so for {len(damaged) - 1} more" if len(damaged) > 1 else ""
        warn_damaged(Path(path), f"line {number}: {why}{more}")
    return records


def check_record(content: Mapping[str, Any], key: str | None, split: int | None) -> None:
    """Check that an object that was read is a record of the given cell and split.

    Raises
    ------
    DamagedError : if it is not, or is said to be done and lacks a result.
    """
    if content.get("status") not in _SPLIT_STATES:
        raise DamagedError("it is no record")
    if not isinstance(key, str) or content.get("key") != key:
        raise DamagedError("it is the record of another cell")
    if not _is_count(split) or content.get("split") != split:
        raise DamagedError("it is the record of another split")
    missing = [name for name in _ALWAYS if name not in content]
    if content["status"] == "done":
        measured = ("objective", "gap", "rmse" if content.get("accuracy") is None else "accuracy")
        missing += [name for name in measured if not _is_number(content.get(name))]
    if missing:
        raise DamagedError(f"it lacks {', '.join(dict.fromkeys(missing))}")


# What every record says, finished or not, of whatever version.
_ALWAYS = (
    "algo", "kernel", "data", "search", "error", "n_train", "n_test", "C", "params", "accuracy",
    "rmse", "n_kernels", "n_base_kernels", "objective", "gap", "converged", "svm_calls", "n_iter",
    "fit_seconds", "svm_seconds", "kernel_seconds", "search_seconds", "predict_seconds",
    "relevant_weight", "weights", "provenance",
)  # fmt: skip


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def as_selection(content: Mapping[str, Any]) -> Selection:
    """Return a selection from its JSON."""
    named = {item.name for item in fields(Selection)}  # older records lack the later ones
    return Selection(**{name: value for name, value in content.items() if name in named})
