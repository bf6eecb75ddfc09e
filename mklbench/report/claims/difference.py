"""The claims on the differences of the means of two columns, split by split."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import ClassVar

from mklbench.report.analysis.assemble import Report, compared_splits
from mklbench.report.analysis.baseline import N_STANDARD_ERRORS, paired_difference
from mklbench.report.claims.judged import Judged, with_limits
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim


@dataclass(frozen=True, kw_only=True)
class Difference(Claim):
    """Measured is the difference on the row where it is worst for the claim."""

    kind: str = "difference"
    n_columns: ClassVar[int | None] = 2
    is_mean: ClassVar[bool] = False

    def judge(self, report: Report) -> Judged:
        """Return the difference of two means on the row where it is worst, or its mean."""
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
        extreme, name = (max, "largest") if self.is_upper else (min, "smallest")
        quantity = (
            f"{'mean' if self.is_mean else name} {metric.label} of "
            f"{report.table.label_of(minuend)} minus {report.table.label_of(subtrahend)}"
        )
        if not differences:
            return Judged(self, quantity, None, with_limits("", limits))
        where = place = extreme(differences, key=lambda place: differences[place].value)
        measured = differences[place].value
        if self.is_mean:
            where = f"{name} {measured:.2g} on {place}"
            measured = statistics.fmean(one.value for one in differences.values())
        clear = sum(
            one.standard_error is not None and one.value > N_STANDARD_ERRORS * one.standard_error
            for one in differences.values()
        )
        details = (
            f"{where}; above {N_STANDARD_ERRORS:g} standard errors in {clear} of {len(differences)}"
        )
        # Without the last digits, which would turn a tie into a difference.
        return Judged(self, quantity, round(measured, 9) + 0.0, with_limits(details, limits))


@dataclass(frozen=True, kw_only=True)
class MeanDifference(Difference):
    """Measured is the mean of the differences over the rows."""

    kind: str = "mean_difference"
    is_mean: ClassVar[bool] = True
