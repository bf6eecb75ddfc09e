"""Questions of whether one method does better than another, answered from the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Report, compared_splits
from mklbench.report.analysis.cpu_models import Compared
from mklbench.report.analysis.significance import LEVEL, corrected_p_value
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import NOTHING
from mklbench.report.layout.timed_on import limit_notes
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Comparison

RULE = (
    f"Better and worse are where a corrected resampled t-test over the splits of a set finds a "
    f"difference at the {100 * LEVEL:.0f} % level, alike is where it finds none."
)


@dataclass(frozen=True)
class Tally:
    """Labels of the rows where a method is better than another, alike and worse.

    `limits` say by row which times of other CPU models do not count
    (`mklbench.report.analysis.cpu_models.Compared`).
    """

    better: tuple[str, ...]
    alike: tuple[str, ...]
    worse: tuple[str, ...]
    limits: Mapping[str, str]

    @property
    def text(self) -> str:
        """The three counts, better first."""
        return " / ".join(str(len(rows)) for rows in (self.better, self.alike, self.worse))

    @property
    def is_empty(self) -> bool:
        """Whether there is no row where both are done and can be compared."""
        return not (self.better or self.alike or self.worse)


def tally(report: Report, column: str, against: str, protocol: str, metric: Metric) -> Tally:
    """Compare two columns on every row where both are done and can be compared."""
    found: dict[int, list[str]] = {1: [], 0: [], -1: []}
    limits = {}
    for row in report.table.rows:
        places = ((row.name, column, protocol), (row.name, against, protocol))
        compared = compared_splits(report.slots, *places, metric)
        if compared is None:
            continue
        if compared.limit:
            limits[row.label] = compared.limit
        if compared.samples is not None:
            _, cell = report.slots[places[0]]
            outcome = _outcome(compared, cell.done[0], metric)
            found[outcome].append(row.label)
    return Tally(tuple(found[1]), tuple(found[0]), tuple(found[-1]), limits)


def comparison_blocks(report: Report) -> Iterator[Block]:
    """Yield the questions of the table, with one answer for each protocol."""
    table = report.table
    if not table.comparisons:
        return
    yield Heading(2, "Comparisons")
    yield Paragraph(f"On how many sets the first is better / alike / worse. {RULE}")
    headings = [
        "Question",
        "Metric",
        *(protocol.label for protocol in table.protocols),
        "in short",
    ]
    lines, limits = [], {}
    for comparison in table.comparisons:
        metric = METRICS[comparison.metric]
        tallies = [
            tally(report, comparison.column, comparison.against, protocol.name, metric)
            for protocol in table.protocols
        ]
        answers = [Entry(_answer(one)) for one in tallies]
        in_short = Entry(_in_short(comparison, tallies))
        lines.append([Entry(comparison.label), Entry(metric.heading), *answers, in_short])
        for protocol, one in zip(table.protocols, tallies, strict=True):
            for row, limit in one.limits.items():
                limits[f"{comparison.label}, {protocol.label}, {row}"] = limit
    yield Grid(headings, lines, n_label_columns=2)
    yield from limit_notes(limits)


def _outcome(compared: Compared, record: Record, metric: Metric) -> int:
    """Return 1 if the first of two cells is better, -1 if it is worse, 0 if they are alike."""
    assert compared.samples is not None
    assert record.n_test is not None
    assert record.n_train is not None
    one, other = compared.values
    if corrected_p_value(one, other, record.n_test / record.n_train) >= LEVEL:
        return 0
    first, second = (sample.mean for sample in compared.samples)
    return 1 if (first < second) == metric.lower_is_better else -1


def _answer(found: Tally) -> str:
    if found.is_empty:
        return NOTHING
    names = [
        f"{word} on {', '.join(rows)}"
        for word, rows in (("better", found.better), ("worse", found.worse))
        if rows
    ]
    return f"{found.text} ({'; '.join(names)})" if names else found.text


def _in_short(comparison: Comparison, tallies: list[Tally]) -> str:
    """Say what holds under every protocol."""
    known = [one for one in tallies if not one.is_empty]
    if len(known) < len(tallies):
        return "not formed" if any(one.is_empty and one.limits for one in tallies) else "not done"
    gains = any(one.better for one in known)
    losses = any(one.worse for one in known)
    if gains and losses:
        return "depends on the set or the protocol"
    if not gains and not losses:
        return "no difference found"
    word = "better" if gains else "worse"
    everywhere = all((one.better if gains else one.worse) for one in known)
    protocols = "every" if everywhere else "some"
    return f"{word} on some set under {protocols} protocol, never the other way"
