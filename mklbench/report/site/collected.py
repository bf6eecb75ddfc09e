"""All tables with what is recorded for them, and with what a store of the reader's own has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.places import CellFinder, recorded_source, slot_records
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import PaperTable


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
    # What was recorded is of our own configs, and composed from these alone it takes a moment.
    places = {name: None if ours.get(name) == path else config_dir for name, path in every.items()}
    found = (_collected(load_table(name, place), store) for name, place in places.items())
    return [one for one in found if one is not None]


def _collected(table: PaperTable, store: Store | None) -> Collected | None:
    try:
        finder = CellFinder(recorded_source(table))
    except InputError:  # a table of the reader's own
        return None if store is None else Collected(table, None, assemble(table, CellFinder(store)))
    recorded = assemble(table, finder)
    if store is None:
        return Collected(table, recorded, None)
    own = assemble(table, lambda slot: slot_records(finder.cell(slot), store))
    return Collected(table, recorded, own)


def loose_records(store: Store, collected: list[Collected]) -> Iterator[list[Record]]:
    """Yield the records of each cell of `store` that stands in no table.

    Parameters
    ----------
    store : Store
        The reader's own results.
    collected : list of Collected
        The tables.
    """
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
