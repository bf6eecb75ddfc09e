"""The runs of a table, and their records from the store or from an exported file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mklbench import resources
from mklbench.errors import DataError, InputError
from mklbench.experiments.records import Layers, RecordFile, RecordSource, border_text, record_path
from mklbench.experiments.run import Run
from mklbench.report.analysis.assemble import Place, SlotRecords
from mklbench.report.table.paper_table import PaperTable, Slot
from mklbench.report.table.part import first_splits


class RunFinder:
    """Finds the run of every place of one table, and its records in `source`.

    Parameters
    ----------
    source : RecordSource
        The store, or the records that were exported from one.
    recorded : RecordFile or None, default=None
        Exported records that count as well, where `source` has none; by default `source`, if it
        is such. Where they are of another edition of the data than is at hand, the run is that
        of the records.
    n_splits : int or None, default=None
        Take so many splits of each run that has more, the first.
    """

    def __init__(
        self,
        source: RecordSource,
        *,
        recorded: RecordFile | None = None,
        n_splits: int | None = None,
    ) -> None:
        self.source = source if recorded is None else Layers([source, recorded])
        self.recorded = source if isinstance(source, RecordFile) else recorded
        self.n_splits = n_splits
        self._runs: dict[Place, Run] = {}

    def run(self, slot: Slot) -> Run:
        """Return the run of a place of the table; composed once, as that takes a while.

        Raises
        ------
        InputError
            If the overrides of the place do not make a run.
        """
        if slot.place not in self._runs:
            run = self._composed(slot)
            if self.recorded is not None:
                run = self.recorded.as_recorded(run)
            self._runs[slot.place] = run
        return self._runs[slot.place]

    def _composed(self, slot: Slot) -> Run:
        try:
            run = Run.from_overrides(slot.overrides, slot.config_dir)
            if self.n_splits is None or self.n_splits >= run.n_splits:
                return run
            overrides = first_splits(slot, self.n_splits).overrides
            return Run.from_overrides(overrides, slot.config_dir)
        except DataError:
            raise
        except InputError as error:
            row, column, protocol = slot.place
            where = f"row {row}, column {column}, protocol {protocol}"
            raise InputError(f"{where}: {error}") from error

    def runs(self, slots: Iterable[Slot]) -> list[Run]:
        """Return the runs of `slots`, in order."""
        return [self.run(slot) for slot in slots]

    def __call__(self, slot: Slot) -> SlotRecords:
        """Return what `source` has of the run of `slot`."""
        run = self.run(slot)
        try:
            return replace(slot_records(run, self.source), key=run.key)
        except InputError as error:  # without its data a run may have no key to look for
            return SlotRecords("missing", (), run.n_splits, str(error))


def slot_records(run: Run, source: RecordSource) -> SlotRecords:
    """Return what `source` has of `run`."""
    found = source.read(run)
    message = next((record.reason for record in found.records if not record.is_done), "")
    return SlotRecords(
        found.status,
        found.records,
        run.n_splits,
        message,
        border=border_text(found.done, run.config.search.grid),
    )


def recorded_source(table: PaperTable) -> RecordFile:
    """Return the recorded results behind `table`.

    Raises
    ------
    InputError
        If there are none.
    """
    path = record_path(resources.recorded_results() / "records", table.name)
    if not path.is_file():
        if table.name in resources.choices("table"):
            check_records()
        raise InputError(
            f"table={table.name} has no recorded results: {path} does not exist; "
            f"mklbench reproduce {table.name} writes results/records/{table.name}.jsonl."
        )
    return RecordFile(path)


def check_records() -> None:
    """Raise InputError unless the records of all tables are here, as they are in a checkout."""
    if resources.checkout() is None:
        raise InputError(
            "The records behind the tables do not come with the installed program: clone the "
            "repository of mklbench, and run this command there."
        )
