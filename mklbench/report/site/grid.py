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
from mklbench.report.layout.entries import format_measured, format_sample, mark
from mklbench.report.layout.tables import mirrored
from mklbench.report.table.metrics import METRICS, Metric
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
    by_method = not table.published and len(table.columns) > len(table.rows)
    of_paper = {(column, metric) for _, column, metric in table.published}
    of_records = {(row, column, metric) for row, column, _, metric in report.numbers}
    shown, printed = of_records | set(table.published), {row for row, _, _ in table.published}
    at = 0 if by_method else 1
    heads = [
        Head(one.name, one.label, METRICS[name], (one.name, name) in of_paper)
        for one in (table.rows if by_method else table.columns)
        for name in getattr(one, "metrics", table.metrics)
        if any(place[at] == one.name and place[2] == name for place in shown)
    ]
    grid = Grid(by_method, heads)
    for group in table.columns if by_method else table.rows:
        places = [
            (head.name, group.name) if by_method else (group.name, head.name) for head in heads
        ]
        lines = [_published(report, group.name, heads)] if group.name in printed else []
        lines += _measured(report, grid, places)
        if len(lines) == 1 and group.name in printed:
            lines.append(Line("", "data not at hand", [None] * len(heads), is_short=True))
        if lines:
            grid.groups.append(Group(group.name, group.label, lines))
    return grid


def _published(report: Report, row: str, heads: Sequence[Head]) -> Line:
    table = report.table
    entries: list[Entry | None] = []
    first = {column.name: column.metrics[0] for column in table.columns}
    for head in heads:
        place = (row, head.name, head.metric.name)
        found = table.published.get(place)
        if found is None:
            is_first = head.metric.name == first[head.name]
            entries.append(Entry(table.published_absent if is_first else ""))
            continue
        emphasis = _EMPHASES.get(report.published_standings.get(place), "")
        emphasis = "better" if found.is_bold else emphasis
        entries.append(Entry(format_sample(head.metric, found), "", emphasis, found.mean))
    return Line(PUBLISHED, "published", entries, is_short=True)


def _measured(report: Report, grid: Grid, places: Sequence[tuple[str, str]]) -> list[Line]:
    shown_first = mirrored(report)
    lines = []
    for protocol in report.table.protocols:
        entries: list[Entry | None] = []
        for (row, column), head in zip(places, grid.heads, strict=True):
            place = (row, column, protocol.name, head.metric.name)
            if place not in report.numbers:
                entries.append(None)
                continue
            entries.append(_entry(report, place, len(grid.numbers)))
            grid.numbers.append(report.numbers[place])
        if any(entry is not None for entry in entries):
            lines.append(Line(protocol.name, protocol.label, entries, protocol in shown_first))
    return lines


def _entry(report: Report, place: NumberPlace, at: int) -> Entry:
    number, standing = report.numbers[place], report.standings.get(place)
    return Entry(
        format_measured(report, place).strip("*").removesuffix(mark(number.verdict)).rstrip(),
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
