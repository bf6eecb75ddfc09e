"""The records behind a table as one file of JSON lines, so that they can travel without a store.

Each line is the record of one split as the store keeps it, with three keys for its place in the
table (row, column, protocol) and `n_splits`, the number of splits of its cell when it is done.
Weights and what else is a list of numbers is kept to six significant digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mklbench.errors import InputError
from mklbench.report.assemble import Place, Record, Report, SlotRecords
from mklbench.report.files import write_atomically
from mklbench.report.paper_table import Slot


def write_records(report: Report, path: Path) -> None:
    """Write the records behind `report` to `path`, atomically."""
    lines = [
        json.dumps(_line(place, found.n_splits, record), sort_keys=True, allow_nan=False)
        for place, (_, found) in report.slots.items()
        for record in found.records
    ]
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


class RecordsFile:
    """The records of one table as `write_records` wrote them; a source for `assemble`."""

    def __init__(self, path: Path) -> None:
        """Read `path`.

        Raises
        ------
        InputError
            If the file is absent or a line of it is no record.
        """
        self.path = path
        self._records: dict[Place, list[Record]] = {}
        for record in _read(path):
            place = (record["row"], record["column"], record["protocol"])
            self._records.setdefault(place, []).append(record)

    def records(self, slot: Slot) -> SlotRecords:
        """Return the recorded splits of `slot`."""
        found = self._records.get(slot.place, [])
        n_splits = int(found[0]["n_splits"]) if found else 0
        return SlotRecords.of(found, n_splits)


def _line(place: Place, n_splits: int, record: Record) -> dict[str, Any]:
    row, column, protocol = place
    kept = {key: _shortened(value) for key, value in record.items()}
    return {**kept, "row": row, "column": column, "protocol": protocol, "n_splits": n_splits}


def _shortened(value: Any) -> Any:
    """Round the numbers of (nested) lists to six significant digits; keep everything else."""
    if not isinstance(value, list):
        return value
    return [float(f"{v:.6g}") if isinstance(v, float) else _shortened(v) for v in value]


def _read(path: Path) -> list[Mapping[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(
            f"{path} holds no records ({error.strerror}): run mklbench reproduce {path.stem} first."
        ) from error
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            missing = {"row", "column", "protocol", "n_splits", "status", "split"} - set(record)
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: line {number} is no JSON record: {error}.") from error
        if missing:
            raise InputError(f"{path}: line {number} lacks {', '.join(sorted(missing))}.")
        records.append(record)
    return records
