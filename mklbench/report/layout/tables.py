"""The tables of a page: the paper's with what was measured under it, sweeps, and all else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from mklbench.report.analysis.assemble import Report
from mklbench.report.document import NOTHING, Grid, Part
from mklbench.report.layout.entries import (
    format_measured,
    format_published,
    has_fewer_splits,
    time_note,
)
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Baseline, Column, PaperTable, Protocol
from mklbench.report.table.verdict import JUDGING, Verdict

Shown = Sequence[tuple[Column, str]]  # columns of the paper's table: a method and a metric


def mirror(report: Report) -> Iterator[Part]:
    """Yield the paper's table: its rows and columns, with what was measured below each row.

    That is under the paper's protocol as printed, under the first protocol of the table where it is
    another, and under the best of the others.
    """
    table = report.table
    shown = _published_columns(table)
    yield "## Beside the paper"
    yield from _lines_by_protocol(report, shown, mirrored(report), of_paper=True)
    yield _legend(report)
    others = others_by_matches(report)
    if len(others) > 1:
        verdicts = _verdicts(report, others[0])
        n_judged = sum(verdict in JUDGING for verdict in verdicts)
        yield (
            f'"{others[0].label}" is the one of {len(others)} other '
            "protocols under which most published numbers match: "
            f"{verdicts.count(Verdict.MATCH)} of the {n_judged} that are judged there."
        )
    yield from time_note(report, (METRICS[name] for _, name in shown))
    if table.baseline is not None:
        yield _baseline_legend(report, table.baseline)


def mirrored(report: Report) -> list[Protocol]:
    """Return the protocols that a page begins with: the paper's, and the best of the others."""
    return [*_leading(report.table), *others_by_matches(report)[:1]]


def every_protocol(report: Report) -> Iterator[Part]:
    """Yield the same with all protocols, and with what the paper has no numbers of."""
    table = report.table
    shown = [(column, name) for column in table.columns for name in column.metrics]
    yield from _lines_by_protocol(report, shown, table.protocols)
    yield from time_note(report, (METRICS[name] for _, name in shown))


def others_by_matches(report: Report) -> list[Protocol]:
    """Return the other protocols with published numbers, the one first under which most match."""

    def key(protocol: Protocol) -> tuple[int, int, int]:
        verdicts = _verdicts(report, protocol)
        return verdicts.count(Verdict.MATCH), verdicts.count(Verdict.CLOSE), len(verdicts)

    others = [one for one in report.table.protocols if one not in _leading(report.table)]
    return sorted(filter(partial(_verdicts, report), others), key=key, reverse=True)


def _verdicts(report: Report, protocol: Protocol) -> list[Verdict | None]:
    """Return the verdicts on the published numbers that are measured under a protocol."""
    return [
        number.verdict
        for (*_, name, _), number in report.numbers.items()
        if name == protocol.name and number.published is not None and number.measured
    ]


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
        if is_published or (table.published and not table.rows_are_methods):
            published = [format_published(report, (row.name, c.name, name)) for c, name in shown]
            of_row.append(["published", *published])
        if not row.at_hand and not table.rows_are_methods:
            of_row.append(["data not at hand", *(NOTHING for _ in shown)])
        for protocol in protocols:
            places = [(row.name, c.name, protocol.name, name) for c, name in shown]
            if any(place in report.numbers for place in places):
                measured = [format_measured(report, place) for place in places]
                of_row.append([protocol.label, *measured])
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
    return (
        f"Bold: much better than {label} on the same line; italic: much worse. Much is more than "
        f"two standard errors of the difference and at least {baseline.margin:.1f} "
        f"{metric.difference_unit} of {metric.label}. Between measured numbers it is the standard "
        "error of the differences split by split; between published ones it follows from their "
        "standard deviations."
    )


def measured_tables(report: Report) -> tuple[list[Part], list[Part]]:
    """Return the tables of what no paper prints: the one that a page begins with, and the others.

    There is a grid for each metric.
    """
    table, parts = report.table, []
    for name in table.metrics:
        shown = [(column, name) for column in table.columns if name in column.metrics]
        if len(table.protocols) > 1:
            grid = _grid_by_protocol(report, shown, table.protocols, of_paper=False)
        else:
            grid = _of_one_protocol(report, shown, table.protocols[0])
        metric = METRICS[name]
        parts.append([f"### {metric.heading}", grid, *time_note(report, [metric])])
    return parts[0], [part for of_metric in parts[1:] for part in of_metric]


def _of_one_protocol(report: Report, shown: Shown, protocol: Protocol) -> Grid:
    lines = [["Data", *(column.label for column, _ in shown)]]
    for row in report.table.rows:
        places = [(row.name, column.name, protocol.name, name) for column, name in shown]
        if any(place in report.numbers for place in places):
            lines.append([row.label, *(format_measured(report, place) for place in places)])
    if len(shown) >= len(lines) - 1:  # of methods and sets the more stand at the side
        lines = [list(line) for line in zip(*lines, strict=True)]
        lines[0][0] = "Method"
    return Grid(lines[0], lines[1:])
