"""The claims on the quotients of the means of two columns."""

from __future__ import annotations

import statistics
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
    is_largest: ClassVar[bool] = True

    def judge(self, report: Report) -> Judged:
        """Return the largest quotient of two means, or the smallest, and where it is."""
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
        extreme, name = (max, "largest") if self.is_largest else (min, "smallest")
        label_of = report.table.label_of
        quantity = f"{name} {metric.label} of {label_of(over)} / {label_of(under)}"
        if not quotients:
            return Judged(self, quantity, None, with_limits("", limits))
        place = extreme(quotients, key=lambda name: quotients[name])
        usual = statistics.median(quotients.values())
        details = f"{place}; median of {len(quotients)} cells {usual:.2g}"
        return Judged(self, quantity, quotients[place], with_limits(details, limits))


@dataclass(frozen=True, kw_only=True)
class EveryRatio(Ratio):
    """Measured is the smallest quotient."""

    kind: str = "every_ratio"
    is_largest: ClassVar[bool] = False
