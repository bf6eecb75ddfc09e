"""Accuracy and objective along the sweep of a table: one column a data set, one curve a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklbench.errors import InputError
from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.figures.style import BLUE, COLOURS, INK, ORANGE, SOFT, Axes, Canvas, panels
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Figure, Row, Sweep
from mklbench.report.table.verdict import Sample


@dataclass(frozen=True, kw_only=True)
class Path(Figure):
    """The sweep, a curve for each of `columns`, or all.

    Where `marks` names a column whose search chooses the option that is swept, what it chose is
    marked.
    """

    kind: str = "path"
    requires: ClassVar[str | None] = "sweep"
    columns: tuple[str, ...] = ()
    marks: str | None = None

    def needs(self, report: Report) -> set[Place]:
        """Return every place of the table."""
        return set(report.slots)

    def draw(self, report: Report) -> Canvas:
        """Accuracy above and objective per sample below, against the option that is swept."""
        sweep = report.table.sweep
        if sweep is None:
            raise InputError(f"Figure {self.name} of kind path needs a table with a sweep.")
        rows, columns = report.table.rows, curves_of(report, self)
        canvas, axes = panels(2.6 * len(rows), 4.4, 2, len(rows), sharex=True, sharey="row")
        for row, (upper, lower) in zip(rows, axes.T, strict=True):
            for number, column in enumerate(columns):
                above, below = (BLUE, ORANGE) if len(columns) == 1 else (COLOURS[number],) * 2
                _curve(upper, report, row, column, sweep, "accuracy", above)
                _curve(lower, report, row, column, sweep, "objective", below)
            _scale(lower, sweep)
            if sweep.option == "algo.C":
                _mark_one(upper, lower)
                _mark_identity(lower, row, sweep)
            else:
                lower.set_yscale("log")
            _mark_larger_class(upper, row)
            if self.marks is not None:
                _mark_chosen(upper, report, row, self.marks, sweep)
            upper.set_title(row.label, loc="left")
            lower.set_xlabel(sweep.label)
        axes[0, 0].set_ylabel("accuracy (%)")
        axes[1, 0].set_ylabel("objective / n")
        if len(columns) > 1:
            canvas.legend(
                *axes[0, 0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=len(columns),
                fontsize=8,
            )
        return canvas


def curves_of(report: Report, figure: Path) -> list[Column]:
    """Return the columns that are drawn as curves: those named, or all but the one of the marks."""
    return [
        column
        for column in report.table.columns
        if (column.name in figure.columns if figure.columns else column.name != figure.marks)
    ]


def _curve(
    axis: Axes, report: Report, row: Row, column: Column, sweep: Sweep, metric: str, colour: str
) -> None:
    """Mean and one standard deviation of a metric along the sweep."""
    samples = [
        Sample.of(report.slots[row.name, column.name, protocol.name][1].values(METRICS[metric]))
        for protocol in report.table.protocols
    ]
    means = np.array([np.nan if s is None else s.mean for s in samples])
    spreads = np.array([np.nan if s is None or s.std is None else s.std for s in samples])
    axis.fill_between(
        sweep.values, means - spreads, means + spreads, color=colour, alpha=0.12, lw=0
    )
    axis.plot(
        sweep.values, means, color=colour, marker="o", markersize=3, lw=1.4, label=column.label
    )


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


def _mark_one(*axes: Axes) -> None:
    """Mark C = 1."""
    for axis in axes:
        axis.axvline(1.0, color=SOFT, linewidth=0.8, zorder=0)


def _mark_larger_class(axis: Axes, row: Row) -> None:
    if row.larger_class is None:
        return
    axis.axhline(100 * row.larger_class, color=INK, linewidth=1, linestyle=(0, (1, 2)))
    axis.annotate("larger class", (0.99, 100 * row.larger_class), fontsize=7, color=INK,
                  xycoords=("axes fraction", "data"), xytext=(0, -3), ha="right", va="top",
                  textcoords="offset points")  # fmt: skip


def _mark_identity(axis: Axes, row: Row, sweep: Sweep) -> None:
    """Draw the objective of the identity kernel against C."""
    if row.larger_class is None:
        return
    from mklbench.optim.svm_value import value_at_identity

    grid = np.geomspace(min(sweep.values), max(sweep.values), 200)
    shares = row.larger_class, 1 - row.larger_class
    identity = [value_at_identity(*((share, float(C)) for share in shares)) for C in grid]
    axis.plot(grid, identity, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    beside = int(np.searchsorted(identity, 0.75 * identity[-1]))  # on the rise, left of the curve
    axis.annotate("K = I", (grid[beside], identity[beside]), fontsize=7, color=INK,
                  xytext=(-4, 0), ha="right", textcoords="offset points")  # fmt: skip


def _mark_chosen(axis: Axes, report: Report, row: Row, column: str, sweep: Sweep) -> None:
    """Mark the values that a search chose, one split a unit of area, below the curves."""
    chosen = _chosen(report, row, column, sweep)
    values, counts = np.unique(chosen, return_counts=True)
    axis.scatter(
        values, np.full(len(values), 0.05), s=8.0 * counts, color=INK, alpha=0.6, lw=0,
        transform=axis.get_xaxis_transform(), clip_on=False, zorder=3,
    )  # fmt: skip


def _chosen(report: Report, row: Row, column: str, sweep: Sweep) -> Sequence[float]:
    places = (place for place in report.slots if place[:2] == (row.name, column))
    found = (report.slots[place][1] for place in places)
    return [
        float((record.params or {})[sweep.option])
        for records in found
        if records.status == DONE
        for record in records.done
    ]
