"""Assembling a table from a store and writing all that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mklbench import resources
from mklbench.errors import DataError
from mklbench.experiments.records import export_records, record_path
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.candidate import scores_path, to_scores
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.document import to_html
from mklbench.report.figures.draw import unfinished_runs, write_figure
from mklbench.report.formats import render, write_result
from mklbench.report.layout.page import first_part
from mklbench.report.table.paper_table import PaperTable
from mklbench.report.table.part import WHOLE, TableSelection, part_of


def write_results(
    table: PaperTable, finder: RunFinder, results: Path, *, has_records: bool = False
) -> Report:
    """Write tables, figures and records of `table` below `results`.

    The files are ``tables/NAME.{md,csv}``, ``figures/FIGURE.{png,pdf}`` for every figure
    whose runs are done, ``records/NAME.jsonl``, or ``.jsonl.xz`` where there is one, and, where
    methods are ranked, ``scores/NAME.csv``. Each is replaced as a whole, but for the records, and
    the figures that are not drawn from them, where `has_records` says that they are there already.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    report = assemble(table, finder)
    if not has_records:
        records = record_path(results / "records", table.name)
        records.parent.mkdir(parents=True, exist_ok=True)
        export_records(finder.runs(table.slots()), finder.source, records)
    figures = write_figures(report, results / "figures", of_records=has_records)
    for fmt in ("md", "csv"):
        text = render(report, fmt, figures, results / "tables")
        write_result(results / "tables" / f"{table.name}.{fmt}", text.encode())
    if table.ranking is not None:
        write_result(scores_path(results, table.name), to_scores(report).encode())
    return report


def write_figures(
    report: Report,
    directory: Path,
    endings: Sequence[str] = ("png", "pdf"),
    *,
    of_records: bool = False,
) -> dict[str, Path]:
    """Draw the figures whose runs are done, or whose data are at hand where they need these.

    With `of_records` only those are drawn that need no data; of the others what is there is kept.

    Returns by its name the file of each that has the first of the `endings`.
    """
    drawn = {}
    for figure in report.table.figures:
        paths = [directory / f"{figure.name}.{ending}" for ending in endings]
        if of_records and not figure.of_records:
            if paths[0].is_file():
                drawn[figure.name] = paths[0]
        elif not unfinished_runs(report, figure):
            with suppress(DataError):
                write_figure(report, figure, paths)
                drawn[figure.name] = paths[0]
    return drawn


def recorded_figures(table: PaperTable) -> dict[str, Path]:
    """Return the recorded pictures of the figures by their names."""
    directory = resources.recorded_results() / "figures"
    paths = {figure.name: directory / f"{figure.name}.png" for figure in table.figures}
    return {name: path for name, path in paths.items() if path.is_file()}


def assembled(table: PaperTable, store: Store | None, selection: TableSelection = WHOLE) -> Report:
    """Return the report of `table`, or of a part, from the store, or from what was recorded."""
    if store is not None:
        store.check()
    finder = RunFinder(recorded_source(table) if store is None else store)
    return assemble(part_of(table, selection), finder)


def table_text(
    table: PaperTable,
    fmt: str,
    store: Store | None,
    selection: TableSelection = WHOLE,
    *,
    whole: bool = True,
) -> str:
    """Return a table, or a part of it, in a format.

    What was recorded is read from its file, or else rendered from the records.

    Parameters
    ----------
    table : PaperTable
        The table.
    fmt, whole : str and bool
        As of `mklbench.report.formats.render`.
    store : Store or None
        Where the records are; None for what was recorded with the program.
    selection : TableSelection, default=WHOLE
        The part.

    Raises
    ------
    InputError
        If there are no such records.
    """
    ending = "md" if fmt == "html" else fmt
    path = resources.recorded_results() / "tables" / f"{table.name}.{ending}"
    if store is None and not selection and path.is_file():
        text = path.read_text(encoding="utf-8")
        text = first_part(text) if ending == "md" and not whole else text
        return to_html(text, path.parent) if fmt == "html" else text
    figures = recorded_figures(table) if store is None else None
    return render(assembled(table, store, selection), fmt, figures, whole=whole)
