"""The figure of how many published numbers match at each setting of a grid, and by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.agreement import by_chance, matches
from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.figures.draw import COLOURS, INK, MARKERS, Axes, Canvas, legend_outside, panels
from mklbench.report.table.paper_table import NOT_GIVEN, Figure, Protocol

# The best of all settings reaches so many in one of twenty permutations.
_SHARE = 0.95


@dataclass(frozen=True, kw_only=True)
class Matches(Figure):
    """How many numbers in `metric` match, of the settings whose grid has just these options.

    One panel a value of the option `panels`, one line a value of `lines`, along the values of `x`,
    on a logarithmic axis. `labels` says what an option, or `option=value`, is called. Only
    `columns` count, where they are given.
    """

    kind: str = "matches"
    metric: str = "accuracy"
    x: str = NOT_GIVEN
    lines: str = NOT_GIVEN
    panels: str | None = None
    columns: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def needs(self, report: Report) -> set[Place]:
        """Return the places of the settings that count."""
        names = {protocol.name for protocol in self.settings(report)}
        return {
            (row, column, protocol)
            for row, column, protocol in report.slots
            if protocol in names and (not self.columns or column in self.columns)
        }

    def settings(self, report: Report) -> list[Protocol]:
        """Return the settings that vary the options of the figure, and no other."""
        options = {self.x, self.lines, self.panels} - {None}
        return [p for p in report.table.protocols if set(p.setting) == options]

    def draw(self, report: Report) -> Canvas:
        """Draw the counts, and what permuted numbers reach."""
        settings = self.settings(report)
        found = matches(report, self.metric, settings, self.columns)
        counts = np.trace(found, axis1=1, axis2=2)
        chance = by_chance(found)
        values = list(dict.fromkeys(p.setting.get(self.panels or "") for p in settings))
        canvas, [axes] = panels(7.2, 2.9, 1, len(values), sharey=True)
        for axis, panel in zip(axes, values, strict=True):
            here = [i for i, p in enumerate(settings) if p.setting.get(self.panels or "") == panel]
            self._panel(axis, [settings[i] for i in here], counts[here])
            axis.axhline(chance.mean(), color=INK, lw=1, ls=(0, (1, 2)), label="by chance, mean")
            axis.axhline(
                np.quantile(chance.max(axis=1), _SHARE), color=INK, lw=1, ls=(0, (4, 2)),
                label="by chance, the best of all settings, 1 in 20",
            )  # fmt: skip
            axis.set_title("" if panel is None else self._called(self.panels, panel), loc="left")
        axes[0].set_ylim(-0.2, found.shape[-1] + 0.2)
        axes[0].set_ylabel(f"matches, of {found.shape[-1]}")
        axes[0].yaxis.get_major_locator().set_params(integer=True)
        legend_outside(canvas, axes[0], 3)
        return canvas

    def _panel(self, axis: Axes, settings: list[Protocol], counts: NDArray[np.int64]) -> None:
        """Draw a line for each value of the option `lines`."""
        values = [p.setting[self.lines] for p in settings]
        for value, colour, marker in zip(dict.fromkeys(values), COLOURS, MARKERS, strict=False):
            here = [i for i, other in enumerate(values) if other == value]
            axis.plot(
                [float(settings[i].setting[self.x]) for i in here], counts[here], color=colour,
                marker=marker, markersize=4, lw=1.3, label=self._called(self.lines, value),
            )  # fmt: skip
        axis.set_xscale("log")
        axis.set_xlabel(self.labels.get(self.x, self.x))

    def _called(self, option: str | None, value: str) -> str:
        """Return what stands for a value of an option in the figure."""
        name = f"{option}={value}"
        return self.labels.get(name, name)
