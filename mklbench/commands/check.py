"""``mklbench check``: recorded splits are run again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mklbench import resources
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import progress
from mklbench.report.analysis.places import check_records
from mklbench.report.check import algorithms, published
from mklbench.report.check.config import load_check


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
    chosen = executor or Local(jobs)
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


def _with_records(results_dir: str | None) -> Path:
    """Return the recorded results, with the records behind the tables."""
    if results_dir is not None:
        return Path(results_dir)
    check_records()
    return resources.recorded_results()


def _scratch(executor: Executor) -> str | None:
    """Return where reruns are kept meanwhile: here, where other machines see it, or None."""
    return None if executor.at_once else str(Path.cwd())
