"""``mklbench reproduce`` and ``check``: what the tables need is run, or run again and compared."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mklbench import resources
from mklbench.commands.run import run_missing
from mklbench.errors import InputError
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.files import check_directory
from mklbench.experiments.progress import progress
from mklbench.experiments.records import Layers, RecordFile, record_path, write_sums
from mklbench.experiments.store import Store, copy_records
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.estimate import describe_work, estimate_text, outstanding_work
from mklbench.report.analysis.places import RunFinder, check_records
from mklbench.report.check import recorded as kept
from mklbench.report.check.comparison import check_passed, describe
from mklbench.report.check.rerun import REPRODUCED, confirm
from mklbench.report.formats import render
from mklbench.report.loading import load_table, table_names
from mklbench.report.results import write_results
from mklbench.report.site.content import run_command
from mklbench.report.table.paper_table import PaperTable
from mklbench.report.table.part import WHOLE, TableSelection, first_splits, part_of


def reproduce(
    names: Sequence[str] = (),
    *,
    store: Store,
    jobs: int = 1,
    dry_run: bool = False,
    from_records: bool = False,
    write_only: bool = False,
    minutes: float | None = None,
    positions: bool = False,
    results_dir: str | None = None,
    config_dir: str | None = None,
    executor: Executor | None = None,
    selection: TableSelection = WHOLE,
) -> int:
    """Run what is missing of the paper tables and write them with figures and records.

    Everything is measured anew, but for what the store has, unless `from_records` is given. Of a
    part of the tables the numbers are printed beside the published ones, and nothing is written.

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
        `results_dir`, of runs that have not changed since; so a run goes on on another machine.
    write_only : bool, default=False
        Run nothing, and write the tables and records of what is finished, in the store or else in
        the records of `results_dir`; also while another process runs them. Records to which the
        store adds nothing stay as they are, to the byte.
    minutes : float or None, default=None
        Repeat recorded splits for so long instead, see `confirm`.
    positions : bool, default=False
        Print the positions instead, see `print_positions`.
    results_dir : str or None, default=None
        Where ``tables``, ``figures`` and ``records`` are written; None is ``results``, and with
        `minutes` ``results/reproduced``.
    config_dir : str or None, default=None
        As for `table`.
    executor : Executor or None, default=None
        Takes the steps in place of the local one.
    selection : TableSelection, default=WHOLE
        The positions, and how many of their splits.

    Returns
    -------
    0 when every run is done, else 1.

    Raises
    ------
    InputError
        If a table or position is not known, or something cannot be written.
    """
    if minutes is not None:
        if selection or from_records or executor is not None:
            raise InputError(
                f"--minutes {minutes:g} repeats whole tables on this machine: leave out positions, "
                "--splits, --from-records and executor."
            )
        place = results_dir or REPRODUCED
        return confirm(names, minutes=minutes, jobs=jobs, results_dir=place, config_dir=config_dir)
    results_dir = results_dir or "results"
    if positions:
        return print_positions(names, selection, results_dir, config_dir)
    store.check()
    results = Path(results_dir)
    tables = _tables(names, selection, config_dir)
    takes_over = from_records or write_only
    taken_over = _record_files(results / "records", tables) if takes_over else {}
    finders = [
        RunFinder(store, recorded=taken_over.get(table.name), n_splits=selection.n_splits)
        for table in tables
    ]
    found = list(zip(tables, finders, strict=True))
    runs = [finder.run(slot) for table, finder in found for slot in table.slots()]
    if dry_run:
        source = Layers([store, *taken_over.values()])
        recorded = _measured_before(results, tables)
        print(describe_work(outstanding_work(runs, source, recorded), jobs))
        return 0
    if not selection:
        check_directory("--out-dir", results_dir, writable=True)  # before hours of work, not after
    if not write_only:
        for file in taken_over.values():
            n_splits = copy_records(runs, file, store)
            print(f"{n_splits} finished splits taken over from {file.path}", flush=True)
        for one in run_missing(runs, store, executor or Local(jobs)):
            if one.error is not None:
                print(f"mklbench: error: {one.run.label}: {one.error}", file=sys.stderr)
    if selection:
        reports = [assemble(table, finder) for table, finder in found]
    else:
        reports = [_write(table, finder, store, results) for table, finder in found]
        write_sums(results / "records")
    for report in reports:
        shown = render(report, "md") if selection else _outcome(report, results)
        rest = [f"  {' '.join(slot.place)}: {of.state}" for slot, of in report.unfinished]
        print("\n".join([shown, *rest]))
    if selection:
        print(f"This is a part: {results / 'tables'} has whole tables and was not written.")
    return 1 if any(report.unfinished for report in reports) else 0


def print_positions(
    names: Sequence[str], selection: TableSelection, results_dir: str, config_dir: str | None = None
) -> int:
    """Print the positions of tables, each with its time on one core and the command that runs it.

    Parameters
    ----------
    names, selection, results_dir, config_dir
        As of `reproduce`; times are those of the records.

    Returns
    -------
    0, the exit status.

    Raises
    ------
    InputError
        If a table or position is not known.
    """
    from tabulate import tabulate

    tables = _tables(names, selection, config_dir)
    recorded = _measured_before(Path(results_dir), tables)
    headings = ["row", "column", "protocol", "its label", "on one core", "command"]
    for table in tables:
        finder = RunFinder(Layers([]), n_splits=selection.n_splits)
        lines = []
        for slot in table.slots():
            run = finder.run(slot)
            [work] = outstanding_work([run], finder.source, recorded)
            asked = slot if selection.n_splits is None else first_splits(slot, run.n_splits)
            command = run_command(asked, run.config.search.grid)
            lines.append([*slot.place, slot.protocol.label, estimate_text(work), command])
        print(f"{table.name}: {table.title}\n")
        print(f"{tabulate(lines, headings, disable_numparse=True)}\n")
    return 0


def _tables(
    names: Sequence[str], selection: TableSelection, config_dir: str | None
) -> list[PaperTable]:
    """Return what is selected of the tables that are named, or of all."""
    if selection.given and not names:
        what, text = next(iter(selection.given.items()))
        raise InputError(f"--{what} {text} needs a table: mklbench reproduce TABLE --{what} ...")
    named = dict.fromkeys(names or table_names(config_dir))
    return [part_of(load_table(name, config_dir), selection) for name in named]


def _measured_before(results: Path, tables: Sequence[PaperTable]) -> list[RecordFile]:
    """Return the records below `results` and with the program, which have times."""
    places = dict.fromkeys([results.resolve(), resources.recorded_results()])
    return [file for at in places for file in _record_files(at / "records", tables).values()]


def _record_files(directory: Path, tables: Sequence[PaperTable]) -> dict[str, RecordFile]:
    """Return the records in `directory` of those tables that have any, by table."""
    paths = {table.name: record_path(directory, table.name) for table in tables}
    return {name: RecordFile(path) for name, path in paths.items() if path.is_file()}


def _write(table: PaperTable, finder: RunFinder, store: Store, results: Path) -> Report:
    """Write a table; its records stay as they are where the store has nothing to add to them."""
    has_records = finder.recorded is not None and not any(
        store.read(run).records for run in finder.runs(table.slots())
    )
    return write_results(table, finder, results, has_records=has_records)


def _outcome(report: Report, results: Path) -> str:
    """Say where a table was written, and how many of its runs are done."""
    n_runs = len(report.slots)
    return (
        f"{report.table.name}: {n_runs - len(report.unfinished)} of {n_runs} runs done, "
        f"written to {results / 'tables' / report.table.name}.md and .csv"
    )


def check(
    names: Sequence[str] = (),
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    record: bool = False,
    results_dir: str | None = None,
) -> int:
    """Run a few recorded splits again and compare; compare the verdicts with the tables.

    Parameters
    ----------
    names : sequence of str, default=()
        Tables whose runs are checked; none means all that the check names.
    jobs : int, default=1
        Worker processes.
    executor : Executor or None, default=None
        Takes the steps in place of the local one.
    record : bool, default=False
        Write what the check compares with instead, see `write_records`.
    results_dir : str or None, default=None
        The recorded results; None for those that come with the program.

    Returns
    -------
    0 when all that could be checked is as recorded; 1 when a number moved, a run failed or is
    not recorded, or no run could be made.

    Raises
    ------
    InputError
        If there is nothing recorded to check against, or no run of a table is to be checked.
    """
    recorded = resources.recorded_results() if results_dir is None else Path(results_dir)
    if record:
        if names or executor is not None:
            raise InputError(
                "--record writes all that the check compares with: leave tables and executors out."
            )
        if results_dir is None:
            check_records()
        write_records(recorded, jobs)
        return 0
    runs = kept.load_check(tables=names)
    tables = dict.fromkeys(run.table for run in runs)
    verdicts = [kept.check_verdicts(name, recorded) for name in tables]
    chosen = executor or Local(jobs)
    listed = kept.recorded_runs(runs, recorded, also_unlisted=not names)
    # Other machines see what is kept here.
    scratch = None if chosen.at_once else str(Path.cwd())
    again = kept.check_again(listed, chosen, scratch=scratch, progress=progress("auto"))
    print(describe(again, verdicts))
    return 0 if check_passed(again, verdicts) else 1


def write_records(recorded: Path, jobs: int = 1) -> None:
    """Write the records that the check compares with.

    They are copied from those of the tables; of each algorithm and kernel that no run of the check
    has, one cheap split is run.

    Parameters
    ----------
    recorded : Path
        Directory of the recorded results.
    jobs : int, default=1
        Worker processes.

    Raises
    ------
    InputError
        If a table has no records, a run fails, or what it gives cannot be written.
    """
    check_directory("--recorded", recorded, writable=True)
    names = kept.record_runs(kept.load_check(), recorded, jobs=jobs)
    print(f"Wrote {kept.records_of(recorded)}; newly run: {', '.join(names) or 'nothing'}")
