"""``mklbench check``: recorded splits are run again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import progress
from mklbench.report.analysis.places import check_records
from mklbench.report.check.comparison import check_passed, describe
from mklbench.report.check.recorded import (
    algorithm_records,
    check_again,
    check_verdicts,
    load_check,
    record_algorithms,
    record_runs,
    recorded_algorithms,
    recorded_runs,
    records_of,
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
    if record:
        if names or executor is not None:
            raise InputError(
                "--record writes all that the check compares with: leave tables and executors out."
            )
        return write_records(jobs=jobs, results_dir=results_dir)
    recorded = _recorded(results_dir)
    runs = load_check(tables=names)
    verdicts = [check_verdicts(name, recorded) for name in dict.fromkeys(r.table for r in runs)]
    chosen = executor or Local(jobs)
    listed = recorded_runs(runs, recorded)
    if not names:
        listed += recorded_algorithms(runs, recorded)
    # Other machines see what is kept here.
    scratch = None if chosen.at_once else str(Path.cwd())
    again = check_again(listed, chosen, scratch=scratch, progress=progress("auto"))
    print(describe(again, verdicts))
    return 0 if check_passed(again, verdicts) else 1


def write_records(*, jobs: int = 1, results_dir: str | None = None) -> int:
    """Write the records that the check compares with.

    They are copied from those of the tables; of each algorithm that no run of the check has, one
    cheap split is run.

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
        If a table has no records, a run fails, or what it gives cannot be written.
    """
    if results_dir is None:
        check_records()
    recorded = _recorded(results_dir)
    check_writable_directory("--recorded", recorded / "records")
    runs = load_check()
    n_splits = record_runs(runs, recorded)
    print(f"Copied to {records_of(recorded)}: {n_splits} splits of the tables")
    names = record_algorithms(runs, recorded, jobs=jobs)
    path = algorithm_records(recorded)
    print(f"Recorded in {path}: {', '.join(names)}" if names else "There is nothing else to do.")
    return 0


def _recorded(results_dir: str | None) -> Path:
    return resources.recorded_results() if results_dir is None else Path(results_dir)
