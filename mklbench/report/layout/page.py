"""From a report to a document: the table as the paper prints it, every number, the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mklbench.report.analysis.assemble import Number, NumberPlace, Report
from mklbench.report.analysis.by_number import (
    JudgedNumber,
    judged_numbers,
    n_as_printed,
    n_matching,
    n_under_the_first,
)
from mklbench.report.analysis.chance import by_chance, matches
from mklbench.report.analysis.changes import Unmatched, changes, label_of, unmatched
from mklbench.report.document.blocks import (
    Block,
    Document,
    Entry,
    Grid,
    Heading,
    Paragraph,
    Picture,
)
from mklbench.report.layout.appendix import appendix
from mklbench.report.layout.claims import claim_blocks
from mklbench.report.layout.comparisons import comparison_blocks
from mklbench.report.layout.costs import cost_blocks
from mklbench.report.layout.entries import (
    JUDGEMENTS,
    NOTHING,
    emphasis,
    format_count,
    format_difference,
    format_measured,
    format_sample,
    has_fewer_splits,
    mark,
    measured_text,
    tone,
)
from mklbench.report.layout.evidence import evidence_blocks
from mklbench.report.layout.overview import overview_blocks
from mklbench.report.layout.predictors import predictor_blocks
from mklbench.report.layout.ranking import ranking_blocks
from mklbench.report.layout.repeated import repeat_blocks, repeat_mark
from mklbench.report.layout.split_sources import describe_split_sources
from mklbench.report.layout.stopping import ending_summary
from mklbench.report.layout.sweep import sweep_blocks
from mklbench.report.layout.timed_on import limit_notes, picture_note, time_note
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Baseline


def lay_out(
    report: Report, figures: Mapping[str, Path] | None = None, *, draws: bool = True
) -> Document:
    """Arrange a report as a document; of a part of a table its tables alone.

    Parameters
    ----------
    report : Report
        The assembled table.
    figures : mapping of str to Path or None, default=None
        Picture files by the name of the figure; those of the table are shown.
    draws : bool, default=True
        Whether to draw from posteriors for the section `EVIDENCE`, which takes seconds; it is
        empty otherwise.
    """
    if report.is_part:
        return lay_out_tables(report)
    table = report.table
    blocks: list[Block] = [Heading(1, table.title), Paragraph(_source(report))]
    blocks.append(Paragraph(f"{_summary(report)} {ending_summary(report)}".strip()))
    blocks.extend(repeat_blocks(report))
    blocks.extend(Paragraph(text) for text in describe_split_sources(report))
    blocks.extend(Paragraph(note) for note in table.notes)
    blocks.extend(claim_blocks(report))
    if table.sweep is not None:
        blocks.extend(sweep_blocks(report))
    elif table.published:
        blocks.extend(_mirror(report))
        blocks.extend(_ratios(report))
        blocks.extend(_changes(report))
        blocks.extend(_every_number(report))
    else:
        blocks.extend(ranking_blocks(report))
        blocks.extend(evidence_blocks(report, heading_only=not draws))
        blocks.extend(cost_blocks(report))
        blocks.extend(predictor_blocks(report))
        blocks.extend(comparison_blocks(report))
        blocks.extend(overview_blocks(report))
    blocks.extend(_pictures(report, figures or {}))
    blocks.extend(appendix(report))
    return blocks


def lay_out_tables(report: Report) -> Document:
    """Arrange what a paper prints of a report: its tables, without every number and the ledger.

    Parameters
    ----------
    report : Report
        The assembled table.
    """
    blocks: list[Block] = [Heading(1, report.table.title)]
    if report.table.sweep is not None:
        blocks.extend(sweep_blocks(report))
    elif report.table.published:
        blocks.extend([*_mirror(report), *_ratios(report)])
    else:
        blocks.extend(overview_blocks(report))
    return blocks


def _source(report: Report) -> str:
    table = report.table
    return f"{table.citation} {table.url}".strip()


def _summary(report: Report) -> str:
    n_cells, n_unfinished = len(report.slots), len(report.unfinished)
    cells = f"{n_cells - n_unfinished} of {n_cells} runs are done"
    if not report.table.published and report.table.claims:
        return f"{cells}; the paper prints no numbers of it, so only claims are judged."
    if not report.table.published:
        return f"{cells}; there are no published numbers, so nothing is judged."
    counts = report.verdict_counts
    judged = [verdict for verdict in JUDGEMENTS if counts[verdict]]
    total = sum(counts[verdict] for verdict in judged)
    if total == 0:
        if all(number.std is None for number in report.table.published.values()):
            return f"{cells}; the paper prints no spreads, so only differences are given."
        return f"{cells}; no number can be judged yet."
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in judged)
    if len(report.table.protocols) == 1:
        return f"{cells}; of {total} judged numbers: {parts}."
    numbers = judged_numbers([report])
    first, printed = report.table.protocols[0], report.table.printed_protocol
    how = "the first protocol, which is the paper's as printed"
    if first != printed:
        how = f'"{printed.label}", {_under_the_first(report, numbers)}'
    return (
        f"{cells}; of {len(numbers)} published numbers that are judged {n_as_printed(numbers)} "
        f"match under {how}, and {n_matching(numbers)} under some protocol. Over all protocols: "
        f"{parts}."
    )


def _under_the_first(report: Report, numbers: Sequence[JudgedNumber]) -> str:
    """Say how many match under the first protocol, where another one is the paper's as printed."""
    found, near = n_under_the_first(numbers)
    first = report.table.protocols[:1]
    chance = by_chance(matches(report, report.table.columns[0].metrics[0], first))
    return (
        f'{found} under "{report.table.protocols[0].label}" ({near} match or are close; with the '
        f"published numbers permuted over sets and methods {len(chance):,} times "
        f"{chance.mean():.1f} match on average and {chance.max()} at most)"
    )


