"""``mklbench check``: recorded splits are run again and compared."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mklbench import interruption, resources
from mklbench.experiments.execution.plan import Executor, local
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import counting, progress
from mklbench.report.analysis.confirmed import Confirmed
from mklbench.report.analysis.places import check_records
from mklbench.report.check import algorithms, published, rerun
from mklbench.report.check.config import load_check
from mklbench.report.loading import load_table, table_names


def check(
    names: Sequence[str] = (),
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    results_dir: str | None = None,
) -> int:
    """Run a few recorded splits again and compare; compare the verdicts with the tables.

    Parameters
    ----------
    names : sequence of str, default=()
        Tables whose cells are checked; none means all that the check names.
    jobs : int, default=1
        Worker processes.
    executor : Executor or None, default=None
        Takes the steps in place of the local one.
    results_dir : str or None, default=None
        The recorded results; None for those that come with the program.

    Returns
    -------
    0 when all that could be checked is as recorded; 1 when a number moved, a cell failed or is
    not recorded, or no cell could be run.

    Raises
    ------
    InputError
        If there is nothing recorded to check against, or no cell of a table is to be checked.
    """
    recorded = resources.recorded_results() if results_dir is None else Path(results_dir)
    config = load_check().restricted_to(names)
    verdicts = published.check_verdicts(config.tables, recorded)
    chosen = executor or local(jobs)
    listed = published.recorded_cells(config, recorded)
    if not names:
        listed += algorithms.recorded_cells(config, recorded)
    again = published.check_again(
        listed, executor=chosen, scratch=_scratch(chosen), progress=progress("auto")
    )
    print(published.describe(again, verdicts))
    return 0 if published.passed(again, verdicts) else 1


def record(*, jobs: int = 1, results_dir: str | None = None) -> int:
    """Write the records that the check compares with.

    They are copied from those of the tables; of each algorithm that no cell of the check has, one
    cheap cell is run.

    Parameters
    ----------
    jobs : int
        Worker processes.
    results_dir : str, optional
        The recorded results; those that come with the program if not given.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        If a table has no records, a cell fails, or what it gives cannot be written.
    """
    recorded = _with_records(results_dir)
    check_writable_directory("--recorded", recorded / "records")
    config = load_check()
    n_splits = published.record(config, recorded)
    print(f"Copied to {published.records_of(recorded)}: {n_splits} splits of the tables")
    names = algorithms.record(config, recorded, jobs=jobs)
    path = algorithms.records_of(recorded)
    print(f"Recorded in {path}: {', '.join(names)}" if names else "There is nothing else to do.")
    return 0


def check_all(
    names: Sequence[str] = (),
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    minutes: float | None = None,
    results_dir: str | None = None,
) -> int:
    """Run one split again of every recorded cell that was measured by other sources; compare.

    What is found is kept beside the records as it is found: an interrupted check goes on, and
    what is confirmed is not run again until the sources, the numbers or the version change.

    Parameters
    ----------
    names : sequence of str, default=()
        Tables whose cells are checked; none means all.
    jobs : int, default=1
        Worker processes.
    executor : Executor or None, default=None
        Takes the steps in place of the local one.
    minutes : float or None, default=None
        When to stop; None for no limit.
    results_dir : str or None, default=None
        The recorded results; None for those that come with the program.

    Returns
    -------
    0 when no number has moved and no rerun failed, else 1.

    Raises
    ------
    InputError
        If a table is not known, what is found cannot be written, or the records are not here.
    """
    recorded = _with_records(results_dir)
    tables = [load_table(name) for name in dict.fromkeys(names or table_names())]
    check_writable_directory("--recorded", recorded / "records")
    confirmed = Confirmed(recorded / "records")
    with counting(tables, "Reading the tables") as counted:
        listed = rerun.reruns(counted, recorded / "records", confirmed)
    print(rerun.describe_plan(listed, jobs), flush=True)
    chosen = executor or local(jobs)
    kept = f"what was found is kept in {confirmed.path}; the same command goes on from there."
    with interruption.saying(lambda: kept):
        findings = rerun.check_all(
            listed,
            confirmed,
            executor=chosen,
            scratch=_scratch(chosen),
            seconds=None if minutes is None else 60.0 * minutes,
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
    print(rerun.describe(findings))
    return 0 if rerun.passed(findings) else 1


def _with_records(results_dir: str | None) -> Path:
    """Return the recorded results, with the records behind the tables."""
    if results_dir is not None:
        return Path(results_dir)
    check_records()
    return resources.recorded_results()


def _scratch(executor: Executor) -> str | None:
    """Return where reruns are kept meanwhile: here, where other machines see it, or None."""
    return None if executor.at_once else str(Path.cwd())
