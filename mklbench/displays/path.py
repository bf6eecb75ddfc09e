"""Kernel weights along the box constraint C."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.displays.drawing import axes_or_new, colours, n_shown, wrapped
from mklbench.displays.models import model_and_samples
from mklbench.errors import InputError, unknown
from mklbench.validation import check_positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


class PathDisplay:
    """The weight of every kernel at each C of a path, on a logarithmic axis.

    Of more than two classes it is their mean, or the path of one class. It is best made by
    `from_estimator`.

    Parameters
    ----------
    C : array_like of shape (n_C,)
        The box constraints, > 0 and increasing.
    names : sequence of str
        The names (M,) of the kernels.
    weights : array_like of shape (n_C, M) or (n_C, k, M)
        The weights at each C, one row a class.
    classes : sequence or None, default=None
        The labels (k,) of the classes.

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
        If C is no path, or the shapes do not go together.
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(
        self,
        C: ArrayLike,
        names: Sequence[str],
        weights: ArrayLike,
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.C = check_path(C)
        self.names = list(names)
        given = np.asarray(weights, dtype=np.float64)
        self.weights = given[:, None] if given.ndim == 2 else given
        if self.weights.shape[::2] != (len(self.C), len(self.names)):
            raise InputError(
                f"weights have shape {given.shape}, but there are {len(self.C)} values of C and "
                f"{len(self.names)} names: give a row for each C, with one weight a kernel."
            )
        self.classes = None if classes is None else list(classes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        C: ArrayLike,
        target: object = None,
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
        target : object, default=None
            The class whose path is drawn; the mean over the classes if not given.
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
        model, samples = model_and_samples(estimator, X, y)
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
        classes = getattr(model, "classes_", None) if len(weights[0]) > 1 else None
        display = cls(path, model.kernel_names_, np.array(weights), classes)
        return display.plot(target=target, top_k=top_k, ax=ax)

    def plot(
        self, *, target: object = None, top_k: int | None = 10, ax: Axes | None = None
    ) -> Self:
        """Draw the lines.

        Parameters
        ----------
        target : object, default=None
            The class whose path is drawn; the mean over the classes if not given.
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
        weights = self._of(target)
        sizes = np.abs(weights).max(axis=0)
        order = np.argsort(-sizes, kind="stable")
        used = order[sizes[order] > 0]
        named, others = np.split(used, [n_shown(top_k, len(used)) if len(used) else 0])
        self.ax_ = axes_or_new(ax, 8.5, max(4.0, 0.9 + 0.24 * len(named)))
        self.figure_ = self.ax_.get_figure()
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
        self.ax_.set_ylabel(self._called(target))
        self.ax_.set_title(f"{len(used)} of {len(self.names)} kernels in use along the path")
        self.ax_.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.02))
        return self

    def _of(self, target: object) -> Array:
        """Return the weights (n_C, M) of one class, or their mean."""
        if target is None:
            return self.weights.mean(axis=1)
        if self.classes is None:
            raise InputError(
                f"target={target} is for more than two classes, and here is one path for all: "
                "leave it out."
            )
        if target not in self.classes:
            raise unknown("target", target, self.classes)
        return self.weights[:, self.classes.index(target)]

    def _called(self, target: object) -> str:
        if target is not None:
            return f"kernel weight of class {target}"
        n_classes = self.weights.shape[1]
        return (
            "kernel weight" if n_classes == 1 else f"kernel weight, the mean of {n_classes} classes"
        )


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
