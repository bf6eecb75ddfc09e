"""Records wherever they are kept, and their export to one file of JSON lines."""

from __future__ import annotations

import hashlib
import lzma
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from mklbench.data.files import unpack
from mklbench.errors import refused
from mklbench.experiments.files import (
    DamagedError,
    read_regular,
    verified,
    warn_damaged,
    with_checksum,
)
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.run import Run
from mklbench.grids import at_ends
from mklbench.resources import write_atomically

Status = Literal["done", "incomplete", "failed", "timeout", "missing"]

# Lists the checksums of the files in a directory of records.
SUMS = "SHA256SUMS"

# What a split takes, one after the other.
CLOCKS = ("search_seconds", "kernel_seconds", "fit_seconds", "predict_seconds")


@dataclass(frozen=True)
class RunRecords:
    """What a source has of one run, as it was when it was read.

    Attributes
    ----------
    run : Run
        The run.
    records : list of Record
        Of its splits there are, sorted by split.
    selections : mapping of int to Selection
        By split, those that the splits of the run share, as far as there are any.
    error : str or None
        The sentence of what the user has to mend before it can run, or None.
    """

    run: Run
    records: list[Record]
    selections: Mapping[int, Selection] = field(default_factory=dict)
    error: str | None = None

    @property
    def done(self) -> list[Record]:
        """The records of finished splits."""
        return [record for record in self.records if record.is_done]

    @property
    def status(self) -> Status:
        """How far the run is.

        "done" only if every split is; else "failed" or "timeout" if a split ended so, "incomplete"
        if splits are missing, "missing" if all are.
        """
        states = {record.status for record in self.records}
        worst: Status = "failed" if "failed" in states else "timeout"
        if worst in states:
            return worst
        if not self.missing:
            return "done"
        return "incomplete" if states else "missing"

    @property
    def missing(self) -> list[int]:
        """The splits still to run: those without a record and those that failed."""
        done = {record.split for record in self.done}
        return [split for split in range(self.run.n_splits) if split not in done]

    @property
    def missing_selections(self) -> list[int]:
        """The splits on whose training parts hyperparameters are still to be chosen."""
        return [split for split in self.run.selection_splits if split not in self.selections]


class RecordSource(Protocol):
    """Anything that has the records of runs."""

    def read(self, run: Run) -> RunRecords:
        """Return what there is of a run and can be read."""


class RecordFile(RecordSource):
    """Records exported to one file of JSON lines (`export_records`), read-only.

    Parameters
    ----------
    path : Path or str
        The file.

    Raises
    ------
    InputError
        If the file cannot be read.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._records: dict[str, dict[int, Record]] = {}  # by key and split
        for record in read_records(path):
            self._records.setdefault(record.key, {})[record.split] = record

    def read(self, run: Run) -> RunRecords:
        """Return what the file has of a run."""
        found = self._records.get(run.key, {})
        records = [found[split] for split in sorted(found) if split < run.n_splits]
        return RunRecords(run, records, shared_selections(run, records))

    def as_recorded(self, run: Run) -> Run:
        """Return the run on the edition of its data that is recorded; `run` if none is."""
        editions = run.editions()
        if len(editions) == 1:
            return run
        return next((edition for edition in editions if edition.key in self._records), run)


class Layers(RecordSource):
    """Several sources as one, in which a split is done if it is in any of them."""

    def __init__(self, sources: Sequence[RecordSource]) -> None:
        self._sources = sources

    def read(self, run: Run) -> RunRecords:
        """Return of each split what the first source has where it is done, if there is one.

        The shared selections are those of the source that has the most of them.
        """
        found = [source.read(run) for source in self._sources]
        there = [record for one in found for record in one.records]
        best: dict[int, Record] = {}
        for record in sorted(there, key=lambda record: not record.is_done):
            best.setdefault(record.split, record)
        selections = max((one.selections for one in found), key=len, default={})
        return RunRecords(run, [best[split] for split in sorted(best)], selections)


def shared_selections(run: Run, records: Iterable[Record]) -> dict[int, Selection]:
    """Return by split the selections that the splits of a run share.

    Every finished record of the run carries all of them: the first is asked.
    """
    if not run.selection_splits:
        return {}
    done = next((record for record in records if record.is_done), None)
    return {} if done is None else done.shared_selections


def split_seconds(record: Record) -> float:
    """Return what a split took, without a search that was for all splits of its run."""
    clocks = [clock for clock in CLOCKS if clock != "search_seconds" or not record.selections]
    return math.fsum(getattr(record, clock) or 0.0 for clock in clocks)


def record_path(directory: Path, table: str) -> Path:
    """Return the file of the records of a table in `directory`: packed where it is there so."""
    plain, packed = (directory / f"{table}.jsonl{ending}" for ending in ("", ".xz"))
    return packed if packed.is_file() and not plain.is_file() else plain


def export_records(runs: Iterable[Run], source: RecordSource, path: Path | str) -> int:
    """Write all records of `runs` to one file of JSON lines, in order; return how many.

    It is packed where the name of the file ends in ``.xz``; the same records make the same file.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    records = [record for run in runs for record in source.read(run).records]
    lines = "".join(with_checksum(record.to_json()) for record in records)
    is_packed = Path(path).suffix == ".xz"
    with refused(f"The records cannot be written to {path}"):
        write_atomically(path, lzma.compress(lines.encode()) if is_packed else lines)
    return len(records)


def write_sums(directory: Path) -> None:
    """List the SHA-256 of the files of records in a directory, as ``sha256sum`` does."""
    lines = [_sum(path, path.read_bytes()) for path in sorted(directory.glob("*.jsonl*"))]
    write_atomically(directory / SUMS, "".join(f"{line}\n" for line in lines))


def _sum(path: Path, data: bytes) -> str:
    return f"{hashlib.sha256(data).hexdigest()}  {path.name}"


def _is_listed(path: Path, data: bytes) -> bool:
    sums = path.parent / SUMS
    return sums.is_file() and _sum(path, data) in sums.read_text(encoding="utf-8").splitlines()


def read_records(path: Path | str) -> list[Record]:
    """Return the records of a file of JSON lines, packed or not.

    Damaged lines are passed over and named. A file that is as its directory lists it (`write_sums`)
    is not checked line by line, which takes half of the time.

    Parameters
    ----------
    path : Path or str
        The file.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    with refused(f"The records in {path} cannot be read"):
        data = read_regular(Path(path))
        is_checked = _is_listed(Path(path), data)
        lines = unpack(data, str(path)).split(b"\n")
    records, damaged = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(Record.from_json(verified(line, is_checked=is_checked)))
        except DamagedError as error:
            damaged.append(f"line {number}: {error}")
    if damaged:
        warn_damaged(Path(path), f"{damaged[0]}; {len(damaged)} lines in all")
    return records


def border_text(records: Sequence[Record], grid: Mapping[str, Any]) -> str:
    """Say what was chosen at the border: "C at the border in 12 of 20 splits"; empty if nothing.

    Parameters
    ----------
    records : sequence of Record
        Of the finished splits of a run.
    grid : mapping of str to object
        Of its search; older records do not say themselves what is at the border.
    """
    counts = Counter(
        path.rpartition(".")[2]
        for record in records
        for path in (
            at_ends(grid, record.params or {}) if record.at_border is None else record.at_border
        )
    )
    n = len(records)
    return ", ".join(f"{name} at the border in {k} of {n} splits" for name, k in counts.items())
