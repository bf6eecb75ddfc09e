"""``mklbench table``: a paper table from what has been run."""

from __future__ import annotations

from pathlib import Path

from mklbench.errors import unknown
from mklbench.experiments.files import check_writable_file
from mklbench.experiments.store import Store
from mklbench.report.formats import FORMATS, render
from mklbench.report.loading import load_table
from mklbench.report.output import write_result
from mklbench.report.results import assembled, recorded_text
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
    """Return a paper table from what has been run, and write it to a file if one is named.

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
        If there is no such table, position or format, or the file cannot be written.
    """
    if fmt not in FORMATS:
        raise unknown("format", fmt, FORMATS)
    if out is not None:
        check_writable_file("--out", out)
    paper_table = load_table(name, config_dir)
    if recorded and not selection:
        text = recorded_text(paper_table, fmt, whole=whole)
    else:
        report = assembled(paper_table, store, recorded, selection)
        text = render(report, fmt, whole=whole)
    if out is not None:
        write_result(Path(out), text.encode())
    elif fmt == "md" and not whole and not selection:
        source = " --recorded" if recorded else ""
        text += f"\nWhat was tried beyond it: mklbench table {name}{source} --all"
    return text.rstrip("\n")
