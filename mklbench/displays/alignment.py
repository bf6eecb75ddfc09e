"""How alike kernels are, and what they make of the samples of each class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from mklbench.displays.drawing import LINE, axes_or_new, n_lines, wrapped
from mklbench.displays.models import chosen_kernels, fitted_model, transformed
from mklbench.errors import InputError
from mklbench.kernels.gram_matrices import PackedTriangles, centre
from mklbench.validation import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
_KINDS = ("alignment", "grams")
# Gram matrices that are kept to be drawn, and samples of each: a picture has no more points.
_MOST_GRAMS, _MOST_SAMPLES = 40, 500
# Kernels whose alignments stand in the squares.
_MOST_NUMBERS = 12
# Percentiles of the entries of a Gram matrix where its scale of colours ends.
_SHOWN = (5, 95)
# Classes whose names have room beside a Gram matrix.
_MOST_CLASSES = 25
# Pictures of Gram matrices side by side, and characters of a line above one.
_ABREAST, _LINE = 4, 26


@dataclass(frozen=True)
class _Ordered:
    """The order of samples by class, and where each class ends; real targets are one class."""

    rows: NDArray[np.intp]
    labels: list[str]
    ends: list[int]


class AlignmentDisplay:
    """Centred alignments of kernels with each other and the target, and their Gram matrices.

    The alignment of two kernels is <H K H, H L H>_F / (|H K H|_F |H L H|_F), H = I - 1 1'/n,
    between -1 and 1 (Cortes et al. 2012). The target is Y Y' with a column of Y for each class, or
    y y' of real targets. It is best made by `from_estimator`.

    Parameters
    ----------
    names : sequence of str
        The names (K,) of the kernels.
    alignments : array_like of shape (K, K)
        The alignment of each with each.
    grams : array_like of shape (K, m, m) or None, default=None
        The Gram matrices on some of the samples, ordered by class.
    labels : sequence of str, default=()
        The classes in the order of `grams`.
    ends : sequence of int, default=()
        The row of `grams` behind the last one of each class.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What the alignments were drawn in, or the first Gram matrix.
    axes_ : ndarray of matplotlib Axes
        All that was drawn in.
    figure_ : matplotlib Figure
        The figure of these axes.

    Raises
    ------
    InputError
        If there are not as many names as alignments.
    """

    ax_: Any
    axes_: Any
    figure_: Any

    def __init__(
        self,
        names: Sequence[str],
        alignments: ArrayLike,
        grams: ArrayLike | None = None,
        labels: Sequence[str] = (),
        ends: Sequence[int] = (),
    ) -> None:
        self.names = list(names)
        self.alignments = np.asarray(alignments, dtype=np.float64)
        self.grams = None if grams is None else np.asarray(grams, dtype=np.float64)
        self.labels, self.ends = list(labels), list(ends)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        kernels: Sequence[str | int] | None = None,
        top_k: int | None = 10,
        kind: str = "alignment",
        ax: Any = None,
    ) -> Self:
        """Build the kernels of a fitted estimator on samples, and draw how alike they are.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of mklbench, or a pipeline or a search that ends in one.
        X : array_like of shape (n, d)
            Samples, such as those of the fit.
        y : array_like of shape (n,)
            Their targets.
        kernels : sequence of str or int, or None, default=None
            The names of kernels, or their numbers; if not given, those of the largest weights.
        top_k : int or None, default=10
            Maximum number of kernels if `kernels` is not given; None for all in use.
        kind : str, default="alignment"
            "alignment" or "grams", as for `plot`.
        ax : matplotlib Axes, sequence of them or None, default=None
            What to draw in, as for `plot`.

        Returns
        -------
        AlignmentDisplay
            The display, drawn.

        Raises
        ------
        InputError
            If the estimator has no kernels, a kernel is not known, or an argument is out of range.
        """
        check_choice("kind", kind, _KINDS)
        model = fitted_model(estimator)
        targets = column_or_1d(y)
        by_class = hasattr(model, "classes_") or targets.dtype.kind not in "iuf"
        chosen = chosen_kernels(model, transformed(estimator, X), y, kernels, top_k)
        ordered = _order(targets, by_class)
        target = _target(targets, by_class)
        display = cls(
            [*chosen, "target"],
            _alignments([*chosen.values(), lambda: target], len(target)),
            _pictures(chosen.values(), ordered.rows) if len(chosen) <= _MOST_GRAMS else None,
            ordered.labels,
            ordered.ends,
        )
        return display.plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "alignment", ax: Any = None) -> Self:
        """Draw the alignments, or the Gram matrices.

        Parameters
        ----------
        kind : str, default="alignment"
            "alignment" for the matrix of alignments, or "grams" for a picture of each Gram matrix
            with the samples ordered by class, each on a scale of its own, which leaves out the
            extreme entries.
        ax : matplotlib Axes, sequence of them or None, default=None
            What to draw in: axes for "alignment", one for each kernel for "grams"; a new figure if
            not given.

        Returns
        -------
        AlignmentDisplay
            The display itself.

        Raises
        ------
        InputError
            If an argument is out of range, or there are no Gram matrices to draw.
        """
        check_choice("kind", kind, _KINDS)
        if kind == "alignment":
            self._draw_alignments(ax)
        else:
            self._draw_grams(ax)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.get_figure()
        return self

    def _draw_alignments(self, ax: Axes | None) -> None:
        n = len(self.names)
        side = min(max(0.36 * n, 2.4), 16.0)
        axes = axes_or_new(ax, side + 4.2, side + 0.9)
        self.axes_ = np.array([axes])
        lowest = min(0.0, float(self.alignments.min()))
        image = axes.imshow(self.alignments, vmin=lowest, vmax=1.0, aspect="auto")
        axes.figure.colorbar(image, ax=axes, label="centred alignment")
        names = [wrapped(f"{name}  {m + 1}") for m, name in enumerate(self.names)]
        step = math.ceil(n * n_lines(names) * LINE / side)
        told = range(0, n, step)  # names by the side have a number, which stands below
        axes.set_yticks(told, [names[m] for m in told])
        axes.set_xticks(told, [str(m + 1) for m in told], rotation=90 if n > 20 else 0)
        if n <= _MOST_NUMBERS:
            for (i, j), value in np.ndenumerate(self.alignments):
                colour = "white" if value < 0.6 else "black"
                axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=7)

    def _draw_grams(self, ax: Any) -> None:
        if self.grams is None or not len(self.grams):
            raise InputError(
                "kind=grams needs Gram matrices, and the display has none: make it by "
                f"AlignmentDisplay.from_estimator with at most {_MOST_GRAMS} kernels, or choose "
                "kind=alignment."
            )
        self.axes_ = _as_many(ax, len(self.grams))
        middles = (np.array([0, *self.ends[:-1]]) + np.array(self.ends)) / 2 - 0.5
        for m, (axes, gram) in enumerate(zip(self.axes_, self.grams, strict=True)):
            lowest, highest = np.percentile(gram, _SHOWN)  # a few far samples would hide the rest
            axes.imshow(gram, vmin=lowest, vmax=highest)
            axes.set_title(wrapped(self.names[m], _LINE), fontsize="small")
            for end in self.ends[:-1]:
                axes.axhline(end - 0.5, color="white", linewidth=0.6)
                axes.axvline(end - 0.5, color="white", linewidth=0.6)
            axes.set_xticks([])
            if len(self.labels) <= _MOST_CLASSES:
                axes.set_yticks(middles, self.labels)
            else:
                axes.set_yticks([])
            axes.tick_params(left=False, labelleft=m % _ABREAST == 0)


def _pictures(grams: Iterable[Callable[[], Array]], rows: NDArray[np.intp]) -> Array:
    """Return the Gram matrices (K, m, m) on some of the samples, in this order."""
    return np.array([gram()[np.ix_(rows, rows)] for gram in grams])


def _as_many(ax: Any, n: int) -> Any:
    """Return n axes: those given, or those of a new figure."""
    if ax is not None:
        return np.ravel(np.asarray(ax, dtype=object))
    from matplotlib import pyplot

    columns = min(n, _ABREAST)
    rows = -(-n // columns)
    size = (2.6 * columns + 1.0, 2.8 * rows)
    _, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for left_over in axes.ravel()[n:]:
        left_over.set_axis_off()
    return axes.ravel()[:n]


def _order(y: NDArray[Any], by_class: bool) -> _Ordered:
    """Return samples in the order of their classes or real targets, few enough for a picture."""
    order = np.argsort(y, kind="stable")
    if len(order) > _MOST_SAMPLES:
        order = order[np.linspace(0, len(order) - 1, _MOST_SAMPLES).astype(np.intp)]
    if not by_class:
        return _Ordered(order, ["all"], [len(order)])
    labels, counts = np.unique(y[order], return_counts=True)
    return _Ordered(order, [str(label) for label in labels], np.cumsum(counts).tolist())


def _target(y: NDArray[Any], by_class: bool) -> Array:
    """Return Y Y' (n, n) with a column of Y for each class, or y y' of real targets."""
    columns = y[:, None] == np.unique(y) if by_class else y[:, None]
    numbers = columns.astype(np.float64)
    return numbers @ numbers.T


def _alignments(grams: Sequence[Callable[[], Array]], n_samples: int) -> Array:
    """Return the centred alignments (K, K) of matrices, 0 of those that are constant."""
    centred = (centre(gram()) for gram in grams)
    products = PackedTriangles.of(n_samples, centred, len(grams)).inner_products()
    norms = np.sqrt(products.diagonal())
    scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return scales[:, None] * products * scales
