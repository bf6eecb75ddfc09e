"""Kernel weights by name: the bars of one model, and the lines along C."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mklbench.displays.shared import (
    LINE,
    Display,
    colours,
    fitted_model,
    listed,
    n_lines,
    n_shown,
    panels_or_new,
    taken_apart,
    wrapped,
)
from mklbench.errors import InputError
from mklbench.validation import check_positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of all that is above and below the bars.
_MARGINS = 1.1
# More classes than these cannot be told apart in a bar.
_MOST_CLASSES = 20


class WeightsDisplay(Display):
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
    """

    bars_: list[Any]

    def __init__(
        self, names: Sequence[str], weights: ArrayLike, classes: Sequence[Any] | None = None
    ) -> None:
        self.names = list(names)
        self.weights = np.atleast_2d(np.asarray(weights, dtype=np.float64))
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
        import pandas as pd

        sizes, n_classes = np.abs(self.weights).sum(axis=0), len(self.weights)
        n_used = int(np.count_nonzero(sizes))
        n_bars = n_shown(top_k, max(n_used, 1))
        chosen = np.argsort(-sizes, kind="stable")[:n_bars]
        labels = [wrapped(self.names[m]) for m in chosen]
        lines = n_bars * n_lines(labels)
        (self.ax_,) = panels_or_new(ax, 1, 7.5, _MARGINS + LINE * max(lines, 4))
        shown = pd.DataFrame(self.weights[:, chosen].T, columns=listed(self.classes, n_classes))
        if n_classes > _MOST_CLASSES:
            shown = shown.sum(axis=1).to_frame()
        several = shown.shape[1] > 1
        shown.plot.barh(
            stacked=True, ax=self.ax_, color=colours(shown.shape[1]), width=0.7, legend=several
        )
        self.bars_ = self.ax_.containers[-shown.shape[1] :]
        if several:
            self.ax_.legend(title="class", fontsize="small", loc="lower right")
        else:
            self.ax_.bar_label(self.bars_[0], fmt="{:.2g}", padding=3, fontsize="small")
            self.ax_.margins(x=0.12)
        self.ax_.set_yticks(range(n_bars), labels)
        self.ax_.set_ylim(n_bars - 0.5, -0.5)  # the largest above
        over = "" if n_classes == 1 else f", the sum over {n_classes} classes"
        self.ax_.set_xlabel(f"kernel weight{over}")
        self.ax_.set_ylabel("")
        self.ax_.axvline(0.0, color="0.3", linewidth=0.8)
        title = f"{n_used} of {len(self.names)} kernels in use"
        self.ax_.set_title(title if n_bars >= n_used else f"{title}, the {n_bars} largest")
        return self


Array = NDArray[np.float64]


class PathDisplay(Display):
    """The weight of every kernel at each C of a path, on a logarithmic axis.

    Of more than two classes it is their mean. It is best made by `from_estimator`.

    Parameters
    ----------
    C : array_like of shape (n_C,)
        The box constraints, > 0 and increasing.
    names : sequence of str
        The names (M,) of the kernels.
    weights : array_like of shape (n_C, M) or (n_C, k, M)
        The weights at each C, one row a class.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn in.
    figure_ : matplotlib Figure
        The figure of these axes.
    lines_ : list of matplotlib Line2D
        The lines of the kernels that are named, the largest first.

    Raises
    ------
    InputError
        If C is no path.
    """

    lines_: list[Any]

    def __init__(self, C: ArrayLike, names: Sequence[str], weights: ArrayLike) -> None:
        self.C = check_path(C)
        self.names = list(names)
        given = np.asarray(weights, dtype=np.float64)
        self.weights = given[:, None] if given.ndim == 2 else given

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        C: ArrayLike,
        top_k: int | None = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Fit an estimator at each C, and draw the weights.

        It is fitted from the weights at the C before where it has `warm_start`, which takes a
        fraction of the time.

        Parameters
        ----------
        estimator : estimator
            An estimator of mklbench on a bank, or a pipeline that ends in one; it is left as it is.
        X : array_like of shape (n, d)
            Training samples.
        y : array_like of shape (n,)
            Their targets.
        C : array_like of shape (n_C,)
            The box constraints, > 0 and increasing.
        top_k : int or None, default=10
            So many kernels are named, those of the largest weights; the others are grey.
        ax : matplotlib Axes or None, default=None
            What to draw in; a new figure if not given.

        Returns
        -------
        PathDisplay
            The display, drawn.

        Raises
        ------
        InputError
            If the estimator has no C or no bank of kernels, or an argument is out of range.
        """
        path = check_path(C)
        steps, given = taken_apart(estimator)
        model, samples = clone(given), X
        for step in steps:
            samples = clone(step).fit_transform(samples, y)
        parameters = model.get_params(deep=False)
        if "C" not in parameters:
            raise InputError(
                f"estimator={type(model).__name__} has no C along which its weights would change: "
                "give one that has, such as MKL."
            )
        if "warm_start" in parameters:
            model.set_params(warm_start=True)
        weights = []
        for value in path.tolist():
            model.set_params(C=value).fit(samples, y)
            if model.thetas_ is not None:
                raise InputError(
                    f"estimator={type(model).__name__} finds other kernels at every C, so that "
                    "none has a path: give one on a bank of kernels, such as MKL."
                )
            weights.append(np.atleast_2d(model.weights_))
        return cls(path, model.kernel_names_, np.array(weights)).plot(top_k=top_k, ax=ax)

    def plot(self, *, top_k: int | None = 10, ax: Axes | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        top_k : int or None, default=10
            So many kernels are named, those of the largest weights; the others are grey.
        ax : matplotlib Axes or None, default=None
            What to draw in; a new figure if not given.

        Returns
        -------
        PathDisplay
            The display itself.

        Raises
        ------
        InputError
            If an argument is out of range.
        """
        weights, n_classes = self.weights.mean(axis=1), self.weights.shape[1]
        sizes = np.abs(weights).max(axis=0)
        order = np.argsort(-sizes, kind="stable")
        used = order[sizes[order] > 0]
        named, others = np.split(used, [n_shown(top_k, len(used)) if len(used) else 0])
        (self.ax_,) = panels_or_new(ax, 1, 8.5, max(4.0, 0.9 + 0.24 * len(named)))
        for m in others:
            self.ax_.plot(self.C, weights[:, m], color="0.75", linewidth=0.8, zorder=1)
        self.lines_ = [
            self.ax_.plot(self.C, weights[:, m], ".-", color=colour, label=wrapped(self.names[m]))[
                0
            ]
            for m, colour in zip(named, colours(len(named)), strict=True)
        ]
        if len(others):
            self.ax_.plot([], [], color="0.75", linewidth=0.8, label=f"{len(others)} others")
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("C")
        over = "" if n_classes == 1 else f", the mean of {n_classes} classes"
        self.ax_.set_ylabel(f"kernel weight{over}")
        self.ax_.set_title(f"{len(used)} of {len(self.names)} kernels in use along the path")
        self.ax_.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.02))
        return self


def check_path(C: ArrayLike) -> Array:
    """Return the values of a path (n_C,), checked.

    Raises
    ------
    InputError
        If they are not at least two numbers > 0, each larger than the one before.
    """
    values = [check_positive("C", value) for value in np.atleast_1d(np.asarray(C)).tolist()]
    if len(values) < 2 or any(a >= b for a, b in pairwise(values)):
        raise InputError(
            f"C={np.asarray(C).tolist()} is no path: give at least two values, each larger than "
            "the one before."
        )
    return np.array(values, dtype=np.float64)
