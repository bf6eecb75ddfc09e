"""All tables with what is recorded for them, and beside it what a store of the reader's own has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Number, Report, SlotRecords, assemble
from mklbench.report.analysis.places import RunFinder, recorded_source, slot_records
from mklbench.report.document import NOTHING
from mklbench.report.layout.entries import format_sample
from mklbench.report.loading import load_table
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
            finder = RunFinder(recorded_source(table))
        except InputError:  # a table of the reader's own
            if store is not None:
                found.append(Collected(table, None, assemble(table, RunFinder(store))))
            continue
        own = None if store is None else _of_store(table, finder, store)
        found.append(Collected(table, assemble(table, finder), own))
    return found


def _of_store(table: PaperTable, finder: RunFinder, store: Store) -> Report:
    """Return what a store has of the runs as they are recorded, of their edition of the data."""
    return assemble(table, lambda slot: slot_records(finder.run(slot), store))


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


def compare(collected: Sequence[Collected]) -> Iterator[dict[str, str]]:
    """Yield every number that the own store and the records both have, table by table, as texts.

    Its ``state`` is "same", "moved", "time", which is of a machine and not judged, or "no split of
    both"; ``largest`` is the largest difference of a split.
    """
    for one in collected:
        if one.recorded is None or one.own is None:
            continue
        for (*place, _), number in one.own.numbers.items():
            recorded = one.recorded.slots.get((place[0], place[1], place[2]))
            if number.measured is not None and recorded is not None and recorded[1].done:
                own = one.own.slots[number.slot.place][1]
                yield {"table": one.table.name} | _compared(number, recorded[1], own)


def _compared(number: Number, recorded: SlotRecords, own: SlotRecords) -> dict[str, str]:
    metric, slot = number.metric, number.slot
    theirs, mine = recorded.by_split(metric), own.by_split(metric)
    common = sorted(theirs.keys() & mine.keys())
    # Means of the same splits: a store that has few of them is no difference.
    means = [Sample.of([of[split] for split in common]) for of in (theirs, mine)]
    changes = [mine[split] - theirs[split] for split in common]
    scale = max((abs(theirs[split]) for split in common), default=0.0)
    moved = any(abs(change) > ROUNDING * max(scale, 1.0) for change in changes)
    decimals = 3 if metric.decimals is None else metric.decimals + 1
    return {
        "where": " · ".join([slot.row.label, slot.column.label, slot.protocol.label]),
        "metric": metric.heading,
        "recorded": format_sample(metric, means[0]),
        "own": format_sample(metric, means[1]),
        "splits": f"{len(common)} of {len(mine)}",
        "difference": f"{fmean(changes):+.{decimals}f}" if common else NOTHING,
        "largest": f"{max(map(abs, changes)):.{decimals}f}" if common else NOTHING,
        "state": ALONE if not common else TIME if metric.is_time else MOVED if moved else SAME,
    }
