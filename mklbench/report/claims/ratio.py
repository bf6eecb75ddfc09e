"""The claims on the quotients of the means of two columns."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklbench.report.analysis.assemble import Report, compared_means
from mklbench.report.claims.judged import Judged, with_limits
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim


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
        """Return the quotient of two means by which the claim is judged, and those of the cells."""
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
        details = f"{low} to {high} in {len(quotients)} cells"
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
