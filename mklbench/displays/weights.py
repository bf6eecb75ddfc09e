"""A bar chart of the kernels that a model uses, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mklbench.displays.drawing import LINE, axes_or_new, colours, listed, n_lines, n_shown, wrapped
from mklbench.displays.models import fitted_model
from mklbench.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of all that is above and below the bars.
_MARGINS = 1.1
# More classes than these cannot be told apart in a bar.
_MOST_CLASSES = 20


class WeightsDisplay:
    """Kernel weights as bars, the largest first.

    Of more than two classes each bar is the sum of the weights by class, one piece a class. It is
    best made by `from_estimator`.

    Parameters
    ----------
    names : sequence of str
        The names (M,) of the kernels.
    weights : array_like of shape (M,) or (k, M)
        Their weights, one row a class.
    classes : sequence or None, default=None
        The labels (k,) of the classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn in.
    figure_ : matplotlib Figure
        The figure of these axes.
    bars_ : list of matplotlib BarContainer
        The bars, one container a class.

    Raises
    ------
    InputError
        If there are not as many names as weights.
    """

    ax_: Any
    figure_: Any
    bars_: list[Any]

    def __init__(
        self, names: Sequence[str], weights: ArrayLike, classes: Sequence[Any] | None = None
    ) -> None:
        self.names = list(names)
        self.weights = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        if self.weights.shape[1:] != (len(self.names),):
            raise InputError(
                f"weights have shape {np.shape(weights)}, but there are {len(self.names)} names: "
                "give one a kernel."
            )
        self.classes = classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, top_k: int | None = 20, ax: Axes | None = None
    ) -> Self:
        """Draw the kernel weights of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of mklbench, or a pipeline or a search that ends in one.
        top_k : int or None, default=20
            Maximum number of kernels shown; None for all in use.
        ax : matplotlib Axes or None, default=None
            What to draw in; a new figure if not given.

        Returns
        -------
        WeightsDisplay
            The display, drawn.

        Raises
        ------
        InputError
            If the estimator has no kernels, or an argument is out of range.
        """
        table = fitted_model(estimator).kernel_weights()
        classes = list(table.columns) if table.ndim == 2 else None
        display = cls([str(name) for name in table.index], table.to_numpy().T, classes)
        return display.plot(top_k=top_k, ax=ax)

    def plot(self, *, top_k: int | None = 20, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        top_k : int or None, default=20
            Maximum number of kernels shown; None for all in use.
        ax : matplotlib Axes or None, default=None
            What to draw in; a new figure if not given.

        Returns
        -------
        WeightsDisplay
            The display itself.

        Raises
        ------
        InputError
            If an argument is out of range.
        """
        sizes = np.abs(self.weights).sum(axis=0)
        n_used = int(np.count_nonzero(sizes))
        n_bars = n_shown(top_k, max(n_used, 1))
        chosen = np.argsort(-sizes, kind="stable")[:n_bars]
        labels = [wrapped(self.names[m]) for m in chosen]
        lines = n_bars * n_lines(labels)
        self.ax_ = axes_or_new(ax, 7.5, _MARGINS + LINE * max(lines, 4))
        self.figure_ = self.ax_.get_figure()
        self._draw(chosen)
        self.ax_.set_yticks(range(n_bars), labels)
        self.ax_.set_ylim(n_bars - 0.5, -0.5)  # the largest above
        self.ax_.set_xlabel("kernel weight" if len(self.weights) == 1 else self._of_classes())
        self.ax_.axvline(0.0, color="0.3", linewidth=0.8)
        shown = f"{n_used} of {len(self.names)} kernels in use"
        self.ax_.set_title(shown if n_bars >= n_used else f"{shown}, the {n_bars} largest")
        return self

    def _draw(self, chosen: np.ndarray) -> None:
        """Draw the pieces of each class behind those of the classes before, by their signs."""
        weights = self.weights[:, chosen]
        if len(weights) > _MOST_CLASSES:
            weights = weights.sum(axis=0)[None]
        places = np.arange(len(chosen))
        ends = {sign: np.zeros(len(chosen)) for sign in (-1, 1)}
        self.bars_ = []
        names = listed(self.classes, len(weights))
        for row, colour, name in zip(weights, colours(len(weights)), names, strict=False):
            starts = np.where(row < 0, ends[-1], ends[1])
            bars = self.ax_.barh(places, row, left=starts, color=colour, height=0.7, label=name)
            self.bars_.append(bars)
            ends[-1] += np.minimum(row, 0.0)
            ends[1] += np.maximum(row, 0.0)
        if len(weights) == 1:
            texts = [f"{value:.2g}" for value in weights[0]]
            self.ax_.bar_label(self.bars_[0], texts, padding=3, fontsize="small")
            self.ax_.margins(x=0.12)
        else:
            self.ax_.set_xlim(right=1.04 * self.ax_.get_xlim()[1])
            self.ax_.legend(title="class", fontsize="small", loc="lower right")

    def _of_classes(self) -> str:
        return f"kernel weight, the sum over {len(self.weights)} classes"
