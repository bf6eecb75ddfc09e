"""From the records of a table's runs to its numbers, each with its verdict.

Seconds on one CPU model say nothing of seconds on another. So quotients, differences, ranks and
growth of times are formed of the records of one model alone, and not at all where the runs have
none in common. All other quantities are compared as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from mklbench.experiments.record import DONE, Record
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import PaperTable, Slot
from mklbench.report.table.verdict import (
    Difference,
    Published,
    Sample,
    Standing,
    Verdict,
    paired_difference,
    published_difference,
    standing,
)

Place = tuple[str, str, str]  # names of row, column, protocol
NumberPlace = tuple[str, str, str, str]  # and of the metric


# What records stand for that name no CPU. Those of one machine all name none, and can be compared
# with one another, but with no others.
NOT_NAMED = "a CPU that is not named"

Models = tuple[str, ...]


def cpu_model(record: Record) -> str:
    """Return the CPU model on which a record was timed."""
    return record.cpu or NOT_NAMED


def cpu_models(records: Iterable[Record]) -> Models:
    """Return the CPU models of records, each once, in alphabetical order."""
    return tuple(sorted(set(map(cpu_model, records))))


Values = list[dict[int, float]]


def comparable(runs: Sequence[Sequence[Record]], metric: Metric) -> Values | None:
    """Return the values by split of runs that are compared; None where there are none.

    Of times they are those of the splits that all of the runs have on the same CPU model.
    """
    values = [metric.by_split(run) for run in runs]
    if metric.is_time:
        models = [{record.split: cpu_model(record) for record in run} for run in runs]
        common = sorted(set(values[0]).intersection(*values))
        alike = [split for split in common if len({of[split] for of in models}) == 1]
        if len(alike) < len(common) or not common:
            values = [{split: of_run[split] for split in alike} for of_run in values]
    return values if all(values) else None


@dataclass(frozen=True)
class TimedOn:
    """The CPU models of the runs of a table that show times.

    Attributes
    ----------
    runs : mapping of (str, str, str) to tuple of str
        Models of the finished records, by the names of row, column and protocol.
    main : str or None
        The model of most of these records; None where there are none.
    """

    runs: Mapping[tuple[str, str, str], Models]
    main: str | None

    @classmethod
    def of(cls, runs: Mapping[tuple[str, str, str], Sequence[Record]]) -> TimedOn:
        """Read it from the finished records of the runs that show times."""
        counts = Counter(map(cpu_model, chain.from_iterable(runs.values())))
        return cls(
            {place: cpu_models(records) for place, records in runs.items() if records},
            min(counts, key=lambda name: (-counts[name], name), default=None),
        )

    @property
    def others(self) -> list[Models]:
        """What other runs than those of `main` alone were timed on; mixtures come last."""
        found = {models for models in self.runs.values() if models != (self.main,)}
        return sorted(found, key=lambda models: (len(models), models))


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
        How many splits the run has when it is done.
    message : str
        Why it is not done, where that is known.
    key : str or None
        Of the run.
    border : str
        What its search chose at the border (`mklbench.experiments.records`); empty for nothing.
    """

    status: str
    records: Sequence[Record]
    n_splits: int
    message: str = ""
    key: str | None = None
    border: str = ""

    @cached_property
    def done(self) -> list[Record]:
        """The records of finished splits."""
        return [record for record in self.records if record.is_done]

    @property
    def state(self) -> str:
        """How far it is, and why no further where that is known."""
        reason = f": {self.message}" if self.message else ""
        return f"{self.status}, {len(self.done)}/{self.n_splits} splits{reason}"

    @property
    def test_share(self) -> float:
        """Test samples divided by training samples, of the first finished split."""
        return (self.done[0].n_test or 0) / (self.done[0].n_train or 1)

    def by_split(self, metric: Metric) -> dict[int, float]:
        """Values of `metric` by split, for the finished splits that have one."""
        return metric.by_split(self.done)

    def values(self, metric: Metric) -> list[float]:
        """The same values without their splits."""
        return list(self.by_split(metric).values())


Finder = Callable[[Slot], SlotRecords]
Slots = Mapping[Place, tuple[Slot, SlotRecords]]


