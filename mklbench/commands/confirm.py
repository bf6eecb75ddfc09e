"""``mklbench reproduce --minutes``: recorded splits are run again, and the tables say which."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from mklbench import interruption
from mklbench.experiments.execution.local import Local
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import countdown, counting
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.places import CellFinder, recorded_source
from mklbench.report.check.afresh import Afresh
from mklbench.report.loading import load_table, table_names
from mklbench.report.results import recorded_figures, write_tables

# Where the marked tables go: beside the recorded ones.
REPRODUCED = "results/reproduced"


def confirm(
    names: Sequence[str] = (),
    *,
    minutes: float,
    jobs: int = 1,
    results_dir: str = REPRODUCED,
    config_dir: str | None = None,
) -> int:
    """Run recorded splits of whole tables again, and write the tables with what became of them.

    Parameters
    ----------
    names, config_dir
        As for `reproduce`.
    minutes : float
        Of wall clock that the whole may take.
    jobs : int, default=1
        Worker processes.
    results_dir : str, default="results/reproduced"
        Where ``tables`` are written, and the fresh splits are kept in ``store``.

    Returns
    -------
    0 when no number has moved and no rerun failed, else 1.

    Raises
    ------
    InputError
        If a table is not known or has no records, or something cannot be written.
    """
    deadline = time.monotonic() + 60.0 * minutes
    check_writable_directory("--out-dir", results_dir)
    named = dict.fromkeys(names or table_names(config_dir))
    with counting(list(named), "Reading the tables") as counted:
        tables = [
            (table, CellFinder(recorded_source(table)))
            for table in (load_table(name, config_dir) for name in counted)
        ]
    store, executor = Store(Path(results_dir) / "store"), Local(jobs)
    afresh = Afresh(tables, store)
    afresh.recall(executor)
    reports = [assemble(table, finder) for table, finder in tables]
    started = time.monotonic()
    _write_marked(reports, afresh, Path(results_dir) / "tables")
    # At the end the same is written, in half of the time, as the tests of ranks are known then.
    deadline -= 0.5 * (time.monotonic() - started)
    print(afresh.describe_work(jobs), flush=True)
    kept = f"fresh splits are kept in {store.path}; the same command goes on from there."
    left = max(deadline - time.monotonic(), 0.0)
    with interruption.saying(lambda: kept), countdown(left) as say:
        afresh.run(executor, deadline, say)
    _write_marked(reports, afresh, Path(results_dir) / "tables")
    print(afresh.describe())
    if afresh.absent:
        absent = ", ".join(sorted(afresh.absent))
        print(f"Left out, as the data are not at hand (mklbench data fetch NAME): {absent}.")
    print(f"The tables, with a mark at each number, are in {Path(results_dir) / 'tables'}; {kept}")
    return 0 if afresh.passed else 1


def _write_marked(reports: Sequence[Report], afresh: Afresh, directory: Path) -> None:
    """Write tables with a mark at each number, and the recorded figures in them."""
    for report in reports:
        write_tables(afresh.marked(report), recorded_figures(report.table), directory)
