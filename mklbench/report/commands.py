"""What the commands `table`, `plot`, `reproduce` and `check` do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mklbench import interruption
from mklbench.errors import InputError, unknown
from mklbench.experiments.cell import Cell
from mklbench.experiments.executor import run_cells
from mklbench.experiments.files import check_writable_directory, check_writable_file
from mklbench.experiments.progress import counting, progress
from mklbench.experiments.records import Layers, RecordFile
from mklbench.experiments.store import Store, copy_records
from mklbench.report import regression, rerun
from mklbench.report.assemble import Report, assemble
from mklbench.report.cells import CellFinder, recorded_results, recorded_source
from mklbench.report.check_config import load_check
from mklbench.report.confirmed import Confirmed
from mklbench.report.estimate import describe_work, outstanding_work
from mklbench.report.figures import check_picture, write_figure
from mklbench.report.files import write_result
from mklbench.report.paper_table import Figure, PaperTable
from mklbench.report.table_loading import load_table, table_names
from mklbench.report.writing import FORMATS, render, write_results


def table(
    name: str,
    *,
    store: Store,
    fmt: str = "md",
    out: str | None = None,
    recorded: bool = False,
    config_dir: str | None = None,
) -> str:
    """Return a paper table from what has been run, and write it to a file if one is named.

    Parameters
    ----------
    name : name of the table.
    store : where the records are looked up.
    fmt : "md", "csv" or "html".
    out : file to write.
    recorded : use the recorded results that come with the program instead of the store.
    config_dir : a directory of the user's own configs, with tables of their own in ``table/``.

    Raises
    ------
    InputError
        If there is no such table or format, or the file cannot be written.
    """
    if fmt not in FORMATS:
        raise unknown("format", fmt, FORMATS)
    if out is not None:
        check_writable_file("--out", out)
    report = _assembled(load_table(name, config_dir), store, recorded)
    path = None if out is None else Path(out)
    text = render(report, fmt, {}, None if path is None else path.parent)
    if path is not None:
        write_result(path, text.encode())
    return text.rstrip("\n")


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
    name : name of the figure, or of a table with a single one.
    store, recorded, config_dir : as for `table`.
    out : file to write, ending in .png, .pdf or .svg; by default NAME.png.

    Raises
    ------
    InputError
        If there is no such figure, a cell of it is not done, or the file cannot be written.
    """
    paper_table, figure = _figure(name, config_dir)
    path = Path(out if out is not None else f"{figure.name}.png")
    check_picture(path)
    check_writable_file("--out", path)
    write_figure(_assembled(paper_table, store, recorded), figure, [path])
    return path


def reproduce(
    names: Sequence[str] = (),
    *,
    store: Store,
    jobs: int = 1,
    dry_run: bool = False,
    from_records: bool = False,
    write_only: bool = False,
    results_dir: str = "results",
    timeout: float | None = None,
    config_dir: str | None = None,
) -> int:
    """Run what is missing of the paper tables and write them with figures and records.

    Everything is measured anew, but for what the store has, unless `from_records` is given.

    Parameters
    ----------
    names : names of tables; none means all.
    store : where records are kept.
    jobs : worker processes.
    dry_run : only say what would be run and how long that may take.
    from_records : first take the finished splits over into the store that are recorded in
        `results_dir`, of cells that have not changed since; so a run goes on on another machine.
    write_only : run nothing, and write the tables and records of what is finished; also while
        another process runs them.
    results_dir : where ``tables``, ``figures`` and ``records`` are written.
    timeout : seconds of computing a cell may take; None for no limit.
    config_dir : as for `table`.

    Returns
    -------
    0 when every cell is done, else 1.

    Raises
    ------
    InputError
        If a table is not known, something cannot be written, or `write_only` would put fewer
        finished splits in the place of more.
    """
    store.check()
    chosen = dict.fromkeys(names or table_names(config_dir))
    tables = [load_table(name, config_dir) for name in chosen]
    earlier = _record_files(Path(results_dir) / "records", tables)
    taken_over = earlier if from_records else {}
    download = not (dry_run or write_only)
    confirmed = Confirmed(Path(results_dir) / "records")
    finders = {
        table.name: CellFinder(
            store, recorded=taken_over.get(table.name), download=download, confirmed=confirmed
        )
        for table in tables
    }
    places = [(finders[table.name], slot) for table in tables for slot in table.slots()]
    with counting(places, "Reading the tables") as counted:
        cells = [finder.cell(slot) for finder, slot in counted]
    if dry_run:
        shipped = _record_files(recorded_results() / "records", tables)
        recorded = [*earlier.values(), *shipped.values()]
        work = outstanding_work(cells, Layers([store, *taken_over.values()]), recorded)
        print(describe_work(work, jobs))
        return 0
    check_writable_directory("--out-dir", results_dir)  # before hours of work, not after
    for source in taken_over.values():
        n_splits = copy_records(cells, source, store)
        print(f"{n_splits} finished splits taken over from {source.path}", flush=True)
    if write_only:
        for source in earlier.values():
            _check_nothing_is_lost(cells, source, store)
    else:
        _run(cells, store, jobs, timeout)
    reports = [write_results(table, finders[table.name], Path(results_dir)) for table in tables]
    for report in reports:
        print(_outcome(report, Path(results_dir)))
    return 1 if any(report.unfinished for report in reports) else 0


