"""``mklbench table``, ``plot``, ``report`` and ``list``: what has been run, and what there is."""

from __future__ import annotations

import sys
from pathlib import Path

from mklbench import resources, terminal
from mklbench.commands.grammar import LISTS
from mklbench.errors import InputError, check_known
from mklbench.experiments.files import check_writable_file
from mklbench.experiments.store import Store
from mklbench.report.analysis.places import check_records
from mklbench.report.figures.draw import check_picture, write_figure
from mklbench.report.formats import write_result
from mklbench.report.loading import load_table, table_names
from mklbench.report.results import assembled, table_text
from mklbench.report.table.paper_table import Figure, PaperTable
from mklbench.report.table.part import WHOLE, TableSelection


def table(
    name: str,
    *,
    store: Store,
    fmt: str = "md",
    out: str | None = None,
    recorded: bool = False,
    config_dir: str | None = None,
    selection: TableSelection = WHOLE,
    whole: bool = False,
) -> str:
    """Return a paper table from what has been run, or a sentence on where it was written.

    Parameters
    ----------
    name : str
        Name of the table.
    store : Store
        Where the records are looked up.
    fmt : str, default="md"
        One of `mklbench.report.formats`.
    out : str or None, default=None
        File to write.
    recorded : bool, default=False
        Use the recorded results that come with the program instead of the store.
    config_dir : str or None, default=None
        A directory of the user's own configs, with tables of their own in ``table/``.
    selection : TableSelection, default=WHOLE
        The positions to show, beside the published numbers.
    whole : bool, default=False
        Whether to go beyond the paper's table, to all that was tried; CSV always does.

    Raises
    ------
    InputError
        If there is no such table or position, or the file cannot be written.
    """
    if out is not None:
        check_writable_file("--out", out)
    source = None if recorded else store
    text = table_text(load_table(name, config_dir), fmt, source, selection, whole=whole)
    if out is not None:
        write_result(Path(out), text.encode())
        return f"Wrote {out}"
    if fmt == "md" and not whole and not selection:
        option = " --recorded" if recorded else ""
        text += f"\nWhat was tried beyond it: mklbench table {name}{option} --all"
    return text.rstrip()


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
    paper_table, figure = _figure(name, config_dir)
    path = Path(out if out is not None else f"{figure.name}.png")
    check_picture(path)
    check_writable_file("--out", path)
    write_figure(assembled(paper_table, None if recorded else store), figure, [path])
    return path


def _figure(name: str, config_dir: str | None) -> tuple[PaperTable, Figure]:
    """Find a figure by its name, or by that of a table which has only this one."""
    figures: dict[str, tuple[PaperTable, Figure]] = {}
    for paper_table in (load_table(each, config_dir) for each in table_names(config_dir)):
        if len(paper_table.figures) == 1:
            figures.setdefault(paper_table.name, (paper_table, paper_table.figures[0]))
        figures |= {figure.name: (paper_table, figure) for figure in paper_table.figures}
    check_known("figure", [name], figures)
    return figures[name]


def report(out: str, *, results_dir: str | None = None, config_dir: str | None = None) -> Path:
    """Write everything that is recorded as one HTML page, and return its file.

    Parameters
    ----------
    out : str
        File to write.
    results_dir : str or None, default=None
        A store of one's own, which is laid beside the recorded results.
    config_dir : str or None, default=None
        As for `table`.

    Raises
    ------
    InputError
        If the file cannot be written, the store has no records, or those of the tables are not
        here.
    """
    from mklbench.report.site.build import build

    if not out.lower().endswith((".html", ".htm")):
        raise InputError(f"--out {out} is no page: its name must end in .html.")
    check_records()
    check_writable_file("--out", out)
    store = None if results_dir is None else Store(results_dir)
    if store is not None:
        store.check()
        if next(store.all_records(), None) is None:
            raise InputError(
                f"--results-dir {results_dir} has no records: name the results_dir of a run, or "
                "leave it out."
            )
    print("mklbench: reading the records of all tables", file=sys.stderr, flush=True)
    write_result(Path(out), build(store, config_dir).encode())
    return Path(out)


def choices(what: str, config_dir: str | None = None) -> str:
    """Return the choices of "algos", "kernels", "data", ..., one a line with its title."""
    files = resources.choices(LISTS[what], config_dir)
    names = max(map(len, files), default=0)
    lines = []
    for name, path in files.items():
        content = resources.read_yaml(path)
        title = content.get("title", "") if isinstance(content, dict) else ""
        line = f"{name:<{names}}  {title}".rstrip()
        lines.append(terminal.wrapped(line, terminal.width(), indent=names + 2))
    return "\n".join(lines)
