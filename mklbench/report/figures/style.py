"""Colours, settings and panels that all figures share.

matplotlib is imported when a figure is drawn: whoever reads a table imports every kind of figure.
"""

from __future__ import annotations

from typing import Any

# A figure of matplotlib, and the axes of one of its panels.
Canvas = Any
Axes = Any

# Okabe & Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#E69F00")
INK, SOFT = "#333333", "#8a8a8a"

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.facecolor": "white",
    "svg.hashsalt": "mklbench",
}


def panels(
    width: float, height: float, n_rows: int = 1, n_columns: int = 1, **shared: Any
) -> tuple[Canvas, Any]:
    """Return a canvas of `width` x `height` inches and its axes, (n_rows, n_columns)."""
    from matplotlib.figure import Figure as NewCanvas

    canvas = NewCanvas(figsize=(width, height), layout="constrained")
    return canvas, canvas.subplots(n_rows, n_columns, squeeze=False, **shared)


def legend_outside(canvas: Canvas, axis: Axes, n_columns: int, side: str = "lower") -> None:
    """Write the legend of one axis below, or above, all panels of a canvas."""
    handles, labels = axis.get_legend_handles_labels()
    canvas.legend(handles, labels, loc=f"outside {side} center", ncols=n_columns)
