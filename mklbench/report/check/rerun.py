"""Recorded splits are run again in a store, and each is compared with its record.

How the two compare is for `mklbench.report.check.comparison` to say. Of whole tables as many
splits are run as there is time for: one of every position first, then a second one, each from the
cheapest.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from pathlib import Path

from mklbench import __version__, interruption
from mklbench.data import is_at_hand
from mklbench.errors import InputError
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.files import check_directory
from mklbench.experiments.progress import Progress, duration
from mklbench.experiments.provenance import git_revision
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import split_seconds
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.experiments.store import Store
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.check.comparison import Finding, Outcome, choice, judged, passed, told
from mklbench.report.loading import load_table, table_names
from mklbench.report.table.paper_table import PaperTable

# Seconds after which it is looked whether the time is up, and what a split takes beside its record.
_BATCH_SECONDS = 60.0
_EACH_SECONDS = 0.1

# Where what was found goes: beside the recorded results.
REPRODUCED = "results/reproduced"


@dataclass(frozen=True, eq=False)
class Rerun:
    """One recorded split that is to be run again.

    Attributes
    ----------
    label : str
        What it is called in its finding.
    run, record : Run or Record
        The run, and the recorded split.
    selections : mapping of int to Selection
        The recorded selections, where the splits of the run share them and they are not to be
        made again.
    """

    label: str
    run: Run
    record: Record
    selections: Mapping[int, Selection] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Seconds that the split took when it was recorded."""
        return split_seconds(self.record)


def run_again(
    items: Sequence[Rerun], store: Store, executor: Executor, progress: Progress | None = None
) -> dict[Rerun, Finding]:
    """Run splits that the store does not have, and compare each with its record.

    Where cross-validation takes another of two candidates that are as good, the split is run at
    the recorded one and compared there.
    """
    findings, turned = {}, {}
    for item, now in _run(items, store, executor, progress or Progress()).items():
        is_as_good, text = (
            (True, "") if isinstance(now, str) else choice(item.run, now, item.record)
        )
        if not is_as_good:
            findings[item] = Finding(item.label, Outcome.MOVED, text)
        elif text:
            as_recorded = {**(item.record.params or {}), "search.grid": {}}
            at_recorded = Run(item.run.config.with_values(as_recorded))
            turned[Rerun(item.label, at_recorded, item.record)] = item, text
        else:
            findings[item] = _finding(item, now)
    for fixed, now in _run(list(turned), store, executor, Progress()).items():
        item, text = turned[fixed]
        findings[item] = _finding(item, now, text)
    return findings


def _finding(item: Rerun, now: Record | str, turned: str = "") -> Finding:
    """Return how a rerun compares; where there is none, it failed for the reason `now`."""
    if isinstance(now, str):
        return Finding(item.label, Outcome.FAILED, now)
    return Finding(item.label, *judged(item.run, now, item.record, turned))


def _run(
    items: Sequence[Rerun], store: Store, executor: Executor, progress: Progress
) -> dict[Rerun, Record | str]:
    """Run what the store does not have; return the finished splits, or why there is none."""
    missing = [item for item in items if not store.is_done(item.run, item.record.split)]
    errors: dict[str, str] = {}
    steps: list[Step] = []
    executor.prepare([item.run for item in missing], store)
    for item in missing:
        try:
            check_run(item.run, [item.record.split], executor.at_once)
        except InputError as error:
            errors[item.run.key] = str(error)
            continue
        for selected, selection in item.selections.items():
            store.write_selection(item.run, selected, selection)
        found = missing_steps(item.run, store)
        steps += [step for step in found if step.selects or step.split == item.record.split]
    if steps:
        progress.start(steps, len(missing))
        try:
            errors |= executor.run(list(dict.fromkeys(steps)), store, progress)
        finally:
            progress.stop()
    ended: dict[Rerun, Record | str] = {}
    for item in items:
        record = store.record(item.run, item.record.split)
        if record is None or not record.is_done:
            reason = "it ended without a record" if record is None else record.reason
            ended[item] = errors.get(item.run.key, reason)
        else:
            ended[item] = record
    return ended


