"""The scores of every split of a table that ranks methods, as numbers alone.

They are what `mklbench compare` needs of the records: a hundredth of them, which a wheel carries.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.assemble import Place, Report, SlotRecords
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import PaperTable, Slot

_COLUMNS = ("row", "column", "protocol", "split", "accuracy", "seconds")


def scores_path(results: Path, table: str) -> Path:
    """Return the file of the scores of a table among the results."""
    return results / "scores" / f"{table}.csv"


def to_scores(report: Report) -> str:
    """Return as CSV the splits of the cells that are done.

    `accuracy` is a share, and `seconds` are of the processor, for the choice of hyperparameters,
    the kernels and the fit.
    """
    seconds = METRICS["total_time"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for place, (_, found) in report.slots.items():
        for record in found.done if found.status == DONE else ():
            spent = seconds.value(record)
            shown = "" if spent is None else f"{spent:.3g}"
            writer.writerow([*place, record.split, record.accuracy, shown])
    return stream.getvalue()


class Scores:
    """Finds the recorded scores of every place of a table (a `Finder`).

    Parameters
    ----------
    table : PaperTable
        A table that ranks methods.

    Raises
    ------
    InputError
        If there are none.
    """

    def __init__(self, table: PaperTable) -> None:
        path = scores_path(resources.recorded_results(), table.name)
        if not path.is_file():
            raise InputError(
                f"--table {table.name} has no recorded scores: {path} does not exist; mklbench "
                f"reproduce {table.name} writes it."
            )
        self._records: dict[Place, list[Record]] = {}
        self._seconds: dict[Place, float] = {}
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                place = (line["row"], line["column"], line["protocol"])
                self._records.setdefault(place, []).append(_record(line))
                self._seconds[place] = self._seconds.get(place, 0.0) + float(line["seconds"] or 0)

    def __call__(self, slot: Slot) -> SlotRecords:
        """Return what there is for a place of the table; cells that are not done have nothing."""
        found = self._records.get(slot.place, [])
        return SlotRecords(DONE if found else "missing", found, len(found))

    def seconds(self, place: Place) -> float | None:
        """Return what all splits of a cell took; None unless it is done."""
        return self._seconds.get(place)


def _record(line: dict[str, str]) -> Record:
    return Record(
        key="",
        algo="",
        kernel="",
        data="",
        search="",
        split=int(line["split"]),
        accuracy=float(line["accuracy"]),
        status=DONE,
        provenance={},
    )
