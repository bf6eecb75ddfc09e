"""The findings of a table: sentences with marks in place of numbers, which are looked up.

A mark is ``{measured ROW COLUMN PROTOCOL METRIC}`` or ``{published ROW COLUMN METRIC}``, a mean;
``{count match}``, and so for close, differs, judged, claims and held (the claims that hold), a
number of the table; or ``{rank COLUMN}``, a mean rank over its rows. A name with a space stands in
quotes.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import Report
from mklbench.report.claims import judge_claims
from mklbench.report.layout.ranking import rank_methods
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.verdict import JUDGING, Verdict

_MARK = re.compile(r"\{([^{}]*)\}")


def findings(report: Report) -> list[str]:
    """Return the findings of a table; those of which a number is not measured are left out.

    Raises
    ------
    InputError
        For a mark that is none of those above, or a name that the table does not have.
    """
    found = []
    for text in report.table.findings:
        try:
            values = [_value(report, *shlex.split(mark)) for mark in _MARK.findall(text)]
        except (LookupError, ValueError, TypeError) as error:
            raise InputError(
                f"{report.table.name}: a finding has a mark that cannot be read: {text}"
            ) from error
        if None not in values:
            filled = iter(values)
            found.append(_MARK.sub(lambda _, filled=filled: next(filled), text))  # type: ignore[misc]
    return found


def _value(report: Report, kind: str, *names: str) -> str | None:
    """Return what stands for a mark; None where it is not measured."""
    if kind == "count":
        return str(_counts(report)[names[0]])
    if kind == "rank":
        ranks = rank_methods(report, report.table.ranking)
        if ranks is None:
            return None
        at = [column.name for column in ranks.columns].index(names[0])
        return f"{ranks.mean_ranks[at]:.1f}"
    metric, mean = METRICS[names[-1]], None
    if kind == "published":
        mean = report.table.published[names[0], names[1], names[2]].mean
    elif kind == "measured":
        mean = report.numbers[names[0], names[1], names[2], names[3]].finished_mean
    else:
        raise ValueError(kind)
    return None if mean is None else metric.format(mean)


def _counts(report: Report) -> dict[str, int]:
    printed = report.table.printed_protocol
    numbers = report.numbers.values()
    verdicts = Counter(number.verdict for number in numbers if number.slot.protocol == printed)
    judged = judge_claims(report)
    return {
        "match": verdicts[Verdict.MATCH],
        "close": verdicts[Verdict.CLOSE],
        "differs": verdicts[Verdict.HIGHER] + verdicts[Verdict.LOWER],
        "judged": sum(verdicts[verdict] for verdict in JUDGING),
        "claims": len(judged),
        "held": sum(one.holds is True for one in judged),
    }
