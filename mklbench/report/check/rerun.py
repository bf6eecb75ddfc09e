"""Recorded splits are run again in a store, and each is compared with its record.

How the two compare is for `mklbench.report.check.comparison` to say. Of whole tables as many
splits are run as there is time for: one of every position first, then a second one, each from the
cheapest.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from mklbench import __version__, interruption
from mklbench.data import is_at_hand
from mklbench.errors import InputError
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.files import check_writable_directory
from mklbench.experiments.progress import Progress, countdown, counting
from mklbench.experiments.provenance import git_revision
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import split_seconds
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.experiments.store import Store
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.check.comparison import Finding, Outcome, choice, judged, passed, unexpected
from mklbench.report.formats import write_result
from mklbench.report.loading import load_table, table_names
from mklbench.report.table.paper_table import PaperTable

if TYPE_CHECKING:
    from pandas import DataFrame

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
    ended = _run(items, store, executor, progress or Progress())
    findings, turned = {}, {}
    for item, now in ended.items():
        if isinstance(now, str):
            findings[item] = Finding(item.label, Outcome.FAILED, now)
            continue
        is_as_good, text = choice(item.run, now, item.record)
        if not is_as_good:
            findings[item] = Finding(item.label, Outcome.MOVED, text)
        elif text:
            at_recorded = item.run.without_search(item.record.params or {})
            turned[Rerun(item.label, at_recorded, item.record)] = item, text
        else:
            findings[item] = Finding(item.label, *judged(item.run, now, item.record))
    for fixed, now in _run(list(turned), store, executor, Progress()).items():
        item, text = turned[fixed]
        if isinstance(now, str):
            findings[item] = Finding(item.label, Outcome.FAILED, now)
        else:
            findings[item] = Finding(item.label, *judged(item.run, now, item.record, text))
    return findings


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


class TablesAgain:
    """The recorded splits of tables, and what becomes of each where it is run again.

    Attributes
    ----------
    waiting : list of Rerun
        What is still to be run, in this order.
    absent : set of str
        Names of the data sets that are not at hand: what was run on them is left out.
    """

    def __init__(self, tables: Sequence[tuple[PaperTable, RunFinder]]) -> None:
        self.absent: set[str] = set()
        self.findings: dict[Rerun, Finding] = {}
        self._places: list[tuple[str, ...]] = []  # of the recorded positions, with their keys
        by_run: dict[str, list[Rerun]] = {}
        for table, finder in tables:
            for slot in table.slots():
                run = finder.run(slot)
                recorded = finder.source.read(run)
                if not recorded.done:
                    continue
                self._places.append((table.name, *slot.place, run.key))
                if not is_at_hand(run.config.data):
                    self.absent.add(run.data)
                elif run.key not in by_run:
                    label = f"{table.name}, {' '.join(slot.place)}, split"
                    by_run[run.key] = [
                        Rerun(f"{label} {record.split}", run, record, recorded.selections)
                        for record in sorted(recorded.done, key=split_seconds)
                    ]
        turns = zip_longest(*by_run.values())
        self.waiting = [
            item for turn in turns for item in sorted(filter(None, turn), key=lambda i: i.seconds)
        ]

    def run(
        self, store: Store, executor: Executor, deadline: float, say: Callable[[str], object]
    ) -> None:
        """Judge what the store has, and run what ends before `deadline` (by `time.monotonic`)."""
        done = [item for item in self.waiting if store.is_done(item.run, item.record.split)]
        self.findings |= run_again(done, store, executor)
        self.waiting = [item for item in self.waiting if item not in self.findings]
        for batch in batches(self.waiting, executor.at_once, deadline):
            self.findings |= run_again(batch, store, executor)
            counts = Counter(finding.outcome for finding in self.findings.values())
            say(f"{counts[Outcome.SAME]} splits agree with their records, "
                f"{counts[Outcome.MOVED]} moved")  # fmt: skip

    def positions(self) -> DataFrame:
        """Return a line for each recorded position: how many splits agree, and how many moved."""
        from pandas import DataFrame

        places = DataFrame(self._places, columns=["table", "row", "column", "protocol", "key"])
        for name, outcome in (("confirmed", Outcome.SAME), ("moved", Outcome.MOVED)):
            ended = (item for item, found in self.findings.items() if found.outcome is outcome)
            counts = Counter(item.run.key for item in ended)
            places[name] = [counts[key] for key in places["key"]]
        return places.drop(columns="key")


def batches(
    waiting: Sequence[Rerun],
    jobs: int,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[list[Rerun]]:
    """Yield so much work at a time that `clock` is looked at often.

    Each batch tells how long work takes here, measured against its records. What would not end
    before the deadline is passed over for what would.
    """
    pace = 1.0
    while True:
        began = clock()
        left = (deadline - began) / pace
        fits = [item for item in waiting if item.seconds + _EACH_SECONDS < left / 2]
        if not fits:
            return
        ends = list(accumulate((item.seconds + _EACH_SECONDS) / jobs for item in fits))
        limit = min(_BATCH_SECONDS / pace, left / 10)
        n_items = max(min(jobs, len(fits)), sum(end < limit for end in ends))
        yield fits[:n_items]
        taken = set(fits[:n_items])
        waiting = [item for item in waiting if item not in taken]
        pace = (clock() - began) / ends[n_items - 1]


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
        As for `mklbench.commands.reproduce.reproduce`.
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
            (table, RunFinder(recorded_source(table)))
            for table in (load_table(name, config_dir) for name in counted)
        ]
    # What another revision has made says nothing of this one.
    store = Store(Path(results_dir) / "store" / (git_revision() or __version__))
    again = TablesAgain(tables)
    left = max(deadline - time.monotonic(), 0.0)
    kept = f"fresh splits are kept in {store.path}; the same command goes on from there."
    with interruption.saying(kept), countdown(left) as say:
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
