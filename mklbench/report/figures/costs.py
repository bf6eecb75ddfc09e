"""The figure of what methods gain against the time that they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from mklbench.errors import InputError
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.figures.style import BLUE, INK, ORANGE, SOFT
from mklbench.report.layout.evidence import Cost, costs_of
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Figure, PaperTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LETTER = 4.1  # its mean width, in points
# Where a name may stand, in points from its mark, and whether it ends there.
SIDES = (
    (5.0, 0.0, False), (-5.0, 0.0, True), (5.0, 7.0, False), (5.0, -7.0, False),
    (-5.0, 7.0, True), (-5.0, -7.0, True), (0.0, 11.0, False), (0.0, -11.0, False),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Costs(Figure):
    """Mean gain over the first reference of the ranking against time, one mark a method."""

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
        """Draw the methods, each with its name."""
        from matplotlib.figure import Figure as Canvas

        ranking = report.table.ranking
        assert ranking is not None
        costs = _costs(report)
        canvas = Canvas(figsize=(7.2, 4.4), layout="constrained")
        axis = canvas.subplots()
        axis.axhline(0.0, color=SOFT, linewidth=0.8, zorder=0)
        for cost in costs:
            learns = cost.column.name in ranking.learners
            axis.plot(cost.ratio, cost.gain, "o", color=BLUE if learns else ORANGE, markersize=4.5)
        axis.set_xscale("log")
        axis.set_xlim(right=3.0 * max(cost.ratio for cost in costs))  # room for the last names
        axis.xaxis.set_major_formatter("{x:g}")
        label = report.table.label_of(ranking.references[0])
        metric = METRICS[ranking.metric]
        axis.set_xlabel(f"time of selection and training, times {label} (median over the sets)")
        axis.set_ylabel(f"mean gain ({metric.difference_unit})")
        canvas.draw_without_rendering()  # now the marks have their places
        _name(axis, costs)
        return canvas


def _name(axis: Axes, costs: Sequence[Cost]) -> None:
    """Write the name of each method inside, on the first side of its mark where nothing is yet."""
    points = 72.0 / axis.figure.dpi
    marks = [points * axis.transData.transform((cost.ratio, cost.gain)) for cost in costs]
    taken = [_Box(x - 3.0, x + 3.0, y - 3.0, y + 3.0) for x, y in marks]
    left, right = points * axis.bbox.x0, points * axis.bbox.x1
    for cost, (x, y) in zip(costs, marks, strict=True):
        boxes = [_box(x, y, side, cost.column.label) for side in SIDES]
        free = [
            left <= box.left
            and box.right <= right
            and not any(box.overlaps(other) for other in taken)
            for box in boxes
        ]
        chosen = free.index(True) if any(free) else 0
        taken.append(boxes[chosen])
        dx, dy, ends_there = SIDES[chosen]
        axis.annotate(
            cost.column.label,
            (cost.ratio, cost.gain),
            xytext=(dx, dy),
            textcoords="offset points",
            fontsize=7.5,
            color=INK,
            va="center",
            ha="right" if ends_there else "left",
            in_layout=False,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )


class _Box(NamedTuple):
    """A rectangle, in points."""

    left: float
    right: float
    bottom: float
    top: float

    def overlaps(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def _box(x: float, y: float, side: tuple[float, float, bool], name: str) -> _Box:
    """Return the room that a name takes on one side of a mark."""
    dx, dy, ends_there = side
    width = LETTER * len(name)
    left = x + dx - (width if ends_there else 0.0)
    return _Box(left, left + width, y + dy - 4.0, y + dy + 4.0)


def _costs(report: Report) -> list[Cost]:
    ranking = report.table.ranking
    assert ranking is not None
    return costs_of(report, ranking, ranking.references[0])
