"""The claims on columns of a table: differences and quotients of two means, a largest value."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, compared_means, compared_splits
from mklbench.report.analysis.baseline import N_STANDARD_ERRORS, paired_difference
from mklbench.report.analysis.cpu_models import cpu_models
from mklbench.report.claims.judged import Judged, with_limits
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim


@dataclass(frozen=True, kw_only=True)
class MedianDifference(Claim):
    """Measured is the median of the differences over the rows."""

    kind: str = "median_difference"
    n_columns: ClassVar[int | None] = 2
    of_several: ClassVar[str] = "median"

    def over_sets(self, values: Sequence[float]) -> float:
        """Return the median."""
        return statistics.median(values)

    def judge(self, report: Report) -> Judged:
        """Return the median, or mean, of the differences of two means, and where it is worst."""
        table, metric = report.table, METRICS[self.metric]
        minuend, subtrahend = self.columns
        differences, limits = {}, {}
        for row in table.rows:
            for protocol in table.protocols:
                first, second = ((row.name, c, protocol.name) for c in self.columns)
                compared = compared_splits(report.slots, first, second, metric)
                if compared is None:
                    continue
                where = f"{row.label}, {protocol.label}"
                limits[where] = compared.limit
                difference = paired_difference(*compared.values)
                if difference is not None:
                    differences[where] = difference
        quantity = (
            f"{self.of_several} {metric.label} of "
            f"{table.label_of(minuend)} minus {table.label_of(subtrahend)}"
        )
        if not differences:
            return Judged(self, quantity, None, with_limits("", limits))
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
        return Judged(self, quantity, round(measured, 9) + 0.0, with_limits(details, limits))


@dataclass(frozen=True, kw_only=True)
class MeanDifference(MedianDifference):
    """Measured is the mean of the differences over the rows."""

    kind: str = "mean_difference"
    of_several: ClassVar[str] = "mean"

    def over_sets(self, values: Sequence[float]) -> float:
        """Return the mean."""
        return statistics.fmean(values)


@dataclass(frozen=True, kw_only=True)
class Ratio(Claim):
    """Measured is the largest quotient, as "up to so many times" means."""

    kind: str = "ratio"
    n_columns: ClassVar[int | None] = 2
    of_several: ClassVar[str] = "largest"

    def over_sets(self, values: Sequence[float]) -> float:
        """Return the largest quotient."""
        return max(values)

    def judge(self, report: Report) -> Judged:
        """Return the quotient of two means that is judged, and the least and the largest."""
        table, metric = report.table, METRICS[self.metric]
        over, under = self.columns
        quotients, limits = {}, {}
        for row in table.rows:
            for protocol in table.protocols:
                places = [(row.name, column, protocol.name) for column in self.columns]
                compared = compared_means(report.slots, places, metric)
                if compared is None:
                    continue
                where = f"{row.label}, {protocol.label}"
                limits[where] = compared.limit
                if compared.samples is not None:
                    dividend, divisor = (sample.mean for sample in compared.samples)
                    if divisor > 0:
                        quotients[where] = dividend / divisor
        label_of = report.table.label_of
        quantity = f"{self.of_several} {metric.label} of {label_of(over)} / {label_of(under)}"
        if not quotients:
            return Judged(self, quantity, None, with_limits("", limits))
        ends = [pick(quotients, key=lambda name: quotients[name]) for pick in (min, max)]
        low, high = (f"{quotients[place]:.2g} ({place})" for place in ends)
        details = f"{low} to {high} in {len(quotients)} table cells"
        measured = self.over_sets(list(quotients.values()))
        return Judged(self, quantity, measured, with_limits(details, limits))


@dataclass(frozen=True, kw_only=True)
class MedianRatio(Ratio):
    """Measured is the median of the quotients."""

    kind: str = "median_ratio"
    of_several: ClassVar[str] = "median"

    def over_sets(self, values: Sequence[float]) -> float:
        """Return the median."""
        return statistics.median(values)


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
