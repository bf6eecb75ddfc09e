"""How the figures of the paper tables are drawn: what all kinds share, and the files.

They are drawn from the same records as the numbers. matplotlib is imported when a figure is drawn,
and without pyplot: no display is needed and no global state is left behind.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mklbench.errors import InputError
from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report
from mklbench.report.formats import write_result
from mklbench.report.table.paper_table import Figure

# A figure of matplotlib, and the axes of one of its panels.
Canvas = Any
Axes = Any

# Okabe & Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#E69F00")
INK, SOFT = "#333333", "#8a8a8a"
MARKERS = "osD^vP"

# The style sheet of matplotlib that all of them have.
STYLE = Path(__file__).parent / "figures.mplstyle"


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


RESOLUTION = 200  # dots per inch of bitmaps
# The formats, and what is left out of each so that equal figures are equal files.
FORMATS = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def check_picture(path: Path) -> None:
    """Raise InputError unless the name of a file is that of a picture."""
    if path.suffix.lstrip(".") not in FORMATS:
        raise InputError(f"{path} is no picture file: its name must end in .png, .pdf or .svg.")


def write_figure(report: Report, figure: Figure, paths: Sequence[Path]) -> None:
    """Draw `figure` from the records of `report` and write it to every one of `paths`.

    Raises
    ------
    InputError
        If a path cannot be written, or a run of the figure is not done.
    """
    missing = unfinished_runs(report, figure)
    if missing:
        raise InputError(
            f"Figure {figure.name} cannot be drawn because {missing[0]} is not done: "
            f"run mklbench reproduce {report.table.name} first."
        )
    import matplotlib as mpl

    with mpl.rc_context(fname=STYLE):
        canvas = figure.draw(report)
        for path in paths:
            ending, stream = path.suffix.lstrip("."), io.BytesIO()
            canvas.savefig(stream, format=ending, dpi=RESOLUTION, metadata=FORMATS[ending])
            write_result(path, stream.getvalue())


def unfinished_runs(report: Report, figure: Figure) -> list[str]:
    """Name the runs that `figure` needs and that are not done."""
    wanted = figure.needs(report)
    return [
        slot.label
        for place, (slot, found) in report.slots.items()
        if place in wanted and found.status != DONE
    ]
