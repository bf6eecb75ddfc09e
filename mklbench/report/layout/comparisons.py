"""Questions of whether one method does better than another, answered from the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.analysis.significance import LEVEL, corrected_p_value
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import NOTHING
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Comparison
from mklbench.report.table.verdict import Sample

RULE = (
    f"Better and worse are where a corrected resampled t-test over the splits of a set finds a "
    f"difference at the {100 * LEVEL:.0f} % level, alike is where it finds none."
)


@dataclass(frozen=True)
class Tally:
    """Labels of the rows where a method is better than another, alike and worse."""

    better: tuple[str, ...]
    alike: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def text(self) -> str:
        """The three counts, better first."""
        return " / ".join(str(len(rows)) for rows in (self.better, self.alike, self.worse))

    @property
    def is_empty(self) -> bool:
        """Whether there is no row where both are done."""
        return not (self.better or self.alike or self.worse)


def tally(report: Report, column: str, against: str, protocol: str, metric: Metric) -> Tally:
    """Compare two columns on every row where both are done."""
    found: dict[int, list[str]] = {1: [], 0: [], -1: []}
    for row in report.table.rows:
        outcome = _outcome(
            report, (row.name, column, protocol), (row.name, against, protocol), metric
        )
        if outcome is not None:
            found[outcome].append(row.label)
    return Tally(tuple(found[1]), tuple(found[0]), tuple(found[-1]))


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
    lines = []
    for comparison in table.comparisons:
        metric = METRICS[comparison.metric]
        tallies = [
            tally(report, comparison.column, comparison.against, protocol.name, metric)
            for protocol in table.protocols
        ]
        answers = [Entry(_answer(one)) for one in tallies]
        in_short = Entry(_in_short(comparison, tallies))
        lines.append([Entry(comparison.label), Entry(metric.heading), *answers, in_short])
    yield Grid(headings, lines, n_label_columns=2)


def _outcome(report: Report, first: Place, second: Place, metric: Metric) -> int | None:
    """Return 1 if the first cell is better, -1 if it is worse, 0 if alike; None unless done."""
    if first not in report.slots or second not in report.slots:
        return None
    found = [report.slots[place][1] for place in (first, second)]
    if any(one.status != DONE for one in found):
        return None
    values = [one.by_split(metric) for one in found]
    record = found[0].done[0]
    assert record.n_test is not None
    assert record.n_train is not None
    share = record.n_test / record.n_train
    if corrected_p_value(values[0], values[1], share) >= LEVEL:
        return 0
    means = [Sample.of(list(one.values())) for one in values]
    assert means[0] is not None
    assert means[1] is not None
    return 1 if (means[0].mean < means[1].mean) == metric.lower_is_better else -1


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
        return "not done"
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
