"""How alike kernels are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from mklbench.displays import shared
from mklbench.kernels.gram_matrices import PackedTriangles, centre

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
# Kernels whose alignments stand in the squares.
_MOST_NUMBERS = 12


class AlignmentDisplay(shared.Display):
    """Centred alignments of kernels with each other and the target.

    The alignment of two kernels is <H K H, H L H>_F / (|H K H|_F |H L H|_F), H = I - 1 1'/n,
    between -1 and 1 (Cortes et al. 2012). The target is Y Y' with a column of Y for each class, or
    y y' of real targets. It is best made by `from_estimator`.

    Parameters
    ----------
    names : sequence of str
        The names (K,) of the kernels.
    alignments : array_like of shape (K, K)
        The alignment of each with each.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn in.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    def __init__(self, names: Sequence[str], alignments: ArrayLike) -> None:
        self.names = list(names)
        self.alignments = np.asarray(alignments, dtype=np.float64)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        kernels: Sequence[str | int] | None = None,
        top_k: int | None = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Build the kernels of a fitted estimator on samples, and draw how alike they are.

        They are single kernels of a bank, and the learned one, for several classes the mean of
        theirs.

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
        ax : matplotlib Axes or None, default=None
            What to draw in; a new figure if not given.

        Returns
        -------
        AlignmentDisplay
            The display, drawn.

        Raises
        ------
        InputError
            If the estimator has no kernels, a kernel is not known, or an argument is out of range.
        """
        model = shared.fitted_model(estimator)
        targets = column_or_1d(y)
        by_class = hasattr(model, "classes_") or targets.dtype.kind not in "iuf"
        samples: Any = X
        for step in shared.taken_apart(estimator)[0]:
            samples = step.transform(samples)
        chosen = shared.chosen_kernels(model, samples, y, kernels, top_k)
        # Y Y' with a column of Y for each class, or y y' of real targets.
        Y = targets[:, None] == np.unique(targets) if by_class else targets[:, None]
        target = Y.astype(np.float64) @ Y.T.astype(np.float64)
        centred = (centre(gram()) for gram in [*chosen.values(), lambda: target])
        products = PackedTriangles.of(len(target), centred, len(chosen) + 1).inner_products()
        norms = np.sqrt(products.diagonal())
        # Constant matrices have no alignment with any.
        scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        return cls([*chosen, "target"], scales[:, None] * products * scales).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the alignments.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            What to draw in; a new figure if not given.

        Returns
        -------
        AlignmentDisplay
            The display itself.
        """
        n = len(self.names)
        side = min(max(0.36 * n, 2.4), 16.0)
        (self.ax_,) = shared.panels_or_new(ax, 1, side + 4.2, side + 0.9)
        lowest = min(0.0, float(self.alignments.min()))
        image = self.ax_.imshow(self.alignments, vmin=lowest, vmax=1.0, aspect="auto")
        self.figure_.colorbar(image, ax=self.ax_, label="centred alignment")
        names = [shared.wrapped(f"{name}  {m + 1}") for m, name in enumerate(self.names)]
        step = math.ceil(n * shared.n_lines(names) * shared.LINE / side)
        told = range(0, n, step)  # names by the side have a number, which stands below
        self.ax_.set_yticks(told, [names[m] for m in told])
        self.ax_.set_xticks(told, [str(m + 1) for m in told], rotation=90 if n > 20 else 0)
        if n <= _MOST_NUMBERS:
            for (i, j), value in np.ndenumerate(self.alignments):
                colour = "white" if value < 0.6 else "black"
                text = f"{value:.2f}"
                self.ax_.text(j, i, text, ha="center", va="center", color=colour, fontsize=7)
        return self
