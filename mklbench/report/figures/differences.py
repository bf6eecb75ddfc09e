"""The figure of a metric's difference between two columns, on every row of a table."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import Place, Report, measured_difference
from mklbench.report.analysis.baseline import N_STANDARD_ERRORS, Difference, published_difference
from mklbench.report.figures.style import BLUE, INK, ORANGE, SOFT, Axes, Canvas, panels
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import NOT_GIVEN, Figure, PaperTable, Row

ROW_HEIGHT = 0.27  # inches
OFFSET = 0.13  # of the two marks of a row from its middle, in rows


@dataclass(frozen=True)
class DifferenceRow:
    """The two differences of one row; None where a side is not done or not published."""

    label: str
    measured: Difference | None
    published: Difference | None


@dataclass(frozen=True, kw_only=True)
class Differences(Figure):
    """The first of two `columns` minus the second, in `metric` under `protocol`, on every row."""

    kind: str = "difference"
    metric: str = NOT_GIVEN
    protocol: str = NOT_GIVEN
    columns: tuple[str, ...] = ()

    def check(self, table: PaperTable, where: str) -> None:
        """Raise InputError for what the figure needs and the table does not have."""
        super().check(table, where)
        if len(self.columns) != 2:
            raise InputError(
                f"{where}: columns={list(self.columns)} of figure {self.name} must be two: "
                "the second is subtracted from the first."
            )

    def needs(self, report: Report) -> set[Place]:
        """Return the places of both columns while there is no difference at all."""
        rows = report.table.rows
        if any(difference_row(report, self, row).measured is not None for row in rows):
            return set()
        return {(row.name, column, self.protocol) for row in rows for column in self.columns}

    def draw(self, report: Report) -> Canvas:
        """Draw one line a row, in their order: filled is measured, hollow is published."""
        rows = [difference_row(report, self, row) for row in report.table.rows]
        canvas, [[axis]] = panels(7.2, ROW_HEIGHT * len(rows) + 1.0)
        for position, row in enumerate(rows):
            if row.measured is not None:
                _measured_mark(axis, position - OFFSET, row.measured)
            if row.published is not None:
                _published_mark(axis, position + OFFSET, row.published)
        axis.axvline(0.0, color=INK, linewidth=0.9, zorder=0)
        axis.set_yticks(range(len(rows)), [row.label for row in rows])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", color=SOFT, linewidth=0.4, alpha=0.4)
        axis.set_axisbelow(True)
        axis.set_xlabel(_axis_label(report, self))
        handles, labels = axis.get_legend_handles_labels()
        shown = dict(sorted(zip(labels, handles, strict=True), key=lambda item: item[0]))
        axis.legend(shown.values(), shown.keys(), frameon=True, framealpha=1.0, edgecolor="none")
        return canvas


def difference_row(report: Report, figure: Differences, row: Row) -> DifferenceRow:
    """Return the first column minus the second of `figure`, measured and published, on one row."""
    table, metric = report.table, METRICS[figure.metric]
    first, second = ((row.name, column, figure.protocol) for column in figure.columns)
    minuend, subtrahend = (
        table.published.get((row.name, column, metric.name)) for column in figure.columns
    )
    return DifferenceRow(
        label=row.label,
        measured=measured_difference(report.slots, first, second, metric),
        published=published_difference(minuend, subtrahend, table.published_n_splits_of(row)),
    )


def _measured_mark(axis: Axes, position: float, difference: Difference) -> None:
    reach = N_STANDARD_ERRORS * (difference.standard_error or 0.0)
    axis.errorbar(
        difference.value,
        position,
        xerr=reach,
        fmt="o",
        color=BLUE,
        markersize=4.5,
        label="measured",
    )


def _published_mark(axis: Axes, position: float, difference: Difference) -> None:
    axis.plot(
        difference.value, position, "D", color=ORANGE, markerfacecolor="white", markersize=4.5,
        label="published",
    )  # fmt: skip


def _axis_label(report: Report, figure: Differences) -> str:
    labels = {column.name: column.label for column in report.table.columns}
    first, second = (labels[column] for column in figure.columns)
    metric = METRICS[figure.metric]
    return f"{metric.label} of {first} minus that of {second} ({metric.difference_unit})"
