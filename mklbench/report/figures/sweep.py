"""Figures along the sweep of a table: how a metric grows, and accuracy beside the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.analysis.growth import Curve, curve, sweep_of
from mklbench.report.figures.draw import (
    BLUE,
    COLOURS,
    INK,
    MARKERS,
    ORANGE,
    SOFT,
    Axes,
    Canvas,
    legend_outside,
    panels,
)
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import NOT_GIVEN, Column, Figure, Row, Sweep

Array = NDArray[np.float64]

PANELS_A_LINE = 2
MOST_LETTERS_A_LINE = 60  # of a legend


@dataclass(frozen=True, kw_only=True)
class GrowthCurves(Figure):
    """`metric` along the sweep, one panel a row with a line for each of `columns`."""

    kind: str = "growth"
    needs_sweep: ClassVar[bool] = True
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
        metric, sweep = METRICS[self.metric], sweep_of(report)
        along = sweep.label if sweep.axis is None else METRICS[sweep.axis].label
        for axis in axes[max(0, len(rows) - PANELS_A_LINE) : len(rows)]:
            axis.set_xlabel(along)
        unit = f" ({metric.unit})" if metric.unit else ""
        for axis in axes[::PANELS_A_LINE]:
            axis.set_ylabel(f"{metric.label}{unit}")
        labels = axes[0].get_legend_handles_labels()[1]
        fits = sum(map(len, labels)) <= MOST_LETTERS_A_LINE
        legend_outside(canvas, axes[0], len(labels) if fits else -(-len(labels) // 2), "upper")
        return canvas


def growth_curves(report: Report, figure: GrowthCurves, row: Row) -> dict[str, Curve]:
    """Return the curve of each column of `figure` on one row, by its label."""
    return {
        column.label: curve(report, row, column.name, figure.metric)
        for column in report.table.columns
        if column.name in figure.columns
    }


def _means_and_spreads(line: Curve) -> Array:
    return np.array([(sample.mean, sample.std or 0.0) for sample in line.samples]).reshape(-1, 2).T


def _panel(axis: Axes, curves: dict[str, Curve]) -> None:
    for (label, line), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
        means, spreads = _means_and_spreads(line)
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
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("{x:g}")
    ticks = sorted({round(size) for line in curves.values() for size in line.sizes})
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axis.grid(axis="y", color=INK, linewidth=0.3, alpha=0.15)


@dataclass(frozen=True, kw_only=True)
class Path(Figure):
    """The sweep, a curve for each column.

    Where `marks` names a column whose search chooses the option that is swept, it has no curve, and
    what it chose is marked.
    """

    kind: str = "path"
    needs_sweep: ClassVar[bool] = True
    marks: str | None = None

    def needs(self, report: Report) -> set[Place]:
        """Return every place of the table."""
        return set(report.slots)

    def draw(self, report: Report) -> Canvas:
        """Accuracy above and objective per sample below, against the option that is swept."""
        rows, sweep = report.table.rows, sweep_of(report)
        columns = [column for column in report.table.columns if column.name != self.marks]
        canvas, axes = panels(2.6 * len(rows), 4.4, 2, len(rows), sharex=True, sharey="row")
        for row, (upper, lower) in zip(rows, axes.T, strict=True):
            for number, column in enumerate(columns):
                above, below = (BLUE, ORANGE) if len(columns) == 1 else (COLOURS[number],) * 2
                _curve(upper, report, row, column, "accuracy", above)
                _curve(lower, report, row, column, "objective", below)
            _scale(lower, sweep)
            if sweep.option == "algo.C":
                for axis in (upper, lower):
                    axis.axvline(1.0, color=SOFT, linewidth=0.8, zorder=0)
                if row.larger_class is not None:
                    _mark_identity(lower, row.larger_class, sweep)
            else:
                lower.set_yscale("log")
            if row.larger_class is not None:
                _mark_larger_class(upper, row.larger_class)
            if self.marks is not None:
                _mark_chosen(upper, report, row, self.marks, sweep)
            upper.set_title(row.label, loc="left")
            lower.set_xlabel(sweep.label)
        axes[0, 0].set_ylabel("accuracy (%)")
        axes[1, 0].set_ylabel("objective / n")
        if len(columns) > 1:
            legend_outside(canvas, axes[0, 0], len(columns))
        return canvas


def _curve(axis: Axes, report: Report, row: Row, column: Column, metric: str, colour: str) -> None:
    """Mean and one standard deviation of a metric along the sweep."""
    line = curve(report, row, column.name, metric)
    means, spreads = _means_and_spreads(line)
    axis.fill_between(line.sizes, means - spreads, means + spreads, color=colour, alpha=0.12, lw=0)
    axis.plot(line.sizes, means, color=colour, marker="o", markersize=3, lw=1.4, label=column.label)


def _scale(axis: Axes, sweep: Sweep) -> None:
    """Make the shared axis of the sweep logarithmic, from 1 on where there is a 0."""
    if min(sweep.values) > 0:
        axis.set_xscale("log")
    else:
        axis.set_xscale("symlog", linthresh=1.0)
        ticks: list[float] = []
        for value in sorted(sweep.values):  # those whose labels have room
            if not ticks or value >= max(1.0, 2.0 * ticks[-1]):
                ticks.append(value)
        axis.set_xticks(ticks, [f"{value:g}" for value in ticks])
    axis.minorticks_off()


def _mark_larger_class(axis: Axes, share: float) -> None:
    axis.axhline(100 * share, color=INK, linewidth=1, linestyle=(0, (1, 2)))
    axis.annotate("larger class", (0.99, 100 * share), fontsize=7, color=INK,
                  xycoords=("axes fraction", "data"), xytext=(0, -3), ha="right", va="top",
                  textcoords="offset points")  # fmt: skip


def _mark_identity(axis: Axes, share: float, sweep: Sweep) -> None:
    """Draw the objective of the identity kernel against C."""
    from mklbench.optim.svm_value import value_at_identity

    grid = np.geomspace(min(sweep.values), max(sweep.values), 200)
    identity = [value_at_identity((share, float(C)), (1 - share, float(C))) for C in grid]
    axis.plot(grid, identity, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    beside = int(np.searchsorted(identity, 0.75 * identity[-1]))  # on the rise, left of the curve
    axis.annotate("K = I", (grid[beside], identity[beside]), fontsize=7, color=INK,
                  xytext=(-4, 0), ha="right", textcoords="offset points")  # fmt: skip


def _mark_chosen(axis: Axes, report: Report, row: Row, column: str, sweep: Sweep) -> None:
    """Mark the values that a search chose, one split a unit of area, below the curves."""
    chosen = [
        float((record.params or {})[sweep.option])
        for place, (_, found) in report.slots.items()
        if place[:2] == (row.name, column) and found.status == DONE
        for record in found.done
    ]
    values, counts = np.unique(chosen, return_counts=True)
    axis.scatter(
        values, np.full(len(values), 0.05), s=8.0 * counts, color=INK, alpha=0.6, lw=0,
        transform=axis.get_xaxis_transform(), clip_on=False, zorder=3,
    )  # fmt: skip
