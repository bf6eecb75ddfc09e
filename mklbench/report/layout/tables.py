"""The tables of a page: the paper's with what was measured under it, sweeps, and all else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.growth import size_at
from mklbench.report.document import NOTHING, Grid, Part
from mklbench.report.layout.entries import (
    format_measured,
    format_published,
    has_fewer_splits,
)
from mklbench.report.layout.notes import time_note
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Baseline, Column, PaperTable, Protocol, Row, Sweep
from mklbench.report.table.verdict import JUDGING, Verdict

# A page begins with as many of its tables as have so many lines together, and at least with one.
MOST_LINES = 60

Shown = Sequence[tuple[Column, str]]  # columns of the paper's table: a method and a metric


@dataclass(frozen=True)
class Best:
    """Of the protocols beside the paper's the one under which most published numbers match.

    `n_matching` of the `n_judged` numbers do; it is one of `n_protocols`.
    """

    protocol: Protocol
    n_matching: int
    n_judged: int
    n_protocols: int


def mirror(report: Report) -> Iterator[Part]:
    """Yield the paper's table: its rows and columns, with what was measured below each row.

    That is under the paper's protocol as printed, under the first protocol of the table where it is
    another, and under the best of the others.
    """
    table = report.table
    shown = _published_columns(table)
    best, protocols = best_of_the_others(report), mirrored(report)
    yield "## Beside the paper"
    yield from _lines_by_protocol(report, shown, protocols, of_paper=True)
    yield _legend(report)
    if best is not None and best.n_protocols > 1:
        yield (
            f'"{label_of(table, best.protocol)}" is the one of {best.n_protocols} other '
            f"protocols under which most published numbers match: {best.n_matching} of the "
            f"{best.n_judged} that are judged there."
        )
    yield from time_note(report, (METRICS[name] for _, name in shown))
    if table.baseline is not None:
        yield _baseline_legend(report, table.baseline)
    if table.ratios:
        yield "## Ratios"
        yield from _ratios(report, protocols)


def mirrored(report: Report) -> list[Protocol]:
    """Return the protocols that a page begins with: the paper's, and the best of the others."""
    best = best_of_the_others(report)
    return _leading(report.table) + ([] if best is None else [best.protocol])


def every_protocol(report: Report) -> Iterator[Part]:
    """Yield the same with all protocols, and with what the paper has no numbers of."""
    table = report.table
    shown = [(column, name) for column in table.columns for name in column.metrics]
    yield from _lines_by_protocol(report, shown, table.protocols)
    yield from time_note(report, (METRICS[name] for _, name in shown))
    if table.ratios:
        yield "### Ratios"
        yield from _ratios(report, table.protocols)


def best_of_the_others(report: Report) -> Best | None:
    """Return the best protocol but those that a page begins with; None where there is none."""
    table = report.table
    counts = {
        protocol.name: [
            number
            for (*_, name, _), number in report.numbers.items()
            if name == protocol.name and number.published is not None and number.measured
        ]
        for protocol in table.protocols
        if protocol not in _leading(table)
    }
    others = [protocol for protocol in table.protocols if counts.get(protocol.name)]
    if not others:
        return None

    def key(protocol: Protocol) -> tuple[int, int, int]:
        verdicts = [number.verdict for number in counts[protocol.name]]
        return verdicts.count(Verdict.MATCH), verdicts.count(Verdict.CLOSE), len(verdicts)

    best = max(others, key=key)
    n_judged = sum(number.verdict in JUDGING for number in counts[best.name])
    return Best(best, key(best)[0], n_judged, len(others))


def label_of(table: PaperTable, protocol: Protocol) -> str:
    """Return the label of a protocol, in full where it begins with "the same" as the one before."""
    label = protocol.label
    if label.startswith("the same, "):
        before = table.protocols[: table.protocols.index(protocol)]
        full = [one.label for one in before if not one.label.startswith("the same, ")]
        return f"{full[-1]}, {label.removeprefix('the same, ')}" if full else label
    return label


def _leading(table: PaperTable) -> list[Protocol]:
    """Return the first protocol and the one as printed, each once."""
    return list({one.name: one for one in (table.protocols[0], table.printed_protocol)}.values())


