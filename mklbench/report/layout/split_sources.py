"""Where the splits of a table came from: the source of the data, or a seeded generator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mklbench.report.analysis.assemble import Report


def describe_split_sources(report: Report) -> Iterator[str]:
    """Yield one sentence on the splits of the finished records, none where no record names them."""
    labels: dict[str, list[str]] = {}  # of the rows, by where their splits came from
    for row in report.table.rows:
        sources = _sources(report, row.name)
        if sources:
            labels.setdefault(_mixture(sources), []).append(row.label)
    if len(labels) == 1:
        yield f"Splits: {next(iter(labels))}."
    elif labels:
        parts = (f"{mixture} on {', '.join(rows)}" for mixture, rows in labels.items())
        yield f"Splits: {'; '.join(parts)}."


def _sources(report: Report, row: str) -> dict[int, str]:
    """Return the source of each split of a row; all columns have the same splits."""
    return {
        record.split: record.split_source
        for place, (_, found) in report.slots.items()
        if place[0] == row
        for record in found.done
        if record.split_source
    }


def _mixture(sources: dict[int, str]) -> str:
    """Say "random", or "1 official, 99 random" where both occur."""
    counts = Counter(sources.values())
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[source]} {source}" for source in sorted(counts))
