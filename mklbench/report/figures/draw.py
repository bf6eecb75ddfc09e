"""The figures of the paper tables, drawn with matplotlib from the same records as the numbers.

matplotlib is imported when a figure is drawn, and without pyplot: no display is needed and no
global state is left behind.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, SlotRecords
from mklbench.report.figures.differences import difference_row, draw_differences
from mklbench.report.figures.growth import draw_growth, growth_curves
from mklbench.report.figures.path import draw_path
from mklbench.report.figures.ranks import draw_ranks
from mklbench.report.figures.style import COLOURS, INK, SOFT, STYLE
from mklbench.report.figures.surface import draw_surface
from mklbench.report.layout.ranking import rank_methods
from mklbench.report.output import write_result
from mklbench.report.table.paper_table import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

RESOLUTION = 200  # dots per inch of bitmaps
FORMATS = ("png", "pdf", "svg")


def check_picture(path: Path) -> None:
    """Raise InputError unless the name of a file is that of a picture."""
    if path.suffix.lstrip(".") not in FORMATS:
        raise InputError(f"{path} is no picture file: its name must end in .png, .pdf or .svg.")


def write_figure(report: Report, figure: Figure, paths: Sequence[Path]) -> None:
    """Draw `figure` from the records of `report` and write it to every one of `paths`.

    Raises
    ------
    InputError
        If a path has an ending other than png, pdf or svg, cannot be written, or a cell of the
        figure is not done.
    """
    for path in paths:
        check_picture(path)
    missing = unfinished_cells(report, figure)
    if missing:
        raise InputError(
            f"Figure {figure.name} cannot be drawn because {missing[0]} is not done: "
            f"run mklbench reproduce {report.table.name} first."
        )
    import matplotlib as mpl

    kinds = {
        "weights": _draw_weights,
        "path": draw_path,
        "difference": draw_differences,
        "growth": draw_growth,
        "surface": draw_surface,
        "ranks": draw_ranks,
    }
    draw = kinds[figure.kind]
    with mpl.rc_context(STYLE):
        canvas = draw(report, figure)
        for path in paths:
            write_result(path, _rendered(canvas, path.suffix.lstrip(".")))


def unfinished_cells(report: Report, figure: Figure) -> list[str]:
    """Name the cells that `figure` needs and that are not done.

    Figures of differences and of growth leave gaps, so they need no more than one number; ranks
    leave out rows that are not complete; surfaces are computed from the data alone.
    """
    if figure.kind == "surface":
        return []
    if figure.kind == "weights":
        wanted = {(figure.row, column, figure.protocol) for column in figure.columns}
    elif figure.kind == "growth":
        rows, protocols = report.table.rows, report.table.protocols
        if any(line.sizes for row in rows for line in growth_curves(report, figure, row).values()):
            return []
        wanted = {(r.name, c, p.name) for r in rows for c in figure.columns for p in protocols}
    elif figure.kind == "ranks":
        if rank_methods(report, report.table.ranking) is not None:
            return []
        wanted = set(report.slots)
    elif figure.kind == "difference":
        rows = report.table.rows
        if any(difference_row(report, figure, row).measured is not None for row in rows):
            return []
        wanted = {(row.name, column, figure.protocol) for row in rows for column in figure.columns}
    else:
        wanted = set(report.slots)
    return [
        f"{slot.row.label}, {slot.column.label}, {slot.protocol.label}"
        for place, (slot, found) in report.slots.items()
        if place in wanted and found.status != DONE
    ]


def _rendered(canvas: Canvas, extension: str) -> bytes:
    """Return the picture's bytes, without the date, so that equal figures are equal files."""
    stream = io.BytesIO()
    metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
    canvas.savefig(stream, format=extension, dpi=RESOLUTION, metadata=metadata[extension])
    return stream.getvalue()


def normalised_weights(found: SlotRecords) -> NDArray[np.float64]:
    """Return the weights of every finished split, each normalised to sum 1; (n_splits, M).

    Splits whose weights are all 0 have no normalised weights and are left out.
    """
    weights = np.array([record.weights for record in found.done], dtype=np.float64)
    totals = weights.sum(axis=1)
    return weights[totals > 0] / totals[totals > 0, None]


def _draw_weights(report: Report, figure: Figure) -> Canvas:
    """Bars of the mean weights over the features, one panel a method, one scale for all."""
    from matplotlib.figure import Figure as Canvas

    columns = [column for column in report.table.columns if column.name in figure.columns]
    canvas = Canvas(figsize=(7.2, 2.0 * len(columns) + 0.5), layout="constrained")
    axes = canvas.subplots(len(columns), 1, sharex=True, sharey=True, squeeze=False)
    for axis, column, colour in zip(axes[:, 0], columns, COLOURS, strict=False):
        place = (str(figure.row), column.name, str(figure.protocol))
        _weights_panel(axis, normalised_weights(report.slots[place][1]), column.label, colour)
    axes[0, 0].set_ylim(bottom=0)  # shared, and only now: it would stop the scale from growing
    axes[-1, 0].set_xlabel("feature")
    canvas.supylabel("kernel weight, normalised to sum 1", fontsize=9)
    return canvas


def _weights_panel(axis: Axes, weights: NDArray[np.float64], label: str, colour: str) -> None:
    n_kernels = weights.shape[1]
    features = np.arange(1, n_kernels + 1)
    low, high = np.quantile(weights, (0.25, 0.75), axis=0)
    axis.bar(features, weights.mean(axis=0), width=0.78, color=colour)
    axis.vlines(features, low, high, color=INK, linewidth=0.9)
    axis.axhline(1 / n_kernels, color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)))
    axis.annotate(
        "uniform", (1, 1 / n_kernels), xycoords=("axes fraction", "data"), xytext=(2, 0),
        textcoords="offset points", va="center", fontsize=7, color=SOFT,
    )  # fmt: skip
    axis.set_title(label, loc="left")
    axis.set_xlim(0.2, n_kernels + 0.8)
    axis.set_xticks([1, *range(10, n_kernels + 1, 10)])
