"""The document part of a table whose protocols are the values of one option."""

from __future__ import annotations

from collections.abc import Iterator

from mklbench.report.assemble import Report
from mklbench.report.document import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.entries import format_measured
from mklbench.report.identity_kernel import objective_at_identity
from mklbench.report.metrics import METRICS
from mklbench.report.paper_table import Row, Sweep


def sweep_blocks(report: Report) -> Iterator[Block]:
    """Yield one grid for each metric: the option down the side, the data sets across."""
    sweep = report.table.sweep
    if sweep is None:
        return
    for column in report.table.columns:
        for name in column.metrics:
            yield Heading(2, f"{column.label}: {METRICS[name].heading}")
            yield _grid(report, sweep, column.name, name)
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
            number = report.numbers.get((row.name, column, protocol.name, metric))
            line.append(Entry("") if number is None else format_measured(number))
            if _has_reference(row, metric) and row.larger_class is not None:
                reference = objective_at_identity(row.larger_class, value)
                line.append(Entry(METRICS[metric].format(reference), "published"))
        lines.append(line)
    return Grid(headings, lines, n_label_columns=0)


def _has_reference(row: Row, metric: str) -> bool:
    return metric == "objective" and row.larger_class is not None
