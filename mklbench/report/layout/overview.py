"""The grids of a table that no paper prints: methods and data sets, one grid a metric."""

from __future__ import annotations

from collections.abc import Iterator

from mklbench.report.analysis.assemble import Report
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import format_measured
from mklbench.report.layout.timed_on import time_note
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Protocol, Row


def overview_blocks(report: Report) -> Iterator[Block]:
    """Yield a grid for each protocol and metric; of methods and sets the more stand at the side."""
    table = report.table
    yield Heading(2, "Measured")
    yield Paragraph(f"Mean ± standard deviation over {_n_splits(report)} splits.")
    for protocol in table.protocols:
        for name in table.metrics:
            columns = [column for column in table.columns if name in column.metrics]
            parts = [METRICS[name].heading]
            parts += [protocol.label] if len(table.protocols) > 1 else []
            yield Heading(3, ", ".join(parts))
            yield _grid(report, protocol, columns, name)
            yield from time_note(report, [METRICS[name]])


def _n_splits(report: Report) -> str:
    """Print the number of splits of the cells, or its range."""
    counts = [found.n_splits for _, found in report.slots.values()]
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _grid(report: Report, protocol: Protocol, columns: list[Column], metric: str) -> Grid:
    there = {
        (row, column)
        for row, column, by, name in report.numbers
        if (by, name) == (protocol.name, metric)
    }
    rows = [row for row in report.table.rows if any((row.name, c.name) in there for c in columns)]

    def entry(row: Row, column: Column) -> Entry:
        return format_measured(report, (row.name, column.name, protocol.name, metric))

    if len(columns) >= len(rows):
        lines = [[Entry(c.label), *(entry(row, c) for row in rows)] for c in columns]
        return Grid(["Method", *(row.label for row in rows)], lines)
    lines = [[Entry(row.label), *(entry(row, c) for c in columns)] for row in rows]
    return Grid(["Data", *(column.label for column in columns)], lines)
