"""What the records say of a claim in a paper's text: a measured number beside it."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.report.analysis.assemble import Report
from mklbench.report.table.paper_table import Claim


@dataclass(frozen=True)
class Judged:
    """A claim and what was measured; `measured` and `holds` are None where no cell is done.

    `details` say where the number was measured, and how usual it is.
    """

    claim: Claim
    quantity: str
    measured: float | None
    details: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the measured number is on the claimed side of the bound."""
        if self.measured is None:
            return None
        if self.claim.is_upper:
            return self.measured <= self.claim.bound
        return self.measured >= self.claim.bound


def judge_claims(report: Report) -> list[Judged]:
    """Measure what each claim of the table is about, in the finished cells of `report`."""
    return [claim.judge(report) for claim in report.table.claims]


def label_of(report: Report, name: str) -> str:
    """Return the label of a column."""
    return next(column.label for column in report.table.columns if column.name == name)
