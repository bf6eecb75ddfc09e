"""What displays share in drawing: axes, names that fit, and the checks of their options."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mklbench.validation import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a line of text beside an axis.
LINE = 0.21
# Characters of a name in one line.
_WIDTH = 44


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    _, new = pyplot.subplots(figsize=(width, height), layout="constrained")
    return new


def panels_or_new(ax: Axes | Sequence[Axes] | None, n_panels: int) -> Any:
    """Return axes (n_panels,): no more than are given, or new ones above each other."""
    if ax is not None:
        return np.ravel(np.asarray(ax, dtype=object))[:n_panels]
    from matplotlib import pyplot

    size = (7.0, 1.0 + 2.3 * n_panels)
    _, panels = pyplot.subplots(
        n_panels, sharex=True, squeeze=False, figsize=size, layout="constrained"
    )
    return panels[:, 0]


def wrapped(name: str, width: int = _WIDTH) -> str:
    """Return a name in lines that leave room for the picture, without mathematics of TeX."""
    return textwrap.fill(name, width).replace("$", r"\$")


def n_lines(names: Sequence[str]) -> int:
    """Return the lines of the longest of some wrapped names."""
    return max((name.count("\n") + 1 for name in names), default=1)


def n_shown(top_k: int | None, n_kernels: int) -> int:
    """Return how many kernels are shown: at most `top_k`, or all if None."""
    return n_kernels if top_k is None else min(check_count("top_k", top_k), n_kernels)


def colours(n: int) -> list[Any]:
    """Return n colours that can be told apart as well as so many can."""
    from matplotlib import colormaps

    if n <= 20:
        return [colormaps["tab10" if n <= 10 else "tab20"](i) for i in range(n)]
    return [colormaps["viridis"](i / (n - 1)) for i in range(n)]


def listed(classes: Sequence[Any] | None, n: int) -> list[str]:
    """Return how the classes of n problems are called."""
    return [str(label) for label in (range(n) if classes is None else classes)]
