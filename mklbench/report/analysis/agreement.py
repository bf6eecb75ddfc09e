"""How far a table agrees with the paper: matches by number, by protocol, and by chance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.table.paper_table import Protocol
from mklbench.report.table.verdict import JUDGING, Published, Sample, Verdict, judge


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


@dataclass(frozen=True)
class Change:
    """The numbers that a protocol measures, and how many match of all, with the others as printed.

    `before` and `after` are verdicts by the label of the number: under the protocol as printed, on
    the splits that this one has, and under this one. `n_others` are the judged numbers that it does
    not measure, of which `n_others_match` do, on all splits.
    """

    protocol: Protocol
    before: Mapping[str, Verdict]
    after: Mapping[str, Verdict]
    n_others: int
    n_others_match: int

    @property
    def gained(self) -> list[str]:
        """The numbers that match under this protocol alone."""
        return self._matching(self.after, self.before)

    @property
    def lost(self) -> list[str]:
        """The numbers that match as printed alone."""
        return self._matching(self.before, self.after)

    def n_matching(self, verdicts: Mapping[str, Verdict]) -> int:
        """Return how many match of those measured, by `before` or `after`."""
        return sum(verdict == Verdict.MATCH for verdict in verdicts.values())

    @staticmethod
    def _matching(here: Mapping[str, Verdict], there: Mapping[str, Verdict]) -> list[str]:
        return [
            label for label, verdict in here.items() if verdict == Verdict.MATCH != there[label]
        ]


@dataclass(frozen=True)
class Unmatched:
    """A judged number that does not match as printed, and what other protocols have of it."""

    as_printed: Number
    others: Sequence[Number]

    @property
    def matching(self) -> list[Number]:
        """Those under which it matches."""
        return [number for number in self.others if number.verdict == Verdict.MATCH]


def changes(report: Report) -> list[Change]:
    """Return for each protocol but the one as printed what it changes, if any number is judged."""
    as_printed = _as_printed(report)
    found = []
    for protocol in report.table.protocols:
        here = {
            place: number
            for place in as_printed
            for number in [report.numbers.get((place[0], place[1], protocol.name, place[2]))]
            if number is not None and number.verdict in JUDGING
        }
        if not here or protocol == report.table.printed_protocol:
            continue
        others = [number.verdict for place, number in as_printed.items() if place not in here]
        found.append(
            Change(
                protocol,
                {
                    label_of(number): _on_the_splits_of(report, as_printed[place], number)
                    for place, number in here.items()
                },
                {label_of(n): n.verdict for n in here.values() if n.verdict is not None},
                len(others),
                others.count(Verdict.MATCH),
            )
        )
    return found


def unmatched(report: Report) -> list[Unmatched]:
    """Return the judged numbers that do not match as printed, in the order of the table."""
    printed = report.table.printed_protocol
    return [
        Unmatched(
            number,
            [
                other
                for protocol in report.table.protocols
                for other in [report.numbers.get((place[0], place[1], protocol.name, place[2]))]
                if other is not None and other.verdict in JUDGING and protocol != printed
            ],
        )
        for place, number in _as_printed(report).items()
        if number.verdict != Verdict.MATCH
    ]


def label_of(number: Number) -> str:
    """Return the labels of the row and the column of a number."""
    return f"{number.slot.row.label}, {number.slot.column.label}"


def _as_printed(report: Report) -> dict[tuple[str, str, str], Number]:
    """Return the judged numbers under the protocol as printed, by row, column and metric."""
    printed = report.table.printed_protocol.name
    return {
        (row, column, metric): number
        for (row, column, protocol, metric), number in report.numbers.items()
        if protocol == printed and number.verdict in JUDGING
    }


def _on_the_splits_of(report: Report, reference: Number, number: Number) -> Verdict:
    """Return the verdict on `reference` by the splits that `number` has."""
    values, others = (
        report.slots[one.slot.place][1].by_split(one.metric) for one in (reference, number)
    )
    sample = Sample.of([values[split] for split in others if split in values])
    assert sample is not None  # of the first splits both have some
    return judge(reference.published, reference.published_n_splits or 1, sample)


def matches(
    report: Report,
    metric: str,
    protocols: Sequence[Protocol],
    rows: Collection[str] = (),
    columns: Collection[str] = (),
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
    rows, columns : collection of str, default=()
        The names of those that count; none means all.

    Returns
    -------
    ndarray of shape (n_protocols, n, n)
        Whether number i of the n that are published and measured under all protocols matches what
        the paper has for number j. On the diagonal of the last two axes are the true matches.
    """
    table = report.table
    places = [
        (row, column)
        for row, column, protocol, name in report.numbers
        if (protocol, name) == (protocols[0].name, metric)
        and (row, column, name) in table.published
        and (not rows or row in rows)
        and (not columns or column in columns)
        and all(report.finished_mean((row, column, p.name, metric)) is not None for p in protocols)
    ]
    published = [table.published[*place, metric] for place in places]
    found = np.zeros((len(protocols), len(places), len(places)), dtype=bool)
    for i, protocol in enumerate(protocols):
        for j, (row, column) in enumerate(places):
            measured = report.numbers[row, column, protocol.name, metric].measured
            if measured is not None:
                for k, theirs in enumerate(published):
                    verdict = judge(theirs, table.published_n_splits, measured)
                    found[i, j, k] = verdict == Verdict.MATCH
    return found


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
