"""A method from outside beside those of a recorded comparison, as one column more of its table.

The others are known by their scores alone: a hundredth of their records, which a wheel carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklbench import resources
from mklbench.config import by_key, compose, declared, run_config
from mklbench.errors import InputError
from mklbench.experiments.record import DONE, Record
from mklbench.experiments.store import Store
from mklbench.kernels import Bank
from mklbench.report.analysis.assemble import Place, Report, SlotRecords
from mklbench.report.analysis.places import RunFinder
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, PaperTable, Slot

if TYPE_CHECKING:
    from pandas import DataFrame


def scores_path(results: Path, table: str) -> Path:
    """Return the file of the scores of a table among the results."""
    return results / "scores" / f"{table}.csv"


def to_scores(report: Report) -> str:
    """Return as CSV the splits of the runs that are done.

    `accuracy` is a share, and `seconds` are of the processor, for the choice of hyperparameters,
    the kernels and the fit.
    """
    from pandas import DataFrame

    seconds = METRICS["total_time"]
    lines = [
        [*place, record.split, record.accuracy, seconds.value(record)]
        for place, (_, found) in report.slots.items()
        if found.status == DONE
        for record in found.done
    ]
    scores = DataFrame(lines, columns=["row", "column", "protocol", "split", "accuracy", "seconds"])
    scores["seconds"] = [f"{spent:.3g}" if spent == spent else "" for spent in scores["seconds"]]
    return scores.to_csv(index=False)


def _scores(table: PaperTable) -> DataFrame:
    """Return the recorded scores of a table that ranks methods, a line a split."""
    from pandas import read_csv

    path = scores_path(resources.recorded_results(), table.name)
    if not path.is_file():
        raise InputError(
            f"--table {table.name} has no recorded scores: {path} does not exist; mklbench "
            f"reproduce {table.name} writes it."
        )
    return read_csv(path)


# The column of a comparison whose kernels a candidate gets that takes a bank.
WITH_ITS_KERNELS = "uniform"
# Of the candidate among the columns.
NAME = "candidate"
# Sets of a quick comparison.
_QUICK = 5


def with_candidate(
    table: PaperTable, overrides: Sequence[str], quick: bool, config_dir: str | None
) -> PaperTable:
    """Return the table with a column for a candidate, which gets the grid and bank of the others.

    A method of the comparison that is the candidate is left out.

    Parameters
    ----------
    table : PaperTable
        The comparison.
    overrides : sequence of str
        Of the candidate: ``algo=mine`` and what else is to differ from its config.
    quick : bool
        Whether only the five sets are kept on which the uniform combination took least time.
    config_dir : str or None
        Of the user's own configs.

    Raises
    ------
    InputError
        If the overrides name no algorithm, or name what the comparison fixes, or the table compares
        nothing.
    """
    if table.ranking is None or all(one.name != WITH_ITS_KERNELS for one in table.columns):
        raise InputError(
            f"--table {table.name} ranks no methods beside a uniform combination: leave it out, or "
            "choose another."
        )
    column = _column(table, overrides, config_dir)
    rows = table.rows
    if quick:
        scores = _scores(table)
        seconds = scores[scores["column"] == WITH_ITS_KERNELS].groupby("row")["seconds"].sum()
        kept = seconds.nsmallest(_QUICK).index
        rows = tuple(row for row in rows if row.name in kept)
    others = (one for one in table.columns if one.overrides != column.overrides)
    return replace(table, rows=rows, columns=(column, *others), config_dir=config_dir)


def _column(table: PaperTable, overrides: Sequence[str], config_dir: str | None) -> Column:
    named = by_key(overrides)
    if "algo" not in named:
        raise InputError("mklbench compare needs an algorithm: mklbench compare algo=mine.")
    fixed = ("data", "split", "results_dir", "out")
    if wrong := [text for name, text in named.items() if name.split(".")[0] in fixed]:
        raise InputError(
            f"{wrong[0]} is not accepted: mklbench compare fixes data and splits, so leave it out."
        )
    algorithm = declared(run_config(compose([*table.common, *overrides], config_dir)).algo)
    pattern = next(column for column in table.columns if column.name == WITH_ITS_KERNELS)
    bank = [text for text in pattern.overrides if text.startswith(("kernel=", "kernel."))]
    grid = [text for text in pattern.overrides if text.startswith("search.grid.algo.C=")]
    takes_bank = issubclass(Bank, algorithm.takes) and "kernel" not in named
    searches_C = "C" in algorithm.options and not any(
        name == "algo.C" or name.split(".")[0] == "search" for name in named
    )
    return Column(
        name=NAME,
        label=" ".join(overrides),
        overrides=(*overrides, *(bank if takes_bank else ()), *(grid if searches_C else ())),
        metrics=pattern.metrics,
        row_overrides=pattern.row_overrides if takes_bank else {},
    )


class CandidateFinder:
    """Finds the records of the candidate in a store, and the scores of all others as recorded.

    Parameters
    ----------
    table : PaperTable
        The comparison with its candidate.
    store : Store
        Where the candidate's records are.
    """

    def __init__(self, table: PaperTable, store: Store) -> None:
        self.own = RunFinder(store)
        unnamed: dict[str, Any] = dict.fromkeys(("key", "algo", "kernel", "data", "search"), "")
        self._recorded: dict[Place, list[Record]] = {}
        one: Any
        for one in _scores(table).itertuples():
            record = Record(
                **unnamed, split=one.split, accuracy=one.accuracy, status=DONE, provenance={}
            )
            self._recorded.setdefault((one.row, one.column, one.protocol), []).append(record)

    def __call__(self, slot: Slot) -> SlotRecords:
        """Return what there is for a place of the table; runs that are not done have nothing."""
        if slot.column.name == NAME:
            return self.own(slot)
        found = self._recorded.get(slot.place, [])
        return SlotRecords(DONE if found else "missing", found, len(found))
