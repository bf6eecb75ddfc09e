"""How far a table agrees with the paper: matches by number, by protocol, and by chance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report
from mklbench.report.table.paper_table import Protocol
from mklbench.report.table.verdict import JUDGING, Published, Verdict, judge


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


def matches(
    report: Report, metric: str, protocols: Sequence[Protocol], columns: Collection[str] = ()
) -> NDArray[np.bool_]:
    """Tell which measured number matches which published one.

    Parameters
    ----------
    report : Report
        The table.
    metric : str
        The metric.
    protocols : sequence of Protocol
        Those that are judged.
    columns : collection of str, default=()
        The names of those that count; none means all.

    Returns
    -------
    ndarray of shape (n_protocols, n, n)
        Whether number i of the n that are published and measured under all protocols matches what
        the paper has for number j. On the diagonal of the last two axes are the true matches.
    """
    published, measured = [], []
    for (row, column, name), theirs in report.table.published.items():
        numbers = [report.numbers.get((row, column, p.name, metric)) for p in protocols]
        ours = [one.measured for one in numbers if one and one.status == DONE and one.measured]
        if name == metric and (not columns or column in columns) and len(ours) == len(protocols):
            published.append(theirs)
            measured.append(ours)
    n_splits = report.table.published_n_splits
    verdicts = [
        [[judge(theirs, n_splits, ours[at]) for theirs in published] for ours in measured]
        for at in range(len(protocols))
    ]
    return np.array(verdicts) == Verdict.MATCH


def by_chance(found: NDArray[np.bool_], n_permutations: int = 1000) -> NDArray[np.int64]:
    """Return how many numbers match when the published ones change places.

    Parameters
    ----------
    found : ndarray of shape (n_protocols, n, n)
        What `matches` returns.
    n_permutations : int, default=1000
        How often the published numbers are permuted over sets and methods.

    Returns
    -------
    ndarray of shape (n_permutations, n_protocols)
        The counts; one permutation is the same for all protocols.
    """
    numbers, shuffle = np.arange(found.shape[-1]), random.Random(0).shuffle
    order, counts = numbers.tolist(), []
    for _ in range(n_permutations):
        shuffle(order)
        counts.append(found[:, numbers, order].sum(axis=-1))
    return np.array(counts)
