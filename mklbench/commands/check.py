"""``mklbench check``: recorded splits are run again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.files import check_directory
from mklbench.experiments.progress import progress
from mklbench.report.analysis.places import check_records
from mklbench.report.check import recorded as kept
from mklbench.report.check.comparison import check_passed, describe


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
