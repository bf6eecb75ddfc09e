"""``mklbench reproduce``: what the tables need is run, then they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mklbench import interruption, resources
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.estimates import of_program
from mklbench.experiments.execution.plan import Executor, local, run_cells
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import counting, progress
from mklbench.experiments.records import Layers, RecordFile, record_path, write_sums
from mklbench.experiments.store import Store, copy_records
from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.confirmed import Confirmed
from mklbench.report.analysis.estimate import describe_work, outstanding_work
from mklbench.report.analysis.places import CellFinder
from mklbench.report.loading import load_table, table_names
from mklbench.report.results import write_results
from mklbench.report.table.paper_table import PaperTable


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
    executor: Executor | None = None,
) -> int:
    """Run what is missing of the paper tables and write them with figures and records.

    Everything is measured anew, but for what the store has, unless `from_records` is given.

    Parameters
    ----------
    names : sequence of str, default=()
        Names of tables; none means all.
    store : Store
        Where records are kept.
    jobs : int, default=1
        Worker processes.
    dry_run : bool, default=False
        Only say what would be run and how long that may take.
    from_records : bool, default=False
        First take the finished splits over into the store that are recorded in
        `results_dir`, of cells that have not changed since; so a run goes on on another machine.
    write_only : bool, default=False
        Run nothing, and write the tables and records of what is finished; also while
        another process runs them.
    results_dir : str, default="results"
        Where ``tables``, ``figures`` and ``records`` are written.
    timeout : float or None, default=None
        Seconds of computing a cell may take; None for no limit.
    config_dir : str or None, default=None
        As for `table`.
    executor : Executor or None, default=None
        Takes the steps in place of the local one.

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
        recorded = list(earlier.values())
        if Path(results_dir).resolve() != resources.recorded_results():
            recorded += _record_files(resources.recorded_results() / "records", tables).values()
        work = outstanding_work(
            cells,
            Layers([store, *taken_over.values()]),
            recorded,
            lambda: of_program(recorded),
        )
        print(describe_work(work, jobs))
        return 0
    check_writable_directory("--out-dir", results_dir)  # before hours of work, not after
    for source in taken_over.values():
        n_splits = copy_records(cells, source, store)
        print(f"{n_splits} finished splits taken over from {source.path}", flush=True)
    if write_only:
        for source in earlier.values():
            _check_nothing_is_lost(cells, source, store)
        refused: dict[str | None, str] = {}
    else:
        refused = _run(cells, store, executor or local(jobs, timeout))
    reports = [write_results(table, finders[table.name], Path(results_dir)) for table in tables]
    write_sums(Path(results_dir) / "records")
    for report in reports:
        print(_outcome(report, Path(results_dir), refused))
    return 1 if any(report.unfinished for report in reports) else 0


def _run(cells: Sequence[Cell], store: Store, executor: Executor) -> dict[str | None, str]:
    """Run what is missing; return by key the sentences of the cells that were refused."""
    kept = (
        f"finished splits are kept in {store.path}; the same command goes on from there, "
        "and with --write-only it writes what there is."
    )
    with interruption.saying(lambda: kept):
        ended = run_cells(cells, store, executor=executor, progress=progress("auto", store=store))
    refused: dict[str | None, str] = {}
    for one in ended:
        if one.error is not None:
            with suppress(InputError):  # without its data a cell has no key; its place says why
                refused[one.cell.key] = one.error
    return refused


def _record_files(directory: Path, tables: Sequence[PaperTable]) -> dict[str, RecordFile]:
    """Return the records in `directory` of those tables that have any, by table."""
    paths = {table.name: record_path(directory, table.name) for table in tables}
    return {name: RecordFile(path) for name, path in paths.items() if path.is_file()}


def _check_nothing_is_lost(cells: Sequence[Cell], earlier: RecordFile, store: Store) -> None:
    n_lost = 0
    for cell in cells:
        recorded = {record.split for record in earlier.read(earlier.as_recorded(cell)).done}
        n_lost += len(recorded.intersection(store.read(cell).missing))
    if n_lost:
        raise InputError(
            f"--write-only would lose {n_lost} finished splits in {earlier.path} that {store.path} "
            "does not have: add --from-records to take them over, or give another --out-dir."
        )


def _outcome(report: Report, results: Path, refused: Mapping[str | None, str]) -> str:
    """Say in a few lines where a table was written, how it ended and why."""
    n_cells = len(report.slots)
    lines = [
        f"{report.table.name}: {n_cells - len(report.unfinished)} of {n_cells} runs done, "
        f"written to {results / 'tables' / report.table.name}.md, .csv and .html"
    ]
    for slot, found in report.unfinished:
        message = found.message or refused.get(found.key, "")
        reason = f": {message}" if message else ""
        n_done = f"{len(found.done)}/{found.n_splits} splits"
        lines.append(f"  {' '.join(slot.place)}: {found.status}, {n_done}{reason}")
    return "\n".join(lines)
