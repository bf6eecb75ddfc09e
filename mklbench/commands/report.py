"""``mklbench report``: everything that is recorded, as one HTML file to be opened from disk."""

from __future__ import annotations

import sys
from pathlib import Path

from mklbench.errors import InputError
from mklbench.experiments.files import check_writable_file
from mklbench.experiments.store import Store
from mklbench.report.analysis.places import check_records
from mklbench.report.output import write_result
from mklbench.report.site.build import build

FILE_NAME = "report.html"


def report(
    out: str = FILE_NAME, *, results_dir: str | None = None, config_dir: str | None = None
) -> Path:
    """Write the report and return its file.

    Parameters
    ----------
    out : str, default="report.html"
        File to write.
    results_dir : str or None, default=None
        A store of one's own, which is laid beside the recorded results.
    config_dir : str or None, default=None
        A directory of the user's own configs, with tables of their own in ``table/``.

    Raises
    ------
    InputError
        If the file cannot be written, the store has no records, or those of the tables are not
        here.
    """
    if not out.lower().endswith((".html", ".htm")):
        raise InputError(f"--out {out} is no page: its name must end in .html.")
    check_records()
    check_writable_file("--out", out)
    store = None if results_dir is None else _store(results_dir)
    page, notes = build(store, config_dir, _say)
    for note in notes:
        _say(note)
    path = Path(out)
    write_result(path, page.encode())
    return path


def _say(text: str) -> None:
    print(f"mklbench: {text}", file=sys.stderr, flush=True)


def _store(results_dir: str) -> Store:
    """Return the store of that name, which has a record at least."""
    store = Store(results_dir)
    store.check()
    if next(store.all_records(), None) is None:
        raise InputError(
            f"--results-dir {results_dir} has no records: name the results_dir of a run, or leave "
            "it out."
        )
    return store
