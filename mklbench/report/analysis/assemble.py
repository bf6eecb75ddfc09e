"""From the records of a table's cells to its numbers, each with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.baseline import (
    Difference,
    Standing,
    paired_difference,
    published_difference,
    standing,
)
from mklbench.report.analysis.confirmed import Confirmation
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import PaperTable, Ratio, Slot
from mklbench.report.table.verdict import Published, Sample, Verdict, judge

Place = tuple[str, str, str]  # names of row, column, protocol
NumberPlace = tuple[str, str, str, str]  # and of the metric


@dataclass(frozen=True)
class SlotRecords:
    """What has been run for one place of a table.

    Attributes
    ----------
    status : str
        "done", "incomplete", "failed", "timeout" or "missing".
    records : sequence of Record
        One record a split that was tried, in order of the splits.
    n_splits : int
        How many splits the cell has when it is done.
    message : str
        Why it is not done, where that is known.
    key, sources : str or None or mapping of str to str or None
        Of the cell; the sources are those at hand now, whatever the records are of.
    confirmation : Confirmation or None
        What a rerun has found of the records by the sources at hand, if there was one.
    tolerances : mapping of str to float
        The tolerances of its algorithm by the name of the option: tol, svm_tol and others.
    """

    status: str
    records: Sequence[Record]
    n_splits: int
    message: str = ""
    key: str | None = None
    sources: Mapping[str, str] | None = None
    confirmation: Confirmation | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)

    @property
    def done(self) -> list[Record]:
        """The records of finished splits."""
        return [record for record in self.records if record.is_done]

    def by_split(self, metric: Metric) -> dict[int, float]:
        """Values of `metric` by split, for the finished splits that have one."""
        values = {record.split: metric.value(record) for record in self.done}
        return {split: value for split, value in values.items() if value is not None}

    def values(self, metric: Metric) -> list[float]:
        """The same values without their splits."""
        return list(self.by_split(metric).values())


Finder = Callable[[Slot], SlotRecords]
Slots = Mapping[Place, tuple[Slot, SlotRecords]]


@dataclass(frozen=True)
class Number:
    """One number of the table.

    `verdict` and `difference` are None while the cell is not done; `measured` is then the mean of
    the splits that are, if any. `difference` is measured minus published, except for metrics
    compared by ratio, where it is None and `ratio` is measured over published. `n_splits` are those
    of the cell, `published_n_splits` those behind the paper's means of the row, or None where no
    paper prints such a table.
    """

    slot: Slot
    metric: Metric
    status: str
    published: Published | None
    measured: Sample | None
    n_splits: int
    published_n_splits: int | None
    verdict: Verdict | None
    difference: float | None
    ratio: float | None

    @property
    def finished_mean(self) -> float | None:
        """The measured mean of a cell that is done."""
        return None if self.status != DONE or self.measured is None else self.measured.mean


@dataclass(frozen=True)
class RatioNumber:
    """A metric of one column over that of another on one row; None where a side is not done."""

    ratio: Ratio
    row: str
    published: float | None
    measured: Mapping[str, float | None]


@dataclass(frozen=True)
class Report:
    """A table with everything that was found for it.

    `standings` and `published_standings` (by row, column and metric) say which measured and which
    published numbers are much better or much worse than the table's baseline.
    """

    table: PaperTable
    slots: Slots
    numbers: Mapping[NumberPlace, Number]
    ratios: Sequence[RatioNumber]
    standings: Mapping[NumberPlace, Standing]
    published_standings: Mapping[tuple[str, str, str], Standing]

    def finished_mean(self, place: NumberPlace) -> float | None:
        """Return the measured mean at a place of the table; None unless its cell is done."""
        number = self.numbers.get(place)
        return None if number is None else number.finished_mean

    @property
    def verdict_counts(self) -> dict[Verdict, int]:
        """How many numbers got each verdict; verdicts that none got count 0."""
        counts = Counter(number.verdict for number in self.numbers.values())
        return {verdict: counts[verdict] for verdict in Verdict}

    @property
    def unfinished(self) -> list[tuple[Slot, SlotRecords]]:
        """The cells that are not done, in the order of the table."""
        return [(slot, found) for slot, found in self.slots.values() if found.status != DONE]


def assemble(table: PaperTable, find: Finder) -> Report:
    """Collect the records of every cell of `table` and judge its numbers.

    Parameters
    ----------
    table : PaperTable
        The paper table.
    find : Finder
        Returns what has been run for a place of it, as a
        `mklbench.report.analysis.places.CellFinder` does.
    """
    slots = {slot.place: (slot, find(slot)) for slot in table.slots()}
    numbers = {
        (*place, name): _number(table, slot, found, METRICS[name])
        for place, (slot, found) in slots.items()
        for name in slot.column.metrics
    }
    ratios = [
        _ratio(table, numbers, ratio, row.name) for ratio in table.ratios for row in table.rows
    ]
    return Report(
        table, slots, numbers, ratios, _standings(table, slots), _published_standings(table)
    )


def measured_difference(
    slots: Slots, first: Place, second: Place, metric: Metric
) -> Difference | None:
    """Return a metric of one cell minus that of another by split; None unless both are done."""
    if first not in slots or second not in slots:
        return None
    (_, minuend), (_, subtrahend) = slots[first], slots[second]
    if minuend.status != DONE or subtrahend.status != DONE:
        return None
    return paired_difference(minuend.by_split(metric), subtrahend.by_split(metric))


def _number(table: PaperTable, slot: Slot, found: SlotRecords, metric: Metric) -> Number:
    published = table.published.get((slot.row.name, slot.column.name, metric.name))
    published_n_splits = table.published_n_splits_of(slot.row)
    measured = Sample.of(found.values(metric))
    verdict, difference, ratio = None, None, None
    if found.status == DONE and measured is not None:
        if metric.compared_by_ratio and published is not None:
            verdict, ratio = Verdict.RATIO_ONLY, measured.mean / published.mean
        else:
            verdict = judge(published, published_n_splits, measured)
            difference = None if published is None else measured.mean - published.mean
    return Number(
        slot=slot,
        metric=metric,
        status=found.status,
        published=published,
        measured=measured,
        n_splits=found.n_splits,
        published_n_splits=published_n_splits if table.published else None,
        verdict=verdict,
        difference=difference,
        ratio=ratio,
    )


def _standings(table: PaperTable, slots: Slots) -> dict[NumberPlace, Standing]:
    """Return how the finished numbers stand against the baseline, where they have a standing."""
    if table.baseline is None:
        return {}
    baseline, metric = table.baseline, METRICS[table.baseline.metric]
    found = {}
    for row, column, protocol in slots:
        reference = (row, baseline.column, protocol)
        difference = measured_difference(slots, (row, column, protocol), reference, metric)
        found[row, column, protocol, metric.name] = standing(difference, baseline.margin, metric)
    return {place: judged for place, judged in found.items() if judged is not None}


def _published_standings(table: PaperTable) -> dict[tuple[str, str, str], Standing]:
    """Return the same for the published numbers, by row, column and metric."""
    if table.baseline is None:
        return {}
    baseline, metric = table.baseline, METRICS[table.baseline.metric]
    found = {}
    for row in table.rows:
        reference = table.published.get((row.name, baseline.column, metric.name))
        n_splits = table.published_n_splits_of(row)
        for column in table.columns:
            place = (row.name, column.name, metric.name)
            difference = published_difference(table.published.get(place), reference, n_splits)
            found[place] = standing(difference, baseline.margin, metric)
    return {place: judged for place, judged in found.items() if judged is not None}


def _ratio(
    table: PaperTable, numbers: Mapping[NumberPlace, Number], ratio: Ratio, row: str
) -> RatioNumber:
    measured: dict[str, float | None] = {}
    for protocol in table.protocols:
        over = numbers.get((row, ratio.over, protocol.name, ratio.metric))
        under = numbers.get((row, ratio.under, protocol.name, ratio.metric))
        if over is not None and under is not None:
            measured[protocol.name] = _quotient(over.finished_mean, under.finished_mean)
    published = [
        table.published.get((row, column, ratio.metric)) for column in (ratio.over, ratio.under)
    ]
    means = [None if number is None else number.mean for number in published]
    return RatioNumber(ratio, row, _quotient(*means), measured)


def _quotient(over: float | None, under: float | None) -> float | None:
    return None if over is None or not under else over / under
