"""One's own results beside the recorded ones, split by split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.document import NOTHING
from mklbench.report.layout.entries import format_count, format_sample
from mklbench.report.site.collected import Collected
from mklbench.report.table.metrics import Metric
from mklbench.report.table.verdict import Sample

# Relative differences up to this are rounding.
ROUNDING = 1e-9

SAME, MOVED, TIME, ALONE = "same", "moved", "time", "no split of both"


@dataclass(frozen=True)
class Compared:
    """One number of the own store beside the recorded one.

    `state` is "same", "moved", "time", which is of a machine and not judged, or "no split of both";
    `largest` is the largest difference of a split.
    """

    table: str
    where: str
    metric: str
    recorded: str
    own: str
    splits: str
    difference: str
    largest: str
    state: str


def compare(collected: Sequence[Collected]) -> Iterator[Compared]:
    """Yield every number that the own store and the records both have, table by table."""
    for one in collected:
        if one.recorded is None or one.own is None:
            continue
        for place, number in one.own.numbers.items():
            recorded = one.recorded.numbers.get(place)
            if (
                number.measured is not None
                and recorded is not None
                and recorded.measured is not None
            ):
                yield _compared(one.recorded, one.own, recorded, number)


def _compared(report: Report, own_report: Report, recorded: Number, own: Number) -> Compared:
    metric, slot = own.metric, own.slot
    theirs = report.slots[slot.place][1].by_split(metric)
    mine = own_report.slots[slot.place][1].by_split(metric)
    common = sorted(theirs.keys() & mine.keys())
    # Means of the same splits: a store that has few of them is no difference.
    first = Sample.of([theirs[split] for split in common])
    second = Sample.of([mine[split] for split in common])
    differences = [abs(mine[split] - theirs[split]) for split in common]
    scale = max((abs(theirs[split]) for split in common), default=0.0)
    moved = any(difference > ROUNDING * max(scale, 1.0) for difference in differences)
    several = len(report.table.protocols) > 1
    labels = [slot.row.label, slot.column.label, *([slot.protocol.label] if several else [])]
    return Compared(
        table=report.table.name,
        where=" · ".join(labels),
        metric=metric.heading,
        recorded=format_sample(metric, first),
        own=format_sample(metric, second),
        splits=f"{len(common)} of {format_count(own).partition('/')[0]}",
        difference=_printed(metric, second.mean - first.mean, "+") if first and second else NOTHING,
        largest=_printed(metric, max(differences)) if differences else NOTHING,
        state=ALONE if not common else TIME if metric.is_time else MOVED if moved else SAME,
    )


def _printed(metric: Metric, value: float, sign: str = "") -> str:
    decimals = 3 if metric.decimals is None else metric.decimals + 1
    return f"{value:{sign}.{decimals}f}"
