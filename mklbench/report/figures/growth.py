"""The figure of a metric along a sweep: one panel a data set, one line a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.figures.style import COLOURS, INK, Axes, Canvas, legend_outside, panels
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import NOT_GIVEN, Figure, Row, Sweep

MARKERS = "osD^vP"
PANELS_A_LINE = 2
MOST_LETTERS_A_LINE = 60  # of a legend


@dataclass(frozen=True, kw_only=True)
class Growth(Figure):
    """`metric` along the sweep, one panel a row with a line for each of `columns`."""

    kind: str = "growth"
    requires: ClassVar[str | None] = "sweep"
    metric: str = NOT_GIVEN
    columns: tuple[str, ...] = ()

    def needs(self, report: Report) -> set[Place]:
        """Return the places of all points while there is none at all."""
        rows, protocols = report.table.rows, report.table.protocols
        if any(line.sizes for row in rows for line in growth_curves(report, self, row).values()):
            return set()
        return {(r.name, c, p.name) for r in rows for c in self.columns for p in protocols}

    def draw(self, report: Report) -> Canvas:
        """Draw means with one standard deviation over the splits, on logarithmic axes."""
        rows = report.table.rows
        n_lines = -(-len(rows) // PANELS_A_LINE)
        canvas, grid = panels(7.2, 2.7 * n_lines + 0.4, n_lines, min(len(rows), PANELS_A_LINE))
        axes = grid.ravel()
        for axis, row in zip(axes, rows, strict=False):
            _panel(axis, growth_curves(report, self, row))
            axis.set_title(row.label, loc="left")
        for axis in axes[len(rows) :]:
            axis.set_visible(False)
        metric, sweep = METRICS[self.metric], report.table.sweep
        for axis in axes[max(0, len(rows) - PANELS_A_LINE) : len(rows)]:
            axis.set_xlabel(_axis_label(sweep))
        unit = f" ({metric.unit})" if metric.unit else ""
        for axis in axes[::PANELS_A_LINE]:
            axis.set_ylabel(f"{metric.label}{unit}")
        labels = axes[0].get_legend_handles_labels()[1]
        fits = sum(map(len, labels)) <= MOST_LETTERS_A_LINE
        legend_outside(canvas, axes[0], len(labels) if fits else -(-len(labels) // 2), "upper")
        return canvas


def _plain(value: float, position: float) -> str:
    """Print a tick without a power of ten."""
    return f"{value:g}"


def growth_curves(report: Report, figure: Growth, row: Row) -> dict[str, Curve]:
    """Return the curve of each column of `figure` on one row, by label, those without points too.

    Raises
    ------
    ValueError
        If the table has no sweep, which is refused when the table is read.
    """
    if report.table.sweep is None:
        raise ValueError(f"figure {figure.name} needs a sweep")
    return {
        column.label: curve(report, report.table.sweep, row, column.name, figure.metric)
        for column in report.table.columns
        if column.name in figure.columns
    }


def _axis_label(sweep: Sweep | None) -> str:
    if sweep is None or sweep.axis is None:
        return "" if sweep is None else sweep.label
    return METRICS[sweep.axis].label


def _panel(axis: Axes, curves: dict[str, Curve]) -> None:
    for (label, line), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
        means = np.array([sample.mean for sample in line.samples])
        spreads = np.array([sample.std or 0.0 for sample in line.samples])
        # On a logarithmic axis a bar to 0 or below has no end: it stops at a tenth of the mean.
        below = np.minimum(spreads, 0.9 * means)
        axis.errorbar(
            line.sizes, means, yerr=[below, spreads], color=colour, marker=marker, markersize=4,
            linewidth=1.3, elinewidth=0.9, capsize=2, label=label,
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    if high < 10 * low:  # powers of ten would be no ticks
        axis.yaxis.set_major_formatter(_plain)
        axis.yaxis.set_minor_formatter(_plain)
    ticks = sorted({round(size) for line in curves.values() for size in line.sizes})
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axis.grid(axis="y", color=INK, linewidth=0.3, alpha=0.15)
