"""Choices at the border of what a search tried, where better values may lie beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mklbench.experiments.record import Record
from mklbench.grids import at_ends


def border_text(records: Sequence[Record], grid: Mapping[str, Any]) -> str:
    """Say what was chosen at the border: "C at the border in 12 of 20 splits"; empty if nothing.

    Parameters
    ----------
    records : sequence of Record
        Of the finished splits of a cell.
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
