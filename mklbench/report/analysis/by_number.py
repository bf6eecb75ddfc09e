"""How many published numbers match: each counts once, however many protocols were tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mklbench.report.analysis.assemble import Report
from mklbench.report.table.verdict import JUDGING, Published, Verdict


@dataclass
class JudgedNumber:
    """A published number that was judged.

    `as_printed` is its verdict under the protocol of its table that is the paper's as printed, and
    `first` that under the first protocol, or None where it has none there; `matches` tells whether
    any protocol matches it.
    """

    as_printed: Verdict | None = None
    first: Verdict | None = None
    matches: bool = False


def judged_numbers(reports: Iterable[Report]) -> list[JudgedNumber]:
    """Return the published numbers of tables of one paper that a verdict judges, each once.

    Parameters
    ----------
    reports : iterable of Report
        The tables. Of a number that several of them show the first one says how it is as printed
        and under the first protocol. The settings of a grid do not count: in so many places
        something always matches.
    """
    found: dict[tuple[str, str, str, Published], JudgedNumber] = {}
    for report in reports:
        printed, first = report.table.printed_protocol.name, report.table.protocols[0].name
        for (row, column, protocol, metric), number in report.numbers.items():
            is_setting = bool(number.slot.protocol.setting)
            if number.published is None or number.verdict not in JUDGING or is_setting:
                continue
            place = (row, column, metric, Published(number.published.mean, number.published.std))
            one = found.setdefault(place, JudgedNumber())
            one.matches |= number.verdict == Verdict.MATCH
            if protocol == printed and one.as_printed is None:
                one.as_printed = number.verdict
            if protocol == first and one.first is None:
                one.first = number.verdict
    return list(found.values())


def n_as_printed(numbers: Iterable[JudgedNumber]) -> int:
    """Return how many match under the paper's protocol as printed."""
    return sum(number.as_printed == Verdict.MATCH for number in numbers)


def n_under_the_first(numbers: Iterable[JudgedNumber]) -> tuple[int, int]:
    """Return how many match, and how many match or are close, under a table's first protocol."""
    counts = Counter(number.first for number in numbers)
    return counts[Verdict.MATCH], counts[Verdict.MATCH] + counts[Verdict.CLOSE]


def n_matching(numbers: Iterable[JudgedNumber]) -> int:
    """Return how many match under some protocol."""
    return sum(number.matches for number in numbers)
