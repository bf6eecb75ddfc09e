"""What a wheel carries of the recorded results: their numbers, packed, in a twelfth of the space.

In a checkout the records are plain JSON lines, so that what has changed can be read in a diff. Half
of that is repeated in every line, and most of the rest are digits. In a wheel kernel weights have
six of them, which is what `mklbench check` compares, and so have numbers that it does not compare;
a gap has eight; seconds have four, which is more than a clock repeats; the objectives of a fit's
iterations have as many as tell how far they are from the last; the check sum that xz keeps of a
file stands in for that of every line. The same records make the same wheel. Records that are packed
in the checkout already are too many for it, and their table is of no use without them.
"""

from __future__ import annotations

import json
import lzma
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Of weights and of a gap; `mklbench.report.analysis.confirmed` rounds alike.
_DIGITS, _GAP_DIGITS = 6, 8
_TIME_DIGITS = 4
_COURSE_DIGITS = 3  # of how far an iteration's objective is from the last
_NOT_COMPARED = frozenset({"family_gap", "relevant_weight", "search_accuracy", "search_rmse"})
# Characters have no alignment to four bytes, and follow from all of the one before.
_OF_TEXT = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


class RecordsHook(BuildHookInterface):
    """Adds ``results/`` to a wheel; an editable installation reads that of the checkout."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the packed records to a directory of this build and have them included."""
        if version == "editable":
            return
        self._packed = Path(tempfile.mkdtemp(prefix="mklbench-records-"))
        results = Path(self.root) / "results"
        included = {results / "records" / "confirmed.json": "records/confirmed.json"}
        included |= {
            path: f"tables/{path.name}"
            for path in (results / "tables").glob("*.csv")
            if not (results / "records" / f"{path.stem}.jsonl.xz").exists()
        }
        gaps = results / "figures" / "bench_gaps.csv"  # which the report shows
        included |= {gaps: "figures/bench_gaps.csv"} if gaps.is_file() else {}
        for path in sorted((results / "records").glob("*.jsonl")):
            packed = self._packed / f"{path.name}.xz"
            packed.write_bytes(pack(path.read_bytes()))
            included[packed] = f"records/{packed.name}"
        build_data["force_include"] |= {
            str(path): f"mklbench/results/{name}" for path, name in included.items()
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for this build."""
        if version != "editable":
            shutil.rmtree(self._packed)


def pack(lines: bytes) -> bytes:
    """Return records, one JSON object a line, as a wheel has them."""
    records = (json.loads(line) for line in lines.splitlines() if line.strip())
    text = "".join(
        json.dumps(_abridged(record), separators=(",", ":")) + "\n" for record in records
    )
    return lzma.compress(text.encode(), filters=_OF_TEXT)


def _abridged(record: dict[str, Any]) -> dict[str, Any]:
    kept = {name: _shorter(name, record[name]) for name in record if name != "checksum"}
    return kept | {"schema": 1, "weights": _rounded(record["weights"])}  # 1: without a checksum


def _shorter(name: str, value: Any) -> Any:
    """Return the value of a field with as many digits as are kept of it."""
    if name == "descent" and value is not None:
        return {**value, "objective": _course(value["objective"])}
    if isinstance(value, list):  # of selections
        return [_shorter(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _shorter(key, item) for key, item in value.items()}
    if not isinstance(value, float):
        return value
    if name.endswith("seconds"):
        return float(f"{value:.{_TIME_DIGITS}g}")
    if name == "gap":
        return float(f"{value:.{_GAP_DIGITS}g}")
    return float(f"{value:.{_DIGITS}g}") if name in _NOT_COMPARED else value


def _course(objectives: list[Any]) -> list[Any]:
    """Return the objectives of iterations with as many digits as their distance from the last has.

    A page draws that distance; None stands where an objective was not finite, and stays.
    """
    last = objectives[-1]
    if last is None:
        return objectives
    return [
        value if value is None or value == last else _to_the_place(value, abs(value - last))
        for value in objectives
    ]


def _to_the_place(value: float, distance: float) -> float:
    """Return a value rounded where the last digit that is kept of the distance stands."""
    return round(value, _COURSE_DIGITS - 1 - math.floor(math.log10(distance)))


def _rounded(weights: Any) -> Any:
    if isinstance(weights, list):
        return [_rounded(row) for row in weights]
    return weights if weights is None else float(f"{weights:.{_DIGITS}g}")
