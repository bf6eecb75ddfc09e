"""``mklbench reproduce --minutes``: recorded splits are run again and compared."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from mklbench import __version__, interruption
from mklbench.experiments.execution.local import Local
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import countdown, counting
from mklbench.experiments.provenance import git_revision
from mklbench.experiments.store import Store
from mklbench.report.analysis.places import CellFinder, recorded_source
from mklbench.report.check.comparison import Outcome, passed, unexpected
from mklbench.report.check.rerun import TablesAgain
from mklbench.report.formats import write_result
from mklbench.report.loading import load_table, table_names

# Where what was found goes: beside the recorded results.
REPRODUCED = "results/reproduced"


def confirm(
    names: Sequence[str] = (),
    *,
    minutes: float,
    jobs: int = 1,
    results_dir: str = REPRODUCED,
    config_dir: str | None = None,
) -> int:
    """Run recorded splits of whole tables again, and write which positions they confirm.

    Parameters
    ----------
    names, config_dir
        As for `reproduce`.
    minutes : float
        Of wall clock that the whole may take.
    jobs : int, default=1
        Worker processes.
    results_dir : str, default="results/reproduced"
        Where ``positions.csv`` is written, and the fresh splits are kept in ``store``.

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
    # What another revision has made says nothing of this one.
    store = Store(Path(results_dir) / "store" / (git_revision() or __version__))
    again = TablesAgain(tables)
    left = max(deadline - time.monotonic(), 0.0)
    kept = f"fresh splits are kept in {store.path}; the same command goes on from there."
    with interruption.saying(lambda: kept), countdown(left) as say:
        again.run(store, Local(jobs), deadline, say)
    positions = again.positions()
    path = Path(results_dir) / "positions.csv"
    write_result(path, positions.to_csv(index=False).encode())
    n_confirmed = int(((positions.confirmed > 0) & (positions.moved == 0)).sum())
    print(
        f"{len(again.findings)} splits were run again. Of {len(positions)} recorded positions "
        f"{n_confirmed} are confirmed here, and {int((positions.moved > 0).sum())} moved."
    )
    for line in unexpected(again.findings.values()):
        print(line)
    if again.absent:
        absent = ", ".join(sorted(again.absent))
        print(f"Left out, as the data are not at hand (mklbench data fetch NAME): {absent}.")
    print(f"How many splits confirm each position stands in {path}; {kept}")
    return 0 if passed(again.findings.values(), Outcome.ELSEWHERE) else 1