def _published_columns(table: PaperTable) -> Shown:
    return [
        (column, name)
        for column in table.columns
        for name in column.metrics
        if any((row.name, column.name, name) in table.published for row in table.rows)
    ]


def _lines_by_protocol(
    report: Report, shown: Shown, protocols: Sequence[Protocol], *, of_paper: bool = False
) -> Iterator[Part]:
    """Yield one grid, or one a metric where that is too wide for a terminal.

    With `of_paper` they have the rows alone that the paper prints a number of.
    """
    whole = _grid_by_protocol(report, shown, protocols, of_paper)
    metrics = list(dict.fromkeys(name for _, name in shown))
    if whole.fits or len(metrics) == 1:
        yield whole
        return
    for metric in metrics:
        yield f"### {METRICS[metric].heading}"
        of_metric = [(column, name) for column, name in shown if name == metric]
        yield _grid_by_protocol(report, of_metric, protocols, of_paper)


def _grid_by_protocol(
    report: Report, shown: Shown, protocols: Sequence[Protocol], of_paper: bool
) -> Grid:
    table = report.table
    several = len({name for _, name in shown}) > 1
    names = [f" {METRICS[name].heading}" if several else "" for _, name in shown]
    headings = [
        "Data",
        "",
        *(f"{c.label}{name}" for (c, _), name in zip(shown, names, strict=True)),
    ]
    lines: list[list[str]] = []
    for row in table.rows:
        of_row: list[list[str]] = []
        is_published = any((row.name, c.name, name) in table.published for c, name in shown)
        if of_paper and not is_published and not table.rows_are_methods:
            continue
        if is_published or not table.rows_are_methods:
            published = [format_published(report, (row.name, c.name, name)) for c, name in shown]
            of_row.append(["published", *published])
        if not row.at_hand and not table.rows_are_methods:
            of_row.append(["data not at hand", *(NOTHING for _ in shown)])
        for protocol in protocols:
            places = [(row.name, c.name, protocol.name, name) for c, name in shown]
            if any(place in report.numbers for place in places):
                measured = [format_measured(report, place) for place in places]
                of_row.append([label_of(table, protocol), *measured])
        lines += [[row.label if i == 0 else "", *line] for i, line in enumerate(of_row)]
    return Grid(headings, lines, n_label_columns=2)


def _legend(report: Report) -> str:
    fewer = any(has_fewer_splits(number) for number in report.numbers.values())
    bold = any(number.is_bold for number in report.table.published.values())
    text = "Mean ± standard deviation over the splits" + (
        ", whose number follows in parentheses where the paper has more." if fewer else "."
    )
    text += " Bold, published: as the paper prints it." if bold else ""
    if report.table.same_split:
        return (
            "One split, the paper's own. ✓ match: exact, the printed digits are the same; ≈ close: "
            "within one test error; ▲ higher, ▼ lower: differs."
        )
    if any(number.verdict in JUDGING for number in report.numbers.values()):
        text += (
            " ✓ match: within two standard errors of the difference; ≈ close: within one published "
            "standard deviation; ▲ higher, ▼ lower: differs."
        )
    return text


def _baseline_legend(report: Report, baseline: Baseline) -> str:
    label = report.table.label_of(baseline.column)
    metric = METRICS[baseline.metric]
    of_several_models = metric.is_time and report.timed_on.others
    return (
        f"Bold: much better than {label} on the same line; italic: much worse. Much is more than "
        f"two standard errors of the difference and at least {baseline.margin:.1f} "
        f"{metric.difference_unit} of {metric.label}. Between measured numbers it is the standard "
        "error of the differences split by split; between published ones it follows from their "
        "standard deviations."
        + (" Only splits that both timed on one CPU model count." if of_several_models else "")
    )


