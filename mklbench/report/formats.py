"""What a report is written as: Markdown and HTML pages, CSV of its numbers, tables in LaTeX.

May import `layout`, `document` and what is below, when a text is made: the command line reads the
names alone. It is imported by `figures`, `report.results` and `commands`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mklbench.errors import refused
from mklbench.resources import write_atomically

if TYPE_CHECKING:
    from mklbench.report.analysis.assemble import Number, NumberPlace, Report

FORMATS = ("csv", "html", "latex", "md")


def render(
    report: Report,
    fmt: str,
    figures: Mapping[str, Path] | None = None,
    directory: Path | None = None,
    *,
    whole: bool = True,
) -> str:
    """Return a report as text.

    Parameters
    ----------
    report : Report
        The assembled table.
    fmt : str
        One of `FORMATS`.
    figures : mapping of str to Path or None, default=None
        Pictures of the figures by their names, for Markdown and HTML.
    directory : Path or None, default=None
        Where the file will stand; pictures are linked relative to it.
    whole : bool, default=True
        Whether to go beyond the table that a page begins with. CSV always has every number, and
        LaTeX the tables alone.
    """
    from mklbench.report.document import to_html, to_latex, to_markdown
    from mklbench.report.layout.page import lay_out, lay_out_tables

    if fmt == "csv":
        return to_csv(report)
    if fmt == "latex":
        return to_latex(lay_out_tables(report))
    text = to_markdown(lay_out(report, figures, directory, whole=whole))
    return text if fmt == "md" else to_html(text, directory)


def to_csv(report: Report) -> str:
    """Render every number of a report as one line of CSV; what is not known stays empty.

    `measured_mean` and `measured_std` are full doubles in the printed unit, `n_splits` is the
    number of finished splits behind them, and `verdict` is empty unless the run is done.
    `standing` and `published_standing` say which numbers are much better or worse than the table's
    baseline. `n_stopped` of the fits ended before their rule was met, with gaps of up to
    `stopped_gap`; those of the others reach up to `met_gap`. Of a table whose times are of several
    CPU models there is a column `cpu` with those of the run.
    """
    from pandas import DataFrame

    frame = DataFrame([_csv_line(report, *item) for item in report.numbers.items()])
    return frame.drop(columns=[] if report.timed_on.others else ["cpu"]).to_csv(index=False)


def _csv_line(report: Report, place: NumberPlace, number: Number) -> dict[str, object]:
    from mklbench.report.analysis.assemble import cpu_models
    from mklbench.report.layout.entries import Ending

    published, measured = number.published, number.measured
    row, column, protocol, metric = place
    _, found = report.slots[row, column, protocol]
    ending = Ending.of([found])
    return {
        "row": row,
        "column": column,
        "protocol": protocol,
        "metric": metric,
        "published_mean": published and published.mean,
        "published_std": published and published.std,
        "measured_mean": measured and measured.mean,
        "measured_std": measured and measured.std,
        "n_splits": measured.n if measured else 0,
        "difference": number.difference,
        "verdict": number.verdict,
        "status": number.status,
        "standing": report.standings.get(place),
        "published_standing": report.published_standings.get((row, column, metric)),
        "n_stopped": ending.n_stopped,
        "stopped_gap": ending.stopped_gap,
        "met_gap": ending.met_gap,
        "cpu": "; ".join(cpu_models(found.done)),
    }


def write_result(path: Path, content: bytes) -> None:
    """Write `content` to `path`, whole or not at all; make its directory where there is none.

    Raises
    ------
    InputError
        If the directory cannot be made or written to.
    """
    with refused(f"{path} cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
