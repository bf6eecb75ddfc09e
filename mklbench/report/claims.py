"""The claims in a paper's text: a class for each kind, and what the records say of a claim.

May import `report.table` and `analysis`; it is imported by `layout` and `loading`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from mklbench.errors import InputError
from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Place, Report, compared_means, measured_difference
from mklbench.report.analysis.baseline import N_STANDARD_ERRORS
from mklbench.report.analysis.cpu_models import cpu_models
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim, PaperTable


@dataclass(frozen=True)
class Judged:
    """A claim and what was measured; `measured` and `holds` are None where there is nothing.

    `details` say where the number was measured, and how usual it is; without a number, why there is
    none although runs are done.
    """

    claim: Claim
    quantity: str
    measured: float | None
    details: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the measured number is on the claimed side of the bound."""
        return None if self.measured is None else self.claim.holds_for(self.measured)


def judge_claims(report: Report) -> list[Judged]:
    """Measure what each claim of the table is about, in the finished runs of `report`."""
    return [claim.judge(report) for claim in report.table.claims]


def _places(table: PaperTable, columns: Sequence[str]) -> Iterator[tuple[str, list[Place]]]:
    """Yield the label of every row under every protocol, and the places of columns there."""
    for row in table.rows:
        for protocol in table.protocols:
            places = [(row.name, column, protocol.name) for column in columns]
            yield f"{row.label}, {protocol.label}", places


@dataclass(frozen=True, kw_only=True)
class MedianDifference(Claim):
    """Measured is the median of the differences over the rows."""

    kind: str = "median_difference"
    n_columns: ClassVar[int | None] = 2
    of_several: ClassVar[str] = "median"

    def judge(self, report: Report) -> Judged:
        """Return the median, or mean, of the differences of two means, and where it is worst."""
        table, metric = report.table, METRICS[self.metric]
        minuend, subtrahend = self.columns
        differences = {}
        for label, (first, second) in _places(table, self.columns):
            difference = measured_difference(report.slots, first, second, metric)
            if difference is not None:
                differences[label] = difference
        quantity = (
            f"{self.of_several} {metric.label} of "
            f"{table.label_of(minuend)} minus {table.label_of(subtrahend)}"
        )
        if not differences:
            return Judged(self, quantity, None)
        extreme, name = (max, "largest") if self.is_upper else (min, "smallest")
        place = extreme(differences, key=lambda place: differences[place].value)
        clear = sum(
            one.standard_error is not None and one.value > N_STANDARD_ERRORS * one.standard_error
            for one in differences.values()
        )
        details = (
            f"{name} {differences[place].value:.2g} on {place}; "
            f"above {N_STANDARD_ERRORS:g} standard errors in {clear} of {len(differences)}"
        )
        measured = self.over_sets([one.value for one in differences.values()])
        # Without the last digits, which would turn a tie into a difference.
        return Judged(self, quantity, round(measured, 9) + 0.0, details)


@dataclass(frozen=True, kw_only=True)
class MeanDifference(MedianDifference):
    """Measured is the mean of the differences over the rows."""

    kind: str = "mean_difference"
    of_several: ClassVar[str] = "mean"


@dataclass(frozen=True, kw_only=True)
class Ratio(Claim):
    """Measured is the largest quotient, as "up to so many times" means."""

    kind: str = "ratio"
    n_columns: ClassVar[int | None] = 2
    of_several: ClassVar[str] = "largest"

    def judge(self, report: Report) -> Judged:
        """Return the quotient of two means that is judged, and the least and the largest."""
        table, metric = report.table, METRICS[self.metric]
        over, under = self.columns
        quotients = {}
        for label, places in _places(table, self.columns):
            samples = compared_means(report.slots, places, metric)
            if samples is not None and samples[1].mean > 0:
                quotients[label] = samples[0].mean / samples[1].mean
        label_of = report.table.label_of
        quantity = f"{self.of_several} {metric.label} of {label_of(over)} / {label_of(under)}"
        if not quotients:
            return Judged(self, quantity, None)
        ends = [pick(quotients, key=lambda name: quotients[name]) for pick in (min, max)]
        low, high = (f"{quotients[place]:.2g} ({place})" for place in ends)
        details = f"{low} to {high} in {len(quotients)} table cells"
        measured = self.over_sets(list(quotients.values()))
        return Judged(self, quantity, measured, details)


