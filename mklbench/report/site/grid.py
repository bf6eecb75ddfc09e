"""A table as the paper prints it, for the page: what stands in which place, and what it points to.

A table with published numbers has a group of lines for each data set: the published line, then one
a protocol. A table that no paper prints, of more methods than data sets, has a group for each
method instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mklbench.report.analysis.assemble import Number, NumberPlace, Report
from mklbench.report.analysis.baseline import Standing
from mklbench.report.layout.entries import (
    JUDGEMENTS,
    format_measured,
    format_sample,
)
from mklbench.report.layout.tables import mirrored
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import Row
from mklbench.report.table.verdict import Verdict

# The classes of the page, by verdict.
KINDS = {
    Verdict.MATCH: "match",
    Verdict.CLOSE: "close",
    Verdict.HIGHER: "higher",
    Verdict.LOWER: "lower",
}
_EMPHASES: Mapping[Standing | None, str] = {Standing.BETTER: "better", Standing.WORSE: "worse"}
UNJUDGED, UNFINISHED = "unjudged", "unfinished"

# The name of the line that is of no protocol.
PUBLISHED = "published"

# More columns than these are shown one metric at a time.
_MOST_COLUMNS = 12


@dataclass(frozen=True)
class Head:
    """The head of one column: a method or a data set, and a metric.

    `is_published` tells whether the paper prints it.
    """

    name: str
    label: str
    metric: Metric
    is_published: bool = False


@dataclass(frozen=True)
class Entry:
    """What stands in one place; `kind` is how it is coloured, `value` what it is sorted by.

    `number` is the place of its number in `Grid.numbers`; None of published ones.
    """

    text: str
    kind: str = ""
    emphasis: str = ""
    value: float | None = None
    number: int | None = None


@dataclass(frozen=True)
class Line:
    """One line of a group: what was published, or measured under one protocol.

    `is_short` where it is among the few that are shown at first.
    """

    name: str
    label: str
    entries: Sequence[Entry | None]
    is_short: bool = False


@dataclass(frozen=True)
class Group:
    """The lines of one data set, or of one method."""

    name: str
    label: str
    lines: Sequence[Line]


@dataclass
class Grid:
    """The whole of it; `numbers` are those that its entries name by their place."""

    by_method: bool
    heads: Sequence[Head]
    groups: list[Group] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """How its entries are coloured, each once, in the order of the verdicts."""
        found = {
            entry.kind
            for group in self.groups
            for line in group.lines
            for entry in line.entries
            if entry is not None and entry.number is not None
        }
        return [kind for kind in (*KINDS.values(), UNJUDGED, UNFINISHED) if kind in found]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Names and labels of its lines, each once."""
        lines = (line for group in self.groups for line in group.lines)
        return list({line.name: line.label for line in lines}.items())

    @property
    def is_shortened(self) -> bool:
        """Whether it begins with some of its lines, those of the paper's table."""
        lines = [line for group in self.groups for line in group.lines]
        return any(line.name == PUBLISHED for line in lines) and not all(x.is_short for x in lines)

    @property
    def metrics(self) -> list[Metric]:
        """Its metrics, each once."""
        return list({head.metric.name: head.metric for head in self.heads}.values())

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and labels of what its columns are of, each once."""
        return list(dict.fromkeys((head.name, head.label) for head in self.heads))

    @property
    def first_metric(self) -> str:
        """The metric that is shown at first; empty: all of them."""
        return self.heads[0].metric.name if len(self.heads) > _MOST_COLUMNS else ""


def grid_of(report: Report) -> Grid:
    """Arrange the numbers of a table."""
    table = report.table
    if not table.published and len(table.columns) > len(table.rows):
        return _by_method(report)
    of_paper = {(column, metric) for _, column, metric in table.published}
    heads = [
        Head(column.name, column.label, METRICS[name], (column.name, name) in of_paper)
        for column in table.columns
        for name in column.metrics
    ]
    heads = [head for head in heads if _is_filled(report, head)]
    grid = Grid(False, heads)
    for row in table.rows:
        printed = any(place[0] == row.name for place in table.published)
        lines = [_published(report, row, heads)] if printed else []
        lines += _measured(report, grid, [(row.name, head.name, head) for head in heads])
        if len(lines) == 1 and printed:
            lines.append(Line("", "data not at hand", [None] * len(heads), is_short=True))
        if lines:
            grid.groups.append(Group(row.name, row.label, lines))
    return grid


def _by_method(report: Report) -> Grid:
    table = report.table
    there = {(row, metric) for row, _, _, metric in report.numbers}
    heads = [
        Head(row.name, row.label, METRICS[name])
        for row in table.rows
        for name in table.metrics
        if (row.name, name) in there
    ]
    grid = Grid(True, heads)
    for column in table.columns:
        places = [(head.name, column.name, head) for head in heads]
        if lines := _measured(report, grid, places):
            grid.groups.append(Group(column.name, column.label, lines))
    return grid


def _is_filled(report: Report, head: Head) -> bool:
    table = report.table
    return any(
        (row.name, head.name, head.metric.name) in table.published for row in table.rows
    ) or any(
        column == head.name and metric == head.metric.name
        for _, column, _, metric in report.numbers
    )


def _published(report: Report, row: Row, heads: Sequence[Head]) -> Line:
    entries: list[Entry | None] = []
    first = {column.name: column.metrics[0] for column in report.table.columns}
    for head in heads:
        place = (row.name, head.name, head.metric.name)
        found = report.table.published.get(place)
        emphasis = _EMPHASES.get(report.published_standings.get(place), "")
        if found is None:
            is_first = head.metric.name == first[head.name]
            entries.append(Entry(report.table.published_absent if is_first else ""))
            continue
        text = format_sample(head.metric, found)
        emphasis = "better" if found.is_bold else emphasis
        entries.append(Entry(text, value=found.mean, emphasis=emphasis))
    return Line(PUBLISHED, "published", entries, is_short=True)


def _measured(report: Report, grid: Grid, places: Sequence[tuple[str, str, Head]]) -> list[Line]:
    shown_first = mirrored(report)
    lines = []
    for protocol in report.table.protocols:
        entries: list[Entry | None] = []
        for row, column, head in places:
            place = (row, column, protocol.name, head.metric.name)
            if place not in report.numbers:
                entries.append(None)
                continue
            entries.append(_entry(report, place, len(grid.numbers)))
            grid.numbers.append(report.numbers[place])
        if any(entry is not None for entry in entries):
            is_short = protocol in shown_first
            lines.append(Line(protocol.name, protocol.label, entries, is_short))
    return lines


def _entry(report: Report, place: NumberPlace, at: int) -> Entry:
    number, standing = report.numbers[place], report.standings.get(place)
    shown = format_measured(report, place).strip("*")
    mark = JUDGEMENTS[number.verdict][0] if number.verdict in JUDGEMENTS else ""
    return Entry(
        shown.removesuffix(mark).rstrip() if mark else shown,
        kind_of(number),
        _EMPHASES.get(standing, ""),
        None if number.measured is None else number.measured.mean,
        at,
    )


def kind_of(number: Number) -> str:
    """Return how a number is coloured: by its verdict, if it has one that judges."""
    if number.verdict is None:
        return UNFINISHED
    return KINDS.get(number.verdict, UNJUDGED)