@dataclass(frozen=True)
class Number:
    """One number of the table.

    `verdict` and `difference` are None while the run is not done; `measured` is then the mean of
    the splits that are, if any. `difference` is measured minus published, except for metrics
    compared by ratio, where it is None and `ratio` is measured over published, unless the run was
    timed on several CPU models. `n_splits` are those of the run, `published_n_splits` those behind
    the paper's means of the row, or None where no paper prints such a table.
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
        """The measured mean of a run that is done."""
        return None if self.status != DONE or self.measured is None else self.measured.mean


@dataclass(frozen=True)
class Report:
    """A table with everything that was found for it.

    `standings` and `published_standings` (by row, column and metric) say which measured and which
    published numbers are much better or much worse than the table's baseline; `timed_on` says on
    which CPU models the times were measured.
    """

    table: PaperTable
    slots: Slots
    numbers: Mapping[NumberPlace, Number]
    standings: Mapping[NumberPlace, Standing]
    published_standings: Mapping[tuple[str, str, str], Standing]
    timed_on: TimedOn

    def finished_mean(self, place: NumberPlace) -> float | None:
        """Return the measured mean at a place of the table; None unless its run is done."""
        number = self.numbers.get(place)
        return number.finished_mean if number else None

    @property
    def verdict_counts(self) -> Counter[Verdict | None]:
        """How many numbers got each verdict, or none."""
        return Counter(number.verdict for number in self.numbers.values())

    @property
    def unfinished(self) -> list[tuple[Slot, SlotRecords]]:
        """The runs that are not done, in the order of the table."""
        return [(slot, found) for slot, found in self.slots.values() if found.status != DONE]


def assemble(table: PaperTable, find: Finder) -> Report:
    """Collect the records of every run of `table`, or of the places of a part, and judge them.

    Parameters
    ----------
    table : PaperTable
        The paper table.
    find : Finder
        Returns what has been run for a place of it, as a
        `mklbench.report.analysis.places.RunFinder` does.
    """
    slots = {slot.place: (slot, find(slot)) for slot in table.slots()}
    numbers = {
        (*place, name): _number(table, slot, found, METRICS[name])
        for place, (slot, found) in slots.items()
        for name in slot.column.metrics
    }
    with_times = {
        place: found.done
        for place, (slot, found) in slots.items()
        if any(METRICS[name].is_time for name in slot.column.metrics)
    }
    standings, published_standings = _standings(table, slots)
    return Report(
        table=table,
        slots=slots,
        numbers=numbers,
        standings=standings,
        published_standings=published_standings,
        timed_on=TimedOn.of(with_times),
    )


def compared(slots: Slots, places: Sequence[Place], metric: Metric) -> Values | None:
    """Return the values of runs by split, to be compared; None unless all are done and have some.

    Of times they are those that can be compared.
    """
    runs = [slots[place][1] for place in places if place in slots]
    if len(runs) < len(places) or any(found.status != DONE for found in runs):
        return None
    return comparable([found.done for found in runs], metric)


def compared_means(slots: Slots, places: Sequence[Place], metric: Metric) -> list[Sample] | None:
    """Return mean and spread of runs that can be compared (see `compared`)."""
    values = compared(slots, places, metric) or ()
    samples = [Sample.of(list(of_run.values())) for of_run in values]
    return [sample for sample in samples if sample is not None] or None


def measured_difference(
    slots: Slots, first: Place, second: Place, metric: Metric
) -> Difference | None:
    """Return a metric of one run minus that of another by split; None unless both are done."""
    values = compared(slots, (first, second), metric)
    return None if values is None else paired_difference(*values)


def _number(table: PaperTable, slot: Slot, found: SlotRecords, metric: Metric) -> Number:
    published = table.published.get((slot.row.name, slot.column.name, metric.name))
    published_n_splits = table.published_n_splits_of(slot.row)
    measured = Sample.of(found.values(metric))
    verdict, difference, ratio = None, None, None
    if found.status == DONE and measured is not None:
        if metric.compared_by_ratio and published is not None:
            verdict = Verdict.RATIO_ONLY
            is_mixed = metric.is_time and len(cpu_models(found.done)) > 1
            ratio = None if is_mixed else measured.mean / published.mean
        else:
            verdict = table.judge(slot.row, metric, published, measured, found.done)
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


def _standings(
    table: PaperTable, slots: Slots
) -> tuple[dict[NumberPlace, Standing], dict[tuple[str, str, str], Standing]]:
    """Return how finished and published numbers stand against the baseline, where they do."""
    found: dict[NumberPlace, Standing] = {}
    of_paper: dict[tuple[str, str, str], Standing] = {}
    if table.baseline is None:
        return found, of_paper
    baseline, metric = table.baseline, METRICS[table.baseline.metric]
    for row, column, protocol in slots:
        reference = (row, baseline.column, protocol)
        difference = measured_difference(slots, (row, column, protocol), reference, metric)
        if judged := standing(difference, baseline.margin, metric):
            found[row, column, protocol, metric.name] = judged
    n_splits = {row.name: table.published_n_splits_of(row) for row in table.rows}
    for place, number in table.published.items():
        other = table.published.get((place[0], baseline.column, metric.name))
        if place[-1] == metric.name and other is not None:
            difference = published_difference(number, other, n_splits[place[0]])
            if judged := standing(difference, baseline.margin, metric):
                of_paper[place] = judged
    return found, of_paper
