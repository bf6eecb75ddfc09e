"""The claims on the differences of the means of two columns, split by split."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklbench.report.analysis.assemble import Report, compared_splits
from mklbench.report.analysis.baseline import N_STANDARD_ERRORS, paired_difference
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
