"""What the records say of a method: how its time grows, where it pays, how its fits end.

Everything is computed from the recorded splits when the pages are written, and so is never older
than they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import yaml

from mklbench import resources
from mklbench.experiments.record import DONE, Record
from mklbench.experiments.records import read_records
from mklbench.report.analysis.assemble import SlotRecords, assemble, cpu_model
from mklbench.report.analysis.significance import LEVEL, corrected_p_value
from mklbench.report.layout.ranking import rank_methods
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import PaperTable, Slot

# The comparison of all methods on the same splits, and what each is compared with in it.
COMPARISON, UNIFORM, TUNED = "all_methods", "uniform", "svm"
# Fewer sizes than this give no exponent, nor do those that differ by less than this factor.
FEWEST_SIZES, LEAST_RANGE = 8, 3.0


@dataclass(frozen=True)
class Size:
    """A recorded run: samples n, kernels M, and the median CPU seconds of a fit over its splits.

    M is None of kernels in a family, which has no number of them.
    """

    n: int
    m: int | None
    seconds: float


@dataclass(frozen=True)
class Growth:
    """seconds = scale n^a M^b, by least squares on the logarithms.

    Attributes
    ----------
    exponents : dict of str to tuple of two floats
        Of "n" and "M", or of "n" alone where M hardly varies: the exponent, and its standard error.
    scale : float
        In seconds.
    spread : float
        The factor by which a size typically lies above or below it (one standard deviation).
    runs : tuple of Size
        The runs that it is fitted to.
    n_sizes : int
        How many sizes these have.
    """

    exponents: Mapping[str, tuple[float, float]]
    scale: float
    spread: float
    runs: tuple[Size, ...]
    n_sizes: int

    def seconds(self, n: float, m: float) -> float:
        """Return what a fit of this size takes by it."""
        powers = {"n": n, "M": m}
        of_sizes = (powers[name] ** exponent for name, (exponent, _) in self.exponents.items())
        return self.scale * math.prod(of_sizes)


def growth(runs: Sequence[Size]) -> Growth | None:
    """Fit how the time grows with samples and kernels; None where the sizes are too few.

    Runs of one size count as one, at the geometric mean of their times: they differ in data,
    options and tolerance, and ten of them are not ten sizes.

    Parameters
    ----------
    runs : sequence of Size
        One processor model, two classes or real targets.

    Returns
    -------
    Growth or None
        None below `FEWEST_SIZES` sizes, or where n varies by less than `LEAST_RANGE`.
    """
    times: dict[tuple[int, int], list[float]] = {}
    for run in runs:
        times.setdefault((run.n, run.m or 1), []).append(math.log(run.seconds))
    sizes = {"n": [n for n, _ in times], "M": [m for _, m in times]}
    if len(times) < FEWEST_SIZES or not _varies(sizes["n"]):
        return None
    names = [name for name in sizes if _varies(sizes[name])]
    design = np.column_stack([np.ones(len(times)), *(np.log(sizes[name]) for name in names)])
    target = np.array([np.mean(logarithms) for logarithms in times.values()])
    found, *_ = np.linalg.lstsq(design, target, rcond=None)
    residuals = target - design @ found
    variance = float(residuals @ residuals) / (len(times) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    pairs = zip(names, zip(found[1:].tolist(), errors[1:].tolist(), strict=True), strict=True)
    scale, spread = math.exp(found[0]), math.exp(math.sqrt(variance))
    return Growth(dict(pairs), scale, spread, tuple(runs), len(times))


def _varies(sizes: Sequence[float]) -> bool:
    return max(sizes) >= LEAST_RANGE * min(sizes)


@dataclass(frozen=True)
class Against:
    """A column of the comparison beside another one, set by set.

    Attributes
    ----------
    better, worse : dict of str to float
        Sets on which the corrected test finds a difference, and by how many percentage points.
    alike : tuple of str
        Those on which it finds none.
    """

    better: Mapping[str, float]
    worse: Mapping[str, float]
    alike: tuple[str, ...]


class Evidence:
    """All recorded splits, read once."""

    def __init__(self) -> None:
        self.table = load_table(COMPARISON)
        files = sorted((resources.recorded_results() / "records").glob("*.jsonl"))
        self.tables = {path.stem: read_records(path) for path in files}
        self._columns = _by_run(self.table, self.tables[COMPARISON])
        self.ranks = _mean_ranks(self.table, self._columns)

    def of(self, algo: str) -> dict[str, list[Record]]:
        """Return the records of an algorithm by the tables that have them."""
        found = {
            name: [record for record in records if record.algo == algo]
            for name, records in self.tables.items()
        }
        return {name: records for name, records in found.items() if records}

    def growth(self, algo: str) -> Growth | None:
        """Return how the time of an algorithm grows, on the processor with most of its runs."""
        return growth(self.sizes(algo))

    def sizes(self, algo: str) -> list[Size]:
        """Return its runs of two classes or real targets, on the processor with most sizes.

        Of kernels in a family there is no number, so that they are not mixed with others.
        """
        runs: dict[tuple[str, str], list[Record]] = {}
        for name, records in self.of(algo).items():
            for record in records:
                if record.is_done and _n_classes(record.data) <= 2:
                    runs.setdefault((name, record.key), []).append(record)
        alike: dict[tuple[str, bool], list[Size]] = {}
        for records in runs.values():
            size = _size(records)
            if size is not None:
                alike.setdefault((cpu_model(records[0]), size.m is None), []).append(size)
        return max(alike.values(), key=_n_sizes, default=[])

    def columns(self, algo: str) -> list[str]:
        """Return the columns of the comparison that are of an algorithm, in its order."""
        return [
            name
            for name, rows in self._columns.items()
            if next(iter(rows.values()))[0].algo == algo
        ]

    def label(self, column: str) -> str:
        """Return how the comparison calls a column."""
        return next(each.label for each in self.table.columns if each.name == column)

    def against(self, column: str, other: str) -> Against:
        """Compare two columns on each set that both have, as the table does."""
        better: dict[str, float] = {}
        worse: dict[str, float] = {}
        alike: list[str] = []
        labels = {row.name: row.label for row in self.table.rows}
        for row, records in self._columns[column].items():
            if row not in self._columns[other]:
                continue
            first, second = (_by_split(each) for each in (records, self._columns[other][row]))
            share = (records[0].n_test or 0) / (records[0].n_train or 1)
            gain = 100 * (np.mean(list(first.values())) - np.mean(list(second.values())))
            if corrected_p_value(first, second, share) < LEVEL:
                (better if gain > 0 else worse)[labels[row]] = float(gain)
            else:
                alike.append(labels[row])
        return Against(better, worse, tuple(alike))

    def values(self, column: str, row: str, field: str) -> list[float]:
        """Return a field of the records of a run of the comparison, split by split."""
        return [getattr(each, field) for each in self._columns[column][row]]

    def rows(self, column: str) -> list[str]:
        """Return the sets that a column has, by their names."""
        return list(self._columns[column])

    def early(self, algo: str) -> dict[str, tuple[int, int, float | None]]:
        """Return by table how many fits ended before their rule, of how many, at which gap."""
        found = {}
        for name, records in self.of(algo).items():
            ended = [record for record in records if record.converged is False]
            gaps = [record.gap for record in ended if record.gap is not None]
            if ended:
                found[name] = len(ended), len(records), max(gaps, default=None)
        return found

    def failed(self, algo: str) -> int:
        """Return how many recorded splits of an algorithm have failed."""
        return sum(
            record.status != DONE for records in self.of(algo).values() for record in records
        )


def _by_run(table: PaperTable, records: Iterable[Record]) -> dict[str, dict[str, list[Record]]]:
    """Return the records by column and row: they are exported run by run, in their order."""
    runs: list[list[Record]] = []
    for record in records:
        if record.split == 0:
            runs.append([])
        runs[-1].append(record)
    found: dict[str, dict[str, list[Record]]] = {}
    for slot, run in zip(table.slots(), runs, strict=True):
        row, column, _ = slot.place
        found.setdefault(column, {})[row] = [record for record in run if record.is_done]
    return found


def _mean_ranks(
    table: PaperTable, columns: Mapping[str, Mapping[str, Sequence[Record]]]
) -> dict[str, float]:
    """Return the mean rank of each column, over the sets on which all are done."""

    def find(slot: Slot) -> SlotRecords:
        records = columns[slot.place[1]][slot.place[0]]
        return SlotRecords(DONE, records, len(records))

    found = rank_methods(assemble(table, find), table.ranking)
    assert found is not None
    names = (column.name for column in found.columns)
    return dict(zip(names, found.mean_ranks.tolist(), strict=True))


def _by_split(records: Iterable[Record]) -> dict[int, float]:
    return {each.split: each.accuracy for each in records if each.accuracy is not None}


def _size(records: Sequence[Record]) -> Size | None:
    seconds = [each.fit_cpu_seconds for each in records if each.fit_cpu_seconds]
    first = records[0]
    if not seconds or not first.n_train:
        return None
    return Size(first.n_train, first.n_base_kernels, float(np.median(seconds)))


def _n_sizes(runs: Sequence[Size]) -> int:
    return len({(run.n, run.m) for run in runs})


@cache
def _n_classes(data: str) -> int:
    """Return how many classes a set has; 0 of real targets, and where nothing says it."""
    path = resources.choices("data").get(data)
    content = {} if path is None else yaml.safe_load(path.read_text(encoding="utf-8"))
    return len(content.get("expected", {}).get("classes") or ())