@dataclass(frozen=True, kw_only=True)
class MedianRatio(Ratio):
    """Measured is the median of the quotients."""

    kind: str = "median_ratio"
    of_several: ClassVar[str] = "median"


@dataclass(frozen=True, kw_only=True)
class Largest(Claim):
    """Measured is the largest value of any split in its columns."""

    kind: str = "largest"

    def judge(self, report: Report) -> Judged:
        """The largest value of any split."""
        metric = METRICS[self.metric]
        runs = {
            f"{slot.row.label}, {slot.column.label}": found
            for slot, found in report.slots.values()
            if slot.column.name in self.columns and found.status == DONE and found.values(metric)
        }
        values = {name: found.values(metric) for name, found in runs.items()}
        quantity = f"largest {metric.heading}"
        if not values:
            return Judged(self, quantity, None)
        place = max(values, key=lambda name: max(values[name]))
        every = [value for of_cell in values.values() for value in of_cell]
        details = f"{place}; median of {len(every)} splits {statistics.median(every):.3g}"
        if metric.is_time and report.timed_on.others:
            details += f"; timed on {' and '.join(cpu_models(runs[place].done))}"
        return Judged(self, quantity, max(values[place]), details)


@dataclass(frozen=True, kw_only=True)
class Growth(Claim):
    """Measured is the exponent of the power law for its one column."""

    kind: str = "growth"
    n_columns: ClassVar[int | None] = 1

    def check(self, table: PaperTable, where: str) -> None:
        """Raise InputError for what the claim needs and the table does not have."""
        super().check(table, where)
        if table.sweep is None:
            raise InputError(f"{where}: a claim of kind growth needs a sweep.")

    def judge(self, report: Report) -> Judged:
        """The exponent along the sweep, of the row where it is worst for the claim."""
        table, (column,) = report.table, self.columns
        assert table.sweep is not None  # checked when the table is read
        curves = {
            row.label: curve(report, table.sweep, row, column, self.metric) for row in table.rows
        }
        known = {label: one.exponent for label, one in curves.items() if one.exponent is not None}
        axis = table.sweep.label if table.sweep.axis is None else METRICS[table.sweep.axis].label
        quantity = f"exponent p of {METRICS[self.metric].label} ~ ({axis})^p"
        if not known:
            return Judged(self, quantity, None)
        worst = self.over_sets(list(known.values()))
        details = ", ".join(f"{label} {p:.2f}" for label, p in known.items())
        return Judged(self, quantity, worst, details)


@dataclass(frozen=True, kw_only=True)
class Chord(Claim):
    """Measured is how far the metric of its one column rises above a chord, as a share of it.

    That is the largest share of the values of the sweep on one row, and of the rows the worst.
    """

    kind: str = "above_a_chord"
    n_columns: ClassVar[int | None] = 1

    def judge(self, report: Report) -> Judged:
        """The largest rise above a chord on every row."""
        table, (column,) = report.table, self.columns
        quantity = f"{METRICS[self.metric].label} above a chord, as a share of it"
        if table.sweep is None:
            return Judged(self, quantity, None)
        rises = {
            row.label: rise(curve(report, table.sweep, row, column, self.metric))
            for row in table.rows
        }
        found = {label: value for label, value in rises.items() if value is not None}
        if not found:
            return Judged(self, quantity, None)
        details = ", ".join(f"{value:.2g} on {label}" for label, value in found.items())
        return Judged(self, quantity, self.over_sets(list(found.values())), details)


def rise(line: Curve) -> float | None:
    """Return the largest rise of a mean above a chord of two others, as a share of the chord."""
    points = [(size, one.mean) for size, one in zip(line.sizes, line.samples, strict=True)]
    shares = [
        middle / (left + (right - left) * (at - begin) / (end - begin)) - 1.0
        for (begin, left), (at, middle), (end, right) in combinations(points, 3)
    ]
    return max(shares, default=None)
