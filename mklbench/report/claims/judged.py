"""What the records say of a claim in a paper's text: a measured number beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mklbench.report.analysis.assemble import Report
from mklbench.report.table.paper_table import Claim

# Places in one sentence.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Judged:
    """A claim and what was measured; `measured` and `holds` are None where there is nothing.

    `details` say where the number was measured, and how usual it is; without a number, why there is
    none although runs are done.
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
    return [claim.judge(report) for claim in report.table.claims]


def with_limits(details: str, limits: Mapping[str, str]) -> str:
    """Add to details of what the number says nothing, or not all, and why.

    Parameters
    ----------
    details : str
        What is said beside; may be empty.
    limits : mapping of str to str
        By place, `mklbench.report.analysis.cpu_models.Compared.limit`.
    """
    places: dict[str, list[str]] = {}
    for place, limit in limits.items():
        if limit:
            places.setdefault(limit, []).append(place)
    texts = [f"{limit} ({_listed(where)})" for limit, where in places.items()]
    return "; ".join(filter(None, [details, *texts]))


def _listed(places: Sequence[str]) -> str:
    shown = "; ".join(places[:_MOST_NAMED])
    rest = len(places) - _MOST_NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown
