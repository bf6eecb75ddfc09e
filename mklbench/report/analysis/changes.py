"""What another protocol changes of a table's numbers, on the splits that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.table.paper_table import Protocol
from mklbench.report.table.verdict import JUDGING, Sample, Verdict, judge


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
