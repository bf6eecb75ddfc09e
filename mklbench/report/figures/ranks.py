"""The critical-difference diagram of the mean ranks of methods (Demšar 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklbench.errors import MissingExtraError
from mklbench.extras import missing
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.analysis.significance import LEVEL
from mklbench.report.figures.style import BLUE, INK, Canvas, panels
from mklbench.report.layout.ranking import rank_methods
from mklbench.report.table.paper_table import Figure


@dataclass(frozen=True, kw_only=True)
class Ranks(Figure):
    """The methods, as the table's ranking has them."""

    kind: str = "ranks"
    requires: ClassVar[str | None] = "ranking"

    def needs(self, report: Report) -> set[Place]:
        """Return every place while too few rows are complete to be ranked."""
        ranked = rank_methods(report, report.table.ranking)
        return set(report.slots) if ranked is None else set()

    def draw(self, report: Report) -> Canvas:
        """Draw the mean ranks on a line; bars join what Nemenyi's test does not tell apart.

        Raises
        ------
        ValueError
            If the table has no ranking or too few runs are done, which is refused before.
        MissingExtraError
            If the package that draws it is not installed.
        """
        asked = missing("ranks", f"figure {self.name}")
        if asked:
            raise MissingExtraError(asked)
        from scikit_posthocs import critical_difference_diagram, posthoc_nemenyi_friedman

        found = rank_methods(report, report.table.ranking)
        if found is None:
            raise ValueError(f"figure {self.name} needs ranks")
        labels = [column.label for column in found.columns]
        p_values = posthoc_nemenyi_friedman(found.ranks)
        p_values.index = p_values.columns = labels
        canvas, [[axis]] = panels(7.2, 0.2 * len(labels) + 1.2)
        drawn = critical_difference_diagram(
            dict(zip(labels, found.mean_ranks, strict=True)),
            p_values,
            alpha=LEVEL,
            ax=axis,
            label_fmt_left="{label} ({rank:.1f})",
            label_fmt_right="({rank:.1f}) {label}",
            label_props={"fontsize": 8},
            marker_props={"s": 14, "color": BLUE},
            elbow_props={"linewidth": 0.8, "color": INK},
            crossbar_props={"linewidth": 2.2, "color": BLUE},
        )
        for (bar,) in drawn["crossbars"]:  # its points come in the order of a set
            bar.set_xdata(sorted(bar.get_xdata()))
        axis.set_title(
            f"mean rank over {len(found.rows)} sets; critical difference "
            f"{found.critical_difference:.1f}",
            fontsize=9,
        )
        return canvas