def _mirror(report: Report) -> Iterator[Block]:
    """The published table, each of its lines followed by one line for each protocol.

    A column shows what the paper has of it, and its first metric even where the paper has nothing.
    """
    table = report.table
    if not table.published:
        return
    shown = [
        (column, METRICS[name])
        for column in table.columns
        for name in column.metrics
        if name == column.metrics[0]
        or any((row.name, column.name, name) in table.published for row in table.rows)
    ]
    headings = ["Data", "", *(f"{column.label} {metric.heading}" for column, metric in shown)]
    lines: list[list[Entry]] = []
    for row in table.rows:
        published = [_published(report, (row.name, c.name, m.name)) for c, m in shown]
        lines.append([Entry(row.label), Entry("published", "published"), *published])
        if not row.at_hand:
            nothing = [Entry("") for _ in shown]
            lines.append([Entry(""), Entry("data not at hand", "unfinished"), *nothing])
        for protocol in table.protocols:
            places = [(row.name, c.name, protocol.name, m.name) for c, m in shown]
            if any(place in report.numbers for place in places):
                measured = [_measured(report, place) for place in places]
                lines.append([Entry(""), Entry(protocol.label), *measured])
    yield Heading(2, "Beside the paper")
    yield Grid(headings, lines, n_label_columns=2)
    yield Paragraph(_legend(report))
    yield from time_note(report, (metric for _, metric in shown))
    if table.baseline is not None:
        yield Paragraph(_baseline_legend(report, table.baseline))


def _published(report: Report, place: tuple[str, str, str]) -> Entry:
    found = report.table.published.get(place)
    text = format_sample(METRICS[place[-1]], found)
    is_bold = found is not None and found.is_bold
    return Entry(
        text, "published", "bold" if is_bold else emphasis(report.published_standings.get(place))
    )


def _measured(report: Report, place: NumberPlace) -> Entry:
    return format_measured(report, place, report.standings.get(place))


def _legend(report: Report) -> str:
    fewer = any(has_fewer_splits(number) for number in report.numbers.values())
    bold = any(number.is_bold for number in report.table.published.values())
    return (
        "Mean ± standard deviation over the splits"
        + (", whose number follows in parentheses where the paper has more. " if fewer else ". ")
        + ("Bold, published: as the paper prints it. " if bold else "")
        + ", ".join(f"{mark} {verdict}" for verdict, (mark, _) in JUDGEMENTS.items())
        + ("." if report.is_part else "; the rules stand at the end.")
    )


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


