"""The claim that a metric is not convex along the sweep: it rises above a chord."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.claims.judged import Judged
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim


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
