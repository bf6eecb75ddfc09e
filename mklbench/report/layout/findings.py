"""The findings of a table, with the numbers of its records in their sentences."""

from __future__ import annotations

import contextlib
from collections import Counter

from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.baseline import Standing
from mklbench.report.claims import judge_claims
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
        if kind in ("better", "worse"):
            return self._standing(Standing[kind.upper()], names[0])
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
        printed = self._report.table.printed_protocol.name
        verdicts = Counter(
            number.verdict
            for (_, _, protocol, _), number in self._report.numbers.items()
            if protocol == printed
        )
        judged = judge_claims(self._report)
        return {
            "match": verdicts[Verdict.MATCH],
            "close": verdicts[Verdict.CLOSE],
            "differs": verdicts[Verdict.HIGHER] + verdicts[Verdict.LOWER],
            "judged": sum(verdicts[verdict] for verdict in JUDGEMENTS),
            "claims": len(judged),
            "held": sum(one.holds is True for one in judged),
        }

    def _standing(self, standing: Standing, column: str) -> str:
        """List the rows on which a column stands so, those that differ most first."""
        report, baseline = self._report, self._report.table.baseline
        if baseline is None:
            raise _NotMeasuredError
        metric, found = METRICS[baseline.metric], []
        for row in report.table.rows:
            place = (row.name, column, report.table.protocols[0].name, metric.name)
            ours = report.finished_mean(place)
            theirs = report.finished_mean((row.name, baseline.column, *place[2:]))
            stands_so = report.standings.get(place) == standing
            if stands_so and ours is not None and theirs is not None:
                is_published = (row.name, column, metric.name) in report.table.published
                note = "" if is_published else ", the paper has no number"
                text = f"{row.label} ({metric.format(ours)} against {metric.format(theirs)}{note})"
                found.append((abs(ours - theirs), text))
        *others, last = [text for _, text in sorted(found, reverse=True)] or ["no set"]
        return f"{', '.join(others)} and {last}" if others else last

    def _rank(self, column: str) -> str:
        found = rank_methods(self._report, self._report.table.ranking)
        if found is None:
            raise _NotMeasuredError
        names = [one.name for one in found.columns]
        return f"{found.mean_ranks[names.index(column)]:.1f}"
