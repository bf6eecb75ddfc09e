"""The claim that a metric grows along the sweep by a power law, or does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.growth import curve
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
