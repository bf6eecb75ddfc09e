"""The findings of a table, with the numbers of its records in their sentences."""

from __future__ import annotations

import contextlib

from mklbench.report.analysis.assemble import Report
from mklbench.report.claims.judged import judge_claims
from mklbench.report.layout.entries import JUDGEMENTS
from mklbench.report.layout.ranking import rank_methods
from mklbench.report.table.findings import filled
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.verdict import Verdict


def findings(report: Report) -> list[str]:
    """Return the findings of a table; those of which a number is not measured are left out."""
    values = _Values(report)
    found = []
    for text in report.table.findings:
        with contextlib.suppress(_NotMeasuredError):
            found.append(filled(text, values))
    return found


class _NotMeasuredError(Exception):
    """A number of a sentence is not there."""


class _Values:
    """Looks up what the marks of a sentence stand for (`mklbench.report.table.findings`)."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __call__(self, kind: str, names: tuple[str, ...]) -> str:
        if kind == "count":
            return str(self._counts()[names[0]])
        if kind == "rank":
            return self._rank(names[0])
        metric, value = METRICS[names[-1]], None
        if kind == "published":
            published = self._report.table.published.get((names[0], names[1], names[2]))
            value = None if published is None else published.mean
        else:
            value = self._report.finished_mean((names[0], names[1], names[2], names[3]))
        if value is None:
            raise _NotMeasuredError
        return metric.format(value)

    def _counts(self) -> dict[str, int]:
        verdicts = self._report.verdict_counts
        judged = judge_claims(self._report)
        return {
            "match": verdicts[Verdict.MATCH],
            "close": verdicts[Verdict.CLOSE],
            "differs": verdicts[Verdict.HIGHER] + verdicts[Verdict.LOWER],
            "judged": sum(verdicts[verdict] for verdict in JUDGEMENTS),
            "claims": len(judged),
            "held": sum(one.holds is True for one in judged),
        }

    def _rank(self, column: str) -> str:
        found = rank_methods(self._report, self._report.table.ranking)
        if found is None:
            raise _NotMeasuredError
        names = [one.name for one in found.columns]
        return f"{found.mean_ranks[names.index(column)]:.1f}"