def _ratios(report: Report) -> Iterator[Block]:
    table = report.table
    if not report.ratios:
        return
    headings = ["Data", "Ratio", "published", *(p.label for p in table.protocols)]
    labels = {row.name: row.label for row in table.rows}
    lines, limits = [], {}
    for found in report.ratios:
        values = [found.published, *(found.measured.get(p.name) for p in table.protocols)]
        lines.append(
            [
                Entry(labels[found.row]),
                Entry(found.ratio.label),
                *(Entry(NOTHING if value is None else f"{value:.2g} ×") for value in values),
            ]
        )
        for protocol in table.protocols:
            where = f"{labels[found.row]}, {found.ratio.label}, {protocol.label}"
            limits[where] = found.limits.get(protocol.name, "")
    yield Heading(2, "Ratios")
    yield Grid(headings, lines, n_label_columns=2)
    yield from limit_notes(limits)


def _changes(report: Report) -> Iterator[Block]:
    """Say what each protocol changes, where all are held against the first."""
    table = report.table
    if table.printed_protocol != table.protocols[0] or not (found := changes(report)):
        return
    lines = []
    for one in found:
        n_before, n_after = one.n_matching(one.before), one.n_matching(one.after)
        lines.append(
            [
                Entry(one.protocol.label),
                *map(Entry, map(str, (len(one.after), n_before, n_after))),
                *(Entry("; ".join(labels) or NOTHING) for labels in (one.gained, one.lost)),
                *(Entry(str(one.n_others_match + n)) for n in (n_before, n_after)),
            ]
        )
    n_all = len(found[0].after) + found[0].n_others
    headings = ["Protocol", "numbers", "match before", "after", "newly matched", "newly lost"]
    yield Heading(2, "What each protocol changes")
    yield Paragraph(
        f"Of the numbers that a protocol measures: how many match under "
        f'"{table.protocols[0].label}" on the same splits, how many under it, and which change. '
        f"Then of all {n_all}, with the others as they are above."
    )
    yield Grid([*headings, "all, before", "all, after"], lines, n_label_columns=1)
    yield Paragraph("The numbers that do not match as printed, with those under other protocols:")
    yield Grid(
        ["Number", "published", "as printed", "matches under", "and not under"],
        [_unmatched_line(report, one) for one in unmatched(report)],
        n_label_columns=1,
    )


def _unmatched_line(report: Report, one: Unmatched) -> list[Entry]:
    def told(numbers: Sequence[Number]) -> str:
        texts = [f"{n.slot.protocol.label} ({n.metric.format(present(n))})" for n in numbers]
        return ", ".join(texts) or NOTHING

    def present(number: Number) -> float:
        assert number.measured is not None  # it is judged
        return number.measured.mean

    number = one.as_printed
    return [
        Entry(label_of(number)),
        Entry(format_sample(number.metric, number.published), "published"),
        Entry(f"{measured_text(report, number)} {mark(number.verdict)}", tone(number.verdict)),
        Entry(told(one.matching)),
        Entry(told([other for other in one.others if other not in one.matching])),
    ]


def _every_number(report: Report) -> Iterator[Block]:
    table = report.table
    headings = ["Data", "Method", "Metric", "published", "measured", "difference", "verdict"]
    yield Heading(2, "Every number")
    for protocol in table.protocols:
        numbers = [
            number
            for row in table.rows
            for number in report.numbers.values()
            if number.slot.protocol == protocol and number.slot.row == row
        ]
        if numbers:
            yield Heading(3, protocol.label)
            lines = [_number_line(report, number) for number in numbers]
            yield Grid([*headings, "splits"], lines, n_label_columns=3)
            yield from time_note(report, (number.metric for number in numbers))


def _number_line(report: Report, number: Number) -> list[Entry]:
    verdict = number.status if number.verdict is None else str(number.verdict)
    return [
        Entry(number.slot.row.label),
        Entry(number.slot.column.label),
        Entry(number.metric.heading),
        Entry(format_sample(number.metric, number.published), "published"),
        Entry(f"{measured_text(report, number)} {repeat_mark(report, number)}".rstrip()),
        Entry(format_difference(number)),
        Entry(verdict, tone(number.verdict)),
        Entry(format_count(number)),
    ]


def _pictures(report: Report, figures: Mapping[str, Path]) -> Iterator[Block]:
    shown = [figure for figure in report.table.figures if figure.name in figures]
    if shown:
        yield Heading(2, "Figures" if len(shown) > 1 else "Figure")
    for figure in shown:
        yield Picture(figures[figure.name], figure.title)
        if (metric := getattr(figure, "metric", None)) is not None:
            yield from picture_note(report, METRICS[metric])