def recorded_splits(tables: Sequence[tuple[PaperTable, RunFinder]]) -> tuple[list[Rerun], set[str]]:
    """Return the recorded splits of tables in the order in which they are run again.

    A first one of every run comes before a second one, and the cheapest first. The names of the
    data sets that are not at hand come with them: what was run on these is left out.
    """
    absent: set[str] = set()
    by_run: dict[str, list[Rerun]] = {}
    for table, finder in tables:
        for slot in table.slots():
            run = finder.run(slot)
            recorded = finder.source.read(run)
            if recorded.done and not is_at_hand(run.config.data):
                absent.add(run.data)
            elif recorded.done and run.key not in by_run:
                label = f"{table.name}, {' '.join(slot.place)}, split"
                by_run[run.key] = [
                    Rerun(f"{label} {record.split}", run, record, recorded.selections)
                    for record in sorted(recorded.done, key=split_seconds)
                ]
    turns = (filter(None, turn) for turn in zip_longest(*by_run.values()))
    return [item for turn in turns for item in sorted(turn, key=lambda i: i.seconds)], absent


def batches(
    waiting: Sequence[Rerun],
    jobs: int,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[list[Rerun]]:
    """Yield so much work at a time that `clock` is looked at often, until it is `deadline`.

    A batch takes a tenth of what is left by its records, on a machine that may be slower than
    theirs. A split that takes more than a quarter of it is passed over.
    """
    while fits := [
        item for item in waiting if item.seconds + _EACH_SECONDS < (deadline - clock()) / 4
    ]:
        limit = min(_BATCH_SECONDS, (deadline - clock()) / 10)
        ends = accumulate((item.seconds + _EACH_SECONDS) / jobs for item in fits)
        batch = fits[: max(jobs, sum(end < limit for end in ends))]
        yield batch
        waiting = [item for item in waiting if item not in batch]


def confirm(
    names: Sequence[str] = (),
    *,
    minutes: float,
    jobs: int = 1,
    results_dir: str = REPRODUCED,
    config_dir: str | None = None,
) -> int:
    """Run recorded splits of whole tables again, and say what they confirm.

    Parameters
    ----------
    names, config_dir
        As for `mklbench.commands.reproduce.reproduce`.
    minutes : float
        Of wall clock that the whole may take.
    jobs : int, default=1
        Worker processes.
    results_dir : str, default="results/reproduced"
        Where the fresh splits are kept, in ``store``.

    Returns
    -------
    0 when no number has moved and no rerun failed, else 1.

    Raises
    ------
    InputError
        If a table is not known or has no records, or something cannot be written.
    """
    deadline = time.monotonic() + 60.0 * minutes
    check_directory("--out-dir", results_dir, writable=True)
    named = dict.fromkeys(names or table_names(config_dir))
    tables = [
        (table, RunFinder(recorded_source(table)))
        for table in (load_table(name, config_dir) for name in named)
    ]
    # What another revision has made says nothing of this one.
    store = Store(Path(results_dir) / "store" / (git_revision() or __version__))
    waiting, absent = recorded_splits(tables)
    done = [item for item in waiting if store.is_done(item.run, item.record.split)]
    kept = f"fresh splits are kept in {store.path}; the same command goes on from there."
    with interruption.saying(kept):
        findings = run_again(done, store, Local(jobs))
        waiting = [item for item in waiting if item not in findings]
        for batch in batches(waiting, jobs, deadline):
            findings |= run_again(batch, store, Local(jobs))
            outcomes = [finding.outcome for finding in findings.values()]
            print(
                f"{outcomes.count(Outcome.SAME)} splits agree with their records, "
                f"{outcomes.count(Outcome.MOVED)} moved; {duration(deadline - time.monotonic())} "
                "left",
                file=sys.stderr,
                flush=True,
            )
    moved, same = (
        {item.run.key for item, finding in findings.items() if finding.outcome is outcome}
        for outcome in (Outcome.MOVED, Outcome.SAME)
    )
    print(
        f"{len(findings)} splits were run again: {len(same - moved)} runs are confirmed here, and "
        f"{len(moved)} moved."
    )
    for line in told(findings.values()):
        print(line)
    if absent:
        left_out = ", ".join(sorted(absent))
        print(f"Left out, as the data are not at hand (mklbench data fetch NAME): {left_out}.")
    print(f"The {kept}")
    return 0 if passed(findings.values(), Outcome.ELSEWHERE) else 1