def _ratios(report: Report, protocols: Sequence[Protocol]) -> Iterator[Part]:
    """Yield quotients of two columns: a line a protocol below the published one, a column a row."""
    table = report.table
    lines = []
    for ratio in table.ratios:
        found = [one for one in report.ratios if one.ratio == ratio]
        published = [_times(one.published) for one in found]
        lines.append([ratio.label, "published", *published])
        for protocol in protocols:
            if any(protocol.name in one.measured for one in found):
                measured = [_times(one.measured.get(protocol.name)) for one in found]
                lines.append(["", label_of(table, protocol), *measured])
    if lines:
        yield Grid(["Ratio", "", *(row.label for row in table.rows)], lines, n_label_columns=2)


def _times(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2g} ×" if value < 99.5 else f"{value:.0f} ×"


def measured_tables(report: Report) -> tuple[list[Part], list[Part]]:
    """Return the tables of what no paper prints: those that a page begins with, and the others."""
    sweep = report.table.sweep
    tables = _overview(report) if sweep is None else _along(report, sweep)
    begin, rest, n_lines = list[Part](), list[Part](), 0
    for heading, grid, notes in tables:
        n_lines += sum(len(block.rows) + 4 for block in grid.blocks())
        part = rest if begin and n_lines > MOST_LINES else begin
        part += [heading, grid, *notes]
    return begin, rest


Table = tuple[str, Grid, list[Part]]


def _overview(report: Report) -> Iterator[Table]:
    """Yield a grid for each protocol and metric; of methods and sets the more stand at the side."""
    table = report.table
    for protocol in table.protocols:
        for name in table.metrics:
            columns = [column for column in table.columns if name in column.metrics]
            parts = [METRICS[name].heading]
            parts += [label_of(table, protocol)] if len(table.protocols) > 1 else []
            grid = _by_method(report, protocol, columns, name)
            if grid is not None:
                yield f"### {', '.join(parts)}", grid, list(time_note(report, [METRICS[name]]))


def _by_method(
    report: Report, protocol: Protocol, columns: list[Column], metric: str
) -> Grid | None:
    there = {place for place in report.numbers if place[2:] == (protocol.name, metric)}
    rows = [
        row
        for row in report.table.rows
        if any((row.name, c.name, protocol.name, metric) in there for c in columns)
    ]
    if not rows:
        return None

    def entry(row: Row, column: Column) -> str:
        return format_measured(report, (row.name, column.name, protocol.name, metric))

    if len(columns) >= len(rows):
        lines = [[c.label, *(entry(row, c) for row in rows)] for c in columns]
        return Grid(["Method", *(row.label for row in rows)], lines)
    lines = [[row.label, *(entry(row, c) for c in columns)] for row in rows]
    return Grid(["Data", *(column.label for column in columns)], lines)


def _along(report: Report, sweep: Sweep) -> Iterator[Table]:
    """Yield one grid for each metric: of several methods these stand across, of one the sets."""
    for metric in report.table.metrics:
        columns = [column for column in report.table.columns if metric in column.metrics]
        if len(report.table.columns) == 1 and sweep.axis is None:
            grid = _sets_across(report, sweep, columns[0], metric)
        else:
            grid = _methods_across(report, sweep, columns, metric)
        yield f"### {METRICS[metric].heading}", grid, list(time_note(report, [METRICS[metric]]))


def _sets_across(report: Report, sweep: Sweep, column: Column, metric: str) -> Grid:
    rows, lines = report.table.rows, []
    for value, protocol in zip(sweep.values, report.table.protocols, strict=True):
        places = [(row.name, column.name, protocol.name, metric) for row in rows]
        lines.append([f"{value:g}", *(format_measured(report, place) for place in places)])
    return Grid([sweep.label, *(row.label for row in rows)], lines)


def _methods_across(report: Report, sweep: Sweep, columns: Sequence[Column], metric: str) -> Grid:
    headings = ["Data", sweep.label if sweep.axis is None else METRICS[sweep.axis].label]
    lines = []
    for row in report.table.rows:
        for position, protocol in enumerate(report.table.protocols):
            places = [(row.name, column.name, protocol.name, metric) for column in columns]
            size = size_at(report, sweep, row, position)
            measured = [format_measured(report, place) for place in places]
            lines.append([row.label, NOTHING if size is None else f"{size:g}", *measured])
    return Grid([*headings, *(column.label for column in columns)], lines, n_label_columns=2)
