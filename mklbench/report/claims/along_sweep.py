"""The claims along the sweep of a table: growth by a power law, and what is not convex."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.claims.judged import Judged, with_limits
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim, PaperTable


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
        limits = {label: one.limit for label, one in curves.items()}
        known = {label: one.exponent for label, one in curves.items() if one.exponent is not None}
        axis = table.sweep.label if table.sweep.axis is None else METRICS[table.sweep.axis].label
        quantity = f"exponent p of {METRICS[self.metric].label} ~ ({axis})^p"
        if not known:
            return Judged(self, quantity, None, with_limits("", limits))
        worst = self.over_sets(list(known.values()))
        details = ", ".join(f"{label} {p:.2f}" for label, p in known.items())
        return Judged(self, quantity, worst, with_limits(details, limits))


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
