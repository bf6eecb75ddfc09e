"""The document part of a table whose protocols are the values of one option."""

from __future__ import annotations

from collections.abc import Iterator

from mklbench.optim.svm_value import value_at_identity
from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.growth import curve, size_at
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import NOTHING, format_measured
from mklbench.report.layout.timed_on import limit_notes, time_note
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Row, Sweep


def sweep_blocks(report: Report) -> Iterator[Block]:
    """Yield one grid for each metric.

    The option stands down the side and the data sets across; where several methods are compared,
    both stand down the side and the methods across.
    """
    sweep = report.table.sweep
    if sweep is None:
        return
    if len(report.table.columns) > 1:
        yield from _comparison(report, sweep)
        return
    for column in report.table.columns:
        for name in column.metrics:
            yield Heading(2, f"{column.label}: {METRICS[name].heading}")
            yield _grid(report, sweep, column.name, name)
            yield from time_note(report, [METRICS[name]])
            if name == "objective":
                yield Paragraph(
                    "K = I is the objective of the SVM when the kernel matrix is the identity, "
                    "that is, when nothing has been learned: a measured value near it means that "
                    "the kernel has degenerated."
                )


def _grid(report: Report, sweep: Sweep, column: str, metric: str) -> Grid:
    table = report.table
    headings = [sweep.label]
    for row in table.rows:
        headings.append(row.label)
        if _has_reference(row, metric):
            headings.append("K = I")
    lines = []
    for value, protocol in zip(sweep.values, table.protocols, strict=True):
        line = [Entry(f"{value:g}")]
        for row in table.rows:
            line.append(format_measured(report, (row.name, column, protocol.name, metric)))
            if _has_reference(row, metric) and row.larger_class is not None:
                reference = value_at_identity(
                    (row.larger_class, value), (1 - row.larger_class, value)
                )
                line.append(Entry(METRICS[metric].format(reference), "published"))
        lines.append(line)
    return Grid(headings, lines, n_label_columns=0)


def _comparison(report: Report, sweep: Sweep) -> Iterator[Block]:
    table = report.table
    for metric in table.metrics:
        columns = [column for column in table.columns if metric in column.metrics]
        headings = ["Data", sweep.label if sweep.axis is None else METRICS[sweep.axis].label]
        headings += [column.label for column in columns]
        lines = []
        for row in table.rows:
            for position, protocol in enumerate(table.protocols):
                places = [(row.name, c.name, protocol.name, metric) for c in columns]
                size = size_at(report, sweep, row, position)
                line = [Entry(row.label), Entry(NOTHING if size is None else f"{size:g}")]
                line += [format_measured(report, place) for place in places]
                lines.append(line)
        yield Heading(2, METRICS[metric].heading)
        yield Grid(headings, lines)
        yield from time_note(report, [METRICS[metric]])
    yield from _exponents(report, sweep)


def _exponents(report: Report, sweep: Sweep) -> Iterator[Block]:
    """Yield the power laws, in the metrics that the table has claims on."""
    table = report.table
    lines, limits = [], {}
    for metric in dict.fromkeys(claim.metric for claim in table.claims):
        label = METRICS[metric].label
        for row in table.rows:
            curves = [curve(report, sweep, row, c.name, metric) for c in table.columns]
            laws = [one.exponent for one in curves]
            numbers = [Entry(NOTHING if p is None else f"{p:.2f}") for p in laws]
            lines.append([Entry(label), Entry(row.label), *numbers])
            for column, one in zip(table.columns, curves, strict=True):
                limits[f"{label}, {row.label}, {column.label}"] = one.limit
    if lines:
        yield Heading(2, "Growth")
        yield Paragraph(
            "Exponents p of mean = c size^p, fitted by least squares on the logarithms: 0 is no "
            "growth at all, 1 growth in proportion."
        )
        headings = ["Metric", "Data", *(column.label for column in table.columns)]
        yield Grid(headings, lines, n_label_columns=2)
        yield from limit_notes(limits)


def _has_reference(row: Row, metric: str) -> bool:
    return metric == "objective" and row.larger_class is not None
