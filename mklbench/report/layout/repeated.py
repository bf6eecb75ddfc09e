"""Marks at the numbers of a table whose splits were run again here, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator

from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.document.blocks import Block, Definitions, Paragraph

_MARKS = {"confirmed": "●", "moved": "✗", "recorded": "○"}

_LEGEND = (
    "The numbers are those of the records. ● with a number: so many splits were run again here, "
    "and agree with their records within the stopping rule; ✗: a split gives something else, which "
    "is listed below; ○: recorded, and not compared, as no time is."
)


def state(report: Report, number: Number) -> tuple[str, int]:
    """Return "confirmed", "moved" or "recorded", and how many splits say so; "" without records."""
    found = None if report.repeated is None else report.repeated.get(number.slot.place)
    if found is None or number.measured is None:
        return "", 0
    if not number.metric.is_time:
        if found.moved:
            return "moved", len(found.moved)
        if found.n_same:
            return "confirmed", found.n_same
    return "recorded", 0


def repeat_mark(report: Report, number: Number) -> str:
    """Return the mark of a number; "" where nothing was run again."""
    name, n_splits = state(report, number)
    return f"{_MARKS.get(name, '')}{n_splits or ''}"


def repeat_blocks(report: Report) -> Iterator[Block]:
    """Yield what the marks mean, and all that moved."""
    if report.repeated is None:
        return
    yield Paragraph(_LEGEND)
    moved = [
        (f"moved: {' '.join(place)}", found.moved)
        for place, found in report.repeated.items()
        if found.moved
    ]
    if moved:
        yield Definitions(moved)
