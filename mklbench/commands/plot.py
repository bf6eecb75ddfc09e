"""``mklbench plot``: a figure of a paper table."""

from __future__ import annotations

from pathlib import Path

from mklbench.errors import unknown
from mklbench.experiments.files import check_writable_file
from mklbench.experiments.store import Store
from mklbench.report.figures.draw import check_picture, write_figure
from mklbench.report.loading import load_table, table_names
from mklbench.report.results import assembled
from mklbench.report.table.paper_table import Figure, PaperTable


def plot(
    name: str,
    *,
    store: Store,
    out: str | None = None,
    recorded: bool = False,
    config_dir: str | None = None,
) -> Path:
    """Draw one figure of a paper table and return the file it was written to.

    Parameters
    ----------
    name : str
        Name of the figure, or of a table with a single one.
    store, recorded, config_dir : Store or bool or str or None
        As for `table`.
    out : str or None, default=None
        File to write, ending in .png, .pdf or .svg; by default NAME.png.

    Raises
    ------
    InputError
        If there is no such figure, a run of it is not done, or the file cannot be written.
    """
    if out is not None:  # before all tables are read
        _check_out(Path(out))
    paper_table, figure = _figure(name, config_dir)
    path = Path(out if out is not None else f"{figure.name}.png")
    _check_out(path)
    write_figure(assembled(paper_table, store, recorded), figure, [path])
    return path


def _check_out(path: Path) -> None:
    check_picture(path)
    check_writable_file("--out", path)


def _figure(name: str, config_dir: str | None) -> tuple[PaperTable, Figure]:
    """Find a figure by its name, or by that of a table which has only this one."""
    figures: dict[str, tuple[PaperTable, Figure]] = {}
    for table_name in table_names(config_dir):
        paper_table = load_table(table_name, config_dir)
        if len(paper_table.figures) == 1:
            figures.setdefault(paper_table.name, (paper_table, paper_table.figures[0]))
        figures |= {figure.name: (paper_table, figure) for figure in paper_table.figures}
    if name not in figures:
        raise unknown("figure", name, figures)
    return figures[name]
