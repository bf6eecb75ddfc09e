"""All tables with what is recorded for them, and beside it what a store of the reader's own has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Number, Report, assemble
from mklbench.report.analysis.places import CellFinder, recorded_source, slot_records
from mklbench.report.document import NOTHING
from mklbench.report.layout.entries import format_count, format_sample
from mklbench.report.loading import load_table
from mklbench.report.table.metrics import Metric
from mklbench.report.table.paper_table import PaperTable
from mklbench.report.table.verdict import Sample


@dataclass(frozen=True)
class Collected:
    """One table: what is recorded of it, and what the reader's own store has (None without one).

    `recorded` is None of a table of the reader's own, of which nothing was recorded with the
    program.
    """

    table: PaperTable
    recorded: Report | None
    own: Report | None

    @property
    def shown(self) -> Report:
        """What the pages of the table show: the recorded results where there are any."""
        report = self.recorded or self.own
        assert report is not None
        return report


def collect(store: Store | None = None, config_dir: str | None = None) -> list[Collected]:
    """Assemble every table from its recorded results, and from `store` where one is given.

    Parameters
    ----------
    store : Store or None, default=None
        The reader's own results.
    config_dir : str or None, default=None
        A directory of the reader's own configs, whose tables are shown as far as `store` has them.
    """
    ours, every = (resources.choices("table", directory) for directory in (None, config_dir))
    found = []
    for name, path in every.items():
        # What was recorded is of our own configs, and composed from these alone it takes a moment.
        table = load_table(name, None if ours.get(name) == path else config_dir)
        try:
            finder = CellFinder(recorded_source(table))
        except InputError:  # a table of the reader's own
            if store is not None:
                found.append(Collected(table, None, assemble(table, CellFinder(store))))
            continue
        own = None if store is None else _of_store(table, finder, store)
        found.append(Collected(table, assemble(table, finder), own))
    return found


def _of_store(table: PaperTable, finder: CellFinder, store: Store) -> Report:
    """Return what a store has of the runs as they are recorded, of their edition of the data."""
    return assemble(table, lambda slot: slot_records(finder.cell(slot), store))


def loose_records(store: Store, collected: Sequence[Collected]) -> Iterator[list[Record]]:
    """Yield the records of each run of `store` that stands in none of the tables."""
    keys = {
        found.key or record.key
        for one in collected
        for report in (one.recorded, one.own)
        if report is not None
        for _, found in report.slots.values()
        for record in found.records[:1]
    }
    for directory in store.directories():
        records = list(store.records_in(directory))
        if records and records[0].key not in keys:
            yield records


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
