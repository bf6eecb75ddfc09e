"""All tables with what is recorded for them, and beside it what a store of the reader's own has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.places import RunFinder, recorded_source, slot_records
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


# Relative differences up to this are rounding.
ROUNDING = 1e-9


def compare(collected: Sequence[Collected]) -> Iterator[dict[str, Any]]:
    """Yield every number of splits that the own store and the records both have, as texts.

    `moved` tells whether a split has another value. Seconds are of a machine, and are left out.
    """
    for one in collected:
        if one.recorded is None or one.own is None:
            continue
        for number in one.own.numbers.values():
            metric, slot = number.metric, number.slot
            _, own = one.own.slots[slot.place]
            _, recorded = one.recorded.slots[slot.place]
            mine, theirs = own.by_split(metric), recorded.by_split(metric)
            common = sorted(theirs.keys() & mine.keys())
            if metric.is_time or not common:
                continue
            changes = [abs(mine[split] - theirs[split]) for split in common]
            scale = max(abs(theirs[split]) for split in common)
            # Means of the same splits: a store that has few of them is no difference.
            means = (Sample.of([of[split] for split in common]) for of in (theirs, mine))
            recorded_text, own_text = (format_sample(metric, mean) for mean in means)
            yield {
                "table": one.table.name,
                "where": " · ".join([slot.row.label, slot.column.label, slot.protocol.label]),
                "metric": metric.heading,
                "recorded": recorded_text,
                "own": own_text,
                "splits": f"{len(common)} of {len(mine)}",
                "largest": f"{max(changes):.3g}",
                "moved": max(changes) > ROUNDING * max(scale, 1.0),
            }
