"""The claims in a paper's text: a class for each kind, and what the records say of a claim.

May import `report.table` and `analysis`; it is imported by `layout` and `loading`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from mklbench.errors import InputError
from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Place, Report, compared_means, measured_difference
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim, PaperTable


@dataclass(frozen=True)
class Judged:
    """A claim and what was measured; `measured` and `holds` are None where there is nothing.

    `details` say between which values the number lies, and where these were measured.
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
    return [_judged(claim, report) for claim in report.table.claims]


def _judged(claim: Claim, report: Report) -> Judged:
    quantity, values = claim.measure(report)
    if not values:
        return Judged(claim, quantity, None)
    low, high = (pick(values, key=values.__getitem__) for pick in (min, max))
    details = f"{values[low]:.2g} ({low}) to {values[high]:.2g} ({high}), {len(values)} in all"
    # Without the last digits, which would turn a tie into a difference.
    return Judged(claim, quantity, round(claim.over_sets([*values.values()]), 9) + 0.0, details)


def _places(table: PaperTable, columns: Sequence[str]) -> Iterator[tuple[str, list[Place]]]:
    """Yield the label of every row under every protocol, and the places of columns there."""
    for row in table.rows:
        for protocol in table.protocols:
            places = [(row.name, column, protocol.name) for column in columns]
            yield f"{row.label}, {protocol.label}", places


@dataclass(frozen=True, kw_only=True)
class MedianDifference(Claim):
    """Measured is the median of the differences of two columns over the rows."""

    kind: str = "median_difference"
    n_columns: ClassVar[int | None] = 2
    of_several: ClassVar[str] = "median"

    def measure(self, report: Report) -> tuple[str, dict[str, float]]:
        """Return the differences of the two means."""
        metric = METRICS[self.metric]
        values = {
            label: difference.value
            for label, (first, second) in _places(report.table, self.columns)
            if (difference := measured_difference(report.slots, first, second, metric))
        }
        minuend, subtrahend = map(report.table.label_of, self.columns)
        return f"{self.of_several} {metric.label} of {minuend} minus {subtrahend}", values


@dataclass(frozen=True, kw_only=True)
class MeanDifference(MedianDifference):
    """Measured is the mean of the differences over the rows."""

    kind: str = "mean_difference"
    of_several: ClassVar[str] = "mean"


@dataclass(frozen=True, kw_only=True)
class Ratio(Claim):
    """Measured is the largest quotient of two columns, as "up to so many times" means."""

    kind: str = "ratio"
    n_columns: ClassVar[int | None] = 2
    of_several: ClassVar[str] = "largest"

    def measure(self, report: Report) -> tuple[str, dict[str, float]]:
        """Return the quotients of the two means."""
        metric, values = METRICS[self.metric], {}
        for label, places in _places(report.table, self.columns):
            samples = compared_means(report.slots, places, metric)
            if samples is not None and samples[1].mean > 0:
                values[label] = samples[0].mean / samples[1].mean
        over, under = map(report.table.label_of, self.columns)
        return f"{self.of_several} {metric.label} of {over} / {under}", values


@dataclass(frozen=True, kw_only=True)
class MedianRatio(Ratio):
    """Measured is the median of the quotients."""

    kind: str = "median_ratio"
    of_several: ClassVar[str] = "median"


@dataclass(frozen=True, kw_only=True)
class Largest(Claim):
    """Measured is the largest value of any split in its columns."""

    kind: str = "largest"
    of_several: ClassVar[str] = "largest"

    def measure(self, report: Report) -> tuple[str, dict[str, float]]:
        """Return the largest value of each run."""
        metric = METRICS[self.metric]
        values = {
            f"{slot.row.label}, {slot.column.label}": max(found.values(metric))
            for slot, found in report.slots.values()
            if slot.column.name in self.columns and found.status == DONE and found.values(metric)
        }
        return f"largest {metric.heading}", values


@dataclass(frozen=True, kw_only=True)
class Growth(Claim):
    """Measured is the exponent of the power law for its one column, along the sweep of a row."""

    kind: str = "growth"
    n_columns: ClassVar[int | None] = 1

    def check(self, table: PaperTable, where: str) -> None:
        """Raise InputError for what the claim needs and the table does not have."""
        super().check(table, where)
        if table.sweep is None:
            raise InputError(f"{where}: a claim of kind {self.kind} needs a sweep.")

    def measure(self, report: Report) -> tuple[str, dict[str, float]]:
        """Return the value of every row along which there is one."""
        sweep, values = report.table.sweep, {}
        assert sweep is not None  # checked when the table is read
        for row in report.table.rows:
            value = self.value(curve(report, sweep, row, self.columns[0], self.metric))
            if value is not None:
                values[row.label] = value
        axis = sweep.label if sweep.axis is None else METRICS[sweep.axis].label
        return self.quantity(METRICS[self.metric].label, axis), values

    def quantity(self, metric: str, axis: str) -> str:
        """Say what is measured, of a metric along an axis."""
        return f"exponent p of {metric} ~ ({axis})^p"

    def value(self, line: Curve) -> float | None:
        """Return the value of one row."""
        return line.exponent


@dataclass(frozen=True, kw_only=True)
class Chord(Growth):
    """Measured is how far the metric of its one column rises above a chord, as a share of it.

    That is the largest share of the values of the sweep on one row.
    """

    kind: str = "above_a_chord"

    def quantity(self, metric: str, axis: str) -> str:
        """Say what is measured, of a metric along an axis."""
        return f"{metric} above a chord, as a share of it"

    def value(self, line: Curve) -> float | None:
        """Return the largest rise of a mean above a chord of two others."""
        points = [(size, one.mean) for size, one in zip(line.sizes, line.samples, strict=True)]
        shares = [
            middle / (left + (right - left) * (at - begin) / (end - begin)) - 1.0
            for (begin, left), (at, middle), (end, right) in combinations(points, 3)
        ]
        return max(shares, default=None)
