"""The figure of what methods gain beside the time that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.figures.style import BLUE, ORANGE, SOFT, Canvas, panels
from mklbench.report.layout.evidence import Cost, costs_of
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Figure, PaperTable


@dataclass(frozen=True, kw_only=True)
class Costs(Figure):
    """Time of each method and mean gain over the first reference of the ranking, a line each."""

    kind: str = "costs"
    requires: ClassVar[str | None] = "ranking"

    def check(self, table: PaperTable, where: str) -> None:
        """Raise InputError for what the figure needs and the table does not have."""
        super().check(table, where)
        if table.ranking is None or not table.ranking.references:
            raise InputError(f"{where}: figure {self.name} of kind costs needs a reference.")

    def needs(self, report: Report) -> set[Place]:
        """Return every place while fewer than two methods share a set with the reference."""
        return set(report.slots) if len(_costs(report)) < 2 else set()

    def draw(self, report: Report) -> Canvas:
        """Draw the methods, the cheapest on top: on the left their times, on the right gains."""
        ranking = report.table.ranking
        assert ranking is not None
        costs = _costs(report)
        colours = [BLUE if cost.column.name in ranking.learners else ORANGE for cost in costs]
        lines = range(len(costs))
        canvas, [[times, gains]] = panels(7.2, 0.22 * len(costs) + 1.0, 1, 2, sharey=True)
        times.scatter([cost.ratio for cost in costs], lines, color=colours, s=20)
        gains.scatter([cost.gain for cost in costs], lines, color=colours, s=20)
        times.set_xscale("log")
        times.xaxis.set_major_formatter("{x:g}")
        times.set_yticks(lines, [cost.column.label for cost in costs])
        times.invert_yaxis()
        gains.axvline(0.0, color=SOFT, linewidth=0.8, zorder=0)
        for axis in (times, gains):
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="y", color=SOFT, linewidth=0.4, alpha=0.4)
            axis.set_axisbelow(True)
        label = report.table.label_of(ranking.references[0])
        unit = METRICS[ranking.metric].difference_unit
        times.set_xlabel(f"time of selection and training, times\n{label} (median over the sets)")
        gains.set_xlabel(f"mean gain over it ({unit})")
        return canvas


def _costs(report: Report) -> list[Cost]:
    ranking = report.table.ranking
    assert ranking is not None
    return costs_of(report, ranking, ranking.references[0])
