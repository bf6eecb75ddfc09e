"""The figure of the weights of kernels: one panel a method, one bar a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.assemble import Place, Report, SlotRecords
from mklbench.report.figures.draw import COLOURS, INK, SOFT, Axes, Canvas, panels
from mklbench.report.table.paper_table import NOT_GIVEN, Figure


@dataclass(frozen=True, kw_only=True)
class Weights(Figure):
    """The weights of `columns` on `row` under `protocol`."""

    kind: str = "weights"
    row: str = NOT_GIVEN
    protocol: str = NOT_GIVEN
    columns: tuple[str, ...] = ()

    def needs(self, report: Report) -> set[Place]:
        """Return the places of its columns."""
        return {(self.row, column, self.protocol) for column in self.columns}

    def draw(self, report: Report) -> Canvas:
        """Bars of the mean weights over the features, one panel a method, one scale for all."""
        columns = [column for column in report.table.columns if column.name in self.columns]
        canvas, axes = panels(7.2, 2.0 * len(columns) + 0.5, len(columns), sharex=True, sharey=True)
        for axis, column, colour in zip(axes[:, 0], columns, COLOURS, strict=False):
            place = (self.row, column.name, self.protocol)
            _weights_panel(axis, normalised_weights(report.slots[place][1]), column.label, colour)
        axes[0, 0].set_ylim(bottom=0)  # shared, and only now: it would stop the scale from growing
        axes[-1, 0].set_xlabel("feature")
        canvas.supylabel("kernel weight, normalised to sum 1", fontsize=9)
        return canvas


def normalised_weights(found: SlotRecords) -> NDArray[np.float64]:
    """Return the weights of every finished split, each normalised to sum 1; (n_splits, M).

    Splits whose weights are all 0 have no normalised weights and are left out.
    """
    weights = np.array([record.weights for record in found.done], dtype=np.float64)
    totals = weights.sum(axis=1)
    return weights[totals > 0] / totals[totals > 0, None]


def _weights_panel(axis: Axes, weights: NDArray[np.float64], label: str, colour: str) -> None:
    n_kernels = weights.shape[1]
    features = np.arange(1, n_kernels + 1)
    low, high = np.quantile(weights, (0.25, 0.75), axis=0)
    axis.bar(features, weights.mean(axis=0), width=0.78, color=colour)
    axis.vlines(features, low, high, color=INK, linewidth=0.9)
    axis.axhline(1 / n_kernels, color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)))
    axis.annotate(
        "uniform", (1, 1 / n_kernels), xycoords=("axes fraction", "data"), xytext=(2, 0),
        textcoords="offset points", va="center", fontsize=7, color=SOFT,
    )  # fmt: skip
    axis.set_title(label, loc="left")
    axis.set_xlim(0.2, n_kernels + 0.8)
    axis.set_xticks([1, *range(10, n_kernels + 1, 10)])