def check(names: Sequence[str] = (), *, jobs: int = 1, results_dir: str | None = None) -> int:
    """Run a few recorded splits again and compare; compare the verdicts with the tables.

    Parameters
    ----------
    names : tables whose cells are checked; none means all that the check names.
    jobs : worker processes.
    results_dir : the recorded results; None for those that come with the program.

    Returns
    -------
    0 when all that could be checked is as recorded; 1 when a number moved, a cell failed or is
    not recorded, or no cell could be run.

    Raises
    ------
    InputError
        If there is nothing recorded to check against, or no cell of a table is to be checked.
    """
    recorded = recorded_results() if results_dir is None else Path(results_dir)
    config = load_check().restricted_to(names)
    verdicts = regression.check_verdicts(config.tables, recorded)
    again = regression.check_again(config, recorded, jobs=jobs, progress=progress("auto"))
    print(regression.describe(again, verdicts))
    return 0 if regression.passed(again, verdicts) else 1


def check_all(
    names: Sequence[str] = (),
    *,
    jobs: int = 1,
    minutes: float | None = None,
    results_dir: str | None = None,
) -> int:
    """Run one split again of every recorded cell that was measured by other sources; compare.

    What is found is kept beside the records as it is found: an interrupted check goes on, and
    what is confirmed is not run again until the sources, the numbers or the version change.

    Parameters
    ----------
    names : tables whose cells are checked; none means all.
    jobs : worker processes.
    minutes : when to stop; None for no limit.
    results_dir : the recorded results; None for those that come with the program.

    Returns
    -------
    0 when no number has moved and no rerun failed, else 1.

    Raises
    ------
    InputError
        If a table is not known, or what is found cannot be written.
    """
    recorded = recorded_results() if results_dir is None else Path(results_dir)
    tables = [load_table(name) for name in dict.fromkeys(names or table_names())]
    check_writable_directory("--recorded", recorded / "records")
    confirmed = Confirmed(recorded / "records")
    with counting(tables, "Reading the tables") as counted:
        listed = rerun.reruns(counted, recorded / "records", confirmed)
    print(rerun.describe_plan(listed, jobs), flush=True)
    kept = f"what was found is kept in {confirmed.path}; the same command goes on from there."
    with interruption.saying(lambda: kept):
        findings = rerun.check_all(
            listed,
            load_check(),
            confirmed,
            jobs=jobs,
            seconds=None if minutes is None else 60.0 * minutes,
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
    print(rerun.describe(findings))
    return 0 if rerun.passed(findings) else 1


def _assembled(paper_table: PaperTable, store: Store, recorded: bool) -> Report:
    store.check()
    source = recorded_source(paper_table) if recorded else store
    return assemble(paper_table, CellFinder(source))


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


def _run(cells: Sequence[Cell], store: Store, jobs: int, timeout: float | None) -> None:
    kept = (
        f"finished splits are kept in {store.path}; the same command goes on from there, "
        "and with --write-only it writes what there is."
    )
    with interruption.saying(lambda: kept):
        run_cells(cells, store, jobs=jobs, timeout=timeout, progress=progress("auto"))


def _record_files(directory: Path, tables: Sequence[PaperTable]) -> dict[str, RecordFile]:
    """Return the records in `directory` of those tables that have any, by table."""
    paths = {paper_table.name: directory / f"{paper_table.name}.jsonl" for paper_table in tables}
    return {name: RecordFile(path) for name, path in paths.items() if path.is_file()}


def _check_nothing_is_lost(cells: Sequence[Cell], earlier: RecordFile, store: Store) -> None:
    missing = (
        (earlier.as_recorded(cell), split) for cell in cells for split in store.missing(cell)
    )
    n_lost = sum(earlier.is_done(cell, split) for cell, split in missing)
    if n_lost:
        raise InputError(
            f"--write-only would lose {n_lost} finished splits in {earlier.path} that {store.path} "
            "does not have: add --from-records to take them over, or give another --out-dir."
        )


def _outcome(report: Report, results: Path) -> str:
    """Say in a few lines where a table was written, how it ended and why."""
    n_cells = len(report.slots)
    lines = [
        f"{report.table.name}: {n_cells - len(report.unfinished)} of {n_cells} cells done, "
        f"written to {results / 'tables' / report.table.name}.md, .csv and .html"
    ]
    for slot, found in report.unfinished:
        reason = f": {found.message}" if found.message else ""
        n_done = f"{len(found.done)}/{found.n_splits} splits"
        lines.append(f"  {' '.join(slot.place)}: {found.status}, {n_done}{reason}")
    return "\n".join(lines)
