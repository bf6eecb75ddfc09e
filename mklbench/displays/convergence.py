"""How a fit came to its end: objective and gap along its SVM calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mklbench.displays.shared import Display, colours, fitted_model, listed, panels_or_new
from mklbench.iterations import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What is drawn, and the scale of its axis.
_PANELS = {"objective": "linear", "gap": "log"}
_MOST_IN_LEGEND = 20
# Iterations that are marked on the line.
_MOST_POINTS = 60


class ConvergenceDisplay(Display):
    """The objective and the certified gap after each outer iteration of a fit.

    Of more than two classes there is a line a class. It is best made by `from_estimator`.

    Parameters
    ----------
    histories : sequence of list of dict
        What was noted in each iteration (`mklbench.solution.Solution.history`), a list a
        class.
    classes : sequence or None, default=None
        The labels (k,) of the classes.
    tol : float or None, default=None
        The gap at which the fit was to stop, if there is one.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One panel for the objective, and one for the gap where it was noted.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        The figure of these axes.
    lines_ : dict of str to list of matplotlib Line2D
        The lines of each panel, "objective" and "gap", one a class.
    """

    axes_: Any
    lines_: dict[str, list[Any]]

    def __init__(
        self,
        histories: Sequence[History],
        classes: Sequence[Any] | None = None,
        tol: float | None = None,
    ) -> None:
        self.histories = list(histories)
        self.classes = classes
        self.tol = tol

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw the convergence of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of mklbench, or a pipeline or a search that ends in one.
        ax : matplotlib Axes, two of them or None, default=None
            What to draw in, as for `plot`.

        Returns
        -------
        ConvergenceDisplay
            The display, drawn.

        Raises
        ------
        InputError
            If the estimator has no kernels.
        """
        model = fitted_model(estimator)
        histories = [solution.history for solution in model.solutions_]
        several = len(histories) > 1
        classes = getattr(model, "classes_", None) if several else None
        has_gaps = all("gap" in history[0] for history in histories if history)
        tol = getattr(model, "tol", None) if has_gaps else None
        return cls(histories, classes, tol).plot(ax=ax)

    def plot(self, *, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, two of them or None, default=None
            What to draw the objective in, and the gap where there are two; a new figure if not
            given.

        Returns
        -------
        ConvergenceDisplay
            The display itself.
        """
        panels = [name for name in _PANELS if all(name in each[0] for each in self.histories)]
        self.axes_ = panels_or_new(ax, len(panels), 7.0, 1.0 + 2.3 * len(panels))
        panels = panels[: len(self.axes_)]
        self.ax_ = self.axes_[0]
        places, unit = self._places()
        self.lines_ = {}
        names = listed(self.classes, len(self.histories))
        for panel, axes in zip(panels, self.axes_, strict=True):
            self.lines_[panel] = [
                axes.plot(
                    place,
                    _values(history, panel),
                    ".-" if len(place) <= _MOST_POINTS else "-",
                    linewidth=1.2,
                    color=colour,
                    label=name,
                )[0]
                for history, place, colour, name in zip(
                    self.histories, places, colours(len(places)), names, strict=True
                )
            ]
            axes.set_yscale(_PANELS[panel])
            axes.set_ylabel(panel)
        if self.tol is not None and "gap" in self.lines_:
            label = f"tol = {self.tol:g}"
            self.axes_[-1].axhline(self.tol, color="0.4", linestyle="--", linewidth=1, label=label)
            self.axes_[-1].legend([self.axes_[-1].lines[-1]], [label], fontsize="small")
        self.axes_[-1].set_xlabel(unit)
        self.axes_[-1].xaxis.get_major_locator().set_params(integer=True)
        if 1 < len(self.histories) <= _MOST_IN_LEGEND:
            self.ax_.legend(
                title="class", fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0)
            )
        return self

    def _places(self) -> tuple[list[np.ndarray], str]:
        """Return where each entry is on the axis: SVM calls so far, or iterations without them."""
        calls = [_values(history, "n_svm_calls") for history in self.histories]
        if all((np.diff(each) > 0).all() and each[-1] > 0 for each in calls):
            return calls, "SVM calls"
        return [np.arange(len(history)) for history in self.histories], "iteration"


def _values(history: History, name: str) -> np.ndarray:
    """Return what was noted under a name, NaN where it was not; a gap of 0 has no logarithm."""
    values = np.array([entry.get(name, np.nan) for entry in history], dtype=np.float64)
    return np.where(values > 0.0, values, np.nan) if name == "gap" else values
