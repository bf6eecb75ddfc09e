"""What has been measured, as a pandas data frame: `mklbench.records`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from mklbench.errors import InputError, check_known
from mklbench.experiments.rows import Row, frame, record_row, run_rows
from mklbench.experiments.store import Store
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.formats import FORMATS
from mklbench.report.loading import load_table
from mklbench.report.results import table_text

if TYPE_CHECKING:
    from pandas import DataFrame

PLACE = ("row", "column", "protocol")


def records(
    table: str | None = None,
    *,
    store: Path | str | None = None,
    config_dir: str | None = None,
) -> DataFrame:
    """Return what has been measured as a data frame with one row a split.

    Parameters
    ----------
    table : str, optional
        Name of a paper table (``mklbench list tables``). Without `store` its numbers are the
        recorded ones, which takes a checkout.
    store : Path, str or None, default=None
        Directory of records, as in ``mklbench run results_dir=DIR``: what it has of `table`, or
        without a table all that it has.
    config_dir : str, optional
        A directory of your own configs, with tables of your own in ``table/``.

    Returns
    -------
    pandas.DataFrame
        The columns are those of the CSV of ``mklbench run``; of a table `row`, `column` and
        `protocol` come before them, and a split without a record has the status "missing". The
        accuracy and the error are shares, times are seconds, and what is not known is missing.

    Raises
    ------
    InputError
        If there is no such table or store, or the table has no recorded results.

    Examples
    --------
    >>> import mklbench
    >>> splits = mklbench.records("picard2012_table1")
    >>> means = splits.groupby(["row", "column", "protocol"]).accuracy.mean()
    """
    if table is None:
        if store is None:
            raise InputError(
                'records() needs the name of a table, such as "picard2012_table1", or store=DIR, '
                "the results_dir of a run."
            )
        return frame([record_row(record) for record in _existing(store).all_records()])
    paper_table = load_table(table, config_dir)
    finder = RunFinder(recorded_source(paper_table) if store is None else _existing(store))
    rows: list[Row] = []
    for slot in paper_table.slots():
        found = finder(slot)
        place = dict(zip(PLACE, slot.place, strict=True))
        rows += [place | row for row in run_rows(finder.run(slot), found.key, found.records)]
    return frame(rows, before=PLACE)


def table(
    name: str, *, store: Path | str | None = None, config_dir: str | None = None
) -> DataFrame:
    """Return the numbers of a paper table as a data frame with one row a number.

    Parameters
    ----------
    name : str
        Name of the table (``mklbench list tables``).
    store : Path, str or None, default=None
        As in `records`: a directory of records, or None for those recorded with the program.
    config_dir : str or None, default=None
        A directory of your own configs, with tables of your own in ``table/``.

    Returns
    -------
    pandas.DataFrame
        The columns are those of ``mklbench table NAME --format csv``: place and metric, what was
        published and measured, and the verdict.

    Raises
    ------
    InputError
        If there is no such table or store, or the table has no recorded results.

    Examples
    --------
    >>> import mklbench
    >>> numbers = mklbench.table("picard2012_table1")
    >>> wide = numbers.pivot_table("measured_mean", "row", ["column", "metric"])
    """
    from pandas import read_csv

    return read_csv(io.StringIO(rendered(name, "csv", store=store, config_dir=config_dir)))


def rendered(
    name: str,
    fmt: str = "latex",
    *,
    store: Path | str | None = None,
    config_dir: str | None = None,
) -> str:
    r"""Return a paper table as text: "latex", "md", "html" or "csv".

    In LaTeX it is the tables alone, with booktabs and siunitx, to be read by ``\input``.

    Parameters
    ----------
    name : str
        Name of the table (``mklbench list tables``).
    fmt : str, default="latex"
        The format, as in ``mklbench table NAME --format``.
    store, config_dir
        As in `table`.

    Raises
    ------
    InputError
        As in `table`, and for an unknown format.
    """
    check_known("fmt", [fmt], FORMATS)
    return table_text(
        load_table(name, config_dir), fmt, None if store is None else _existing(store)
    )


def _existing(directory: Path | str) -> Store:
    if not Path(directory).is_dir():
        raise InputError(
            f"store={directory} is not a directory: name the results_dir of a run, where its "
            "records are."
        )
    return Store(directory)
