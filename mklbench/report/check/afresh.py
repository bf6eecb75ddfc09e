"""Recorded splits of whole tables run afresh, as many as there is time for.

One split of every position comes first, then a second one, each from the cheapest. What was run
stays in a store, and counts the next time as well.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest

from mklbench.data import is_at_hand
from mklbench.errors import DataError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.progress import duration
from mklbench.experiments.provenance import git_revision
from mklbench.experiments.records import split_seconds
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Repeated, Report
from mklbench.report.analysis.places import CellFinder
from mklbench.report.check.comparison import Finding, Outcome, passed, unexpected
from mklbench.report.check.rerun import Rerun, batches, run_again
from mklbench.report.table.paper_table import PaperTable

# After so many data sets that could not be downloaded, the others are not asked for.
_MOST_IN_VAIN = 3


class Afresh:
    """Runs recorded splits of tables again, and knows what became of each.

    Parameters
    ----------
    tables : sequence of (PaperTable, CellFinder)
        The finders look in the records.
    store : Store
        Where the fresh splits are and go.

    Attributes
    ----------
    absent : set of str
        Names of the data sets that cannot be had: what was run on them is left out.
    """

    def __init__(self, tables: Sequence[tuple[PaperTable, CellFinder]], store: Store) -> None:
        self._store = store
        self._keys: dict[str, list[str]] = {}  # of the recorded positions, by table
        self.absent: set[str] = set()
        self.findings: dict[Rerun, Finding] = {}
        self.waiting = self._planned(tables)

    def _planned(self, tables: Sequence[tuple[PaperTable, CellFinder]]) -> list[Rerun]:
        """Return the recorded splits whose data are at hand, in the order in which they are run."""
        by_run: dict[str, list[Rerun]] = {}
        for table, finder in tables:
            keys = self._keys[table.name] = []
            for slot in table.slots():
                cell = finder.cell(slot)
                recorded = finder.source.read(cell)
                if not recorded.done:
                    continue
                keys.append(cell.key)
                if cell.key not in by_run and self._has_data(cell):
                    label = f"{table.name}, {' '.join(slot.place)}, split"
                    by_run[cell.key] = [
                        Rerun(f"{label} {record.split}", cell, record, recorded.selections)
                        for record in sorted(recorded.done, key=split_seconds)
                    ]
        turns = zip_longest(*by_run.values())
        return [
            item
            for turn in turns
            for item in sorted(filter(None, turn), key=lambda item: item.seconds)
        ]

    def _has_data(self, cell: Cell) -> bool:
        """Tell whether the data of a run are at hand, or can be downloaded; else note them."""
        if cell.data in self.absent:
            return False
        config = cell.config.data
        if is_at_hand(config):
            return True
        # Photographs are described in some minutes. Where no server answers, none is asked again.
        if config.get("format") != "images" and len(self.absent) < _MOST_IN_VAIN:
            with suppress(DataError):
                cell.dataset()
                return True
        self.absent.add(cell.data)
        return False

    def recall(self, executor: Executor) -> None:
        """Judge what the store has of earlier runs; what another revision made is forgotten."""
        here, known = git_revision(), []
        for item in self.waiting:
            record = self._store.record(item.cell, item.split)
            if record is None or not record.is_done:
                continue
            if record.provenance.get("git") == here:
                known.append(item)
            else:
                self._store.record_path(item.cell, item.split).unlink(missing_ok=True)
        self.findings |= run_again(known, self._store, executor)
        self.waiting = [item for item in self.waiting if item not in self.findings]

    def run(
        self,
        executor: Executor,
        deadline: float,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Run what ends before `deadline` (by `clock`); `say` is told how far it is."""
        for batch in batches(self.waiting, executor.at_once, deadline, clock):
            self.findings |= run_again(batch, self._store, executor, refused=Outcome.NOT_CHECKED)
            counts = Counter(finding.outcome for finding in self.findings.values())
            moved = f", {counts[Outcome.MOVED]} moved" if counts[Outcome.MOVED] else ""
            say(f"{counts[Outcome.SAME]} splits agree with their records{moved}")

    def describe_work(self, jobs: int) -> str:
        """Say how many positions there are, and how long one split of each takes."""
        seconds = {item.cell.key: item.seconds for item in reversed(self.waiting)}
        n_positions = len({key for keys in self._keys.values() for key in keys})
        text = f"{n_positions} runs are recorded; one split of {len(seconds)} of them takes about "
        text += duration(sum(seconds.values()) / jobs)
        return f"{text} on {jobs} core{'' if jobs == 1 else 's'} as fast as the records."

    def marked(self, report: Report) -> Report:
        """Return the report with what became of its positions."""
        by_key = self._by_key()
        return replace(
            report,
            repeated={
                place: by_key.get(found.key, Repeated())
                for place, (_, found) in report.slots.items()
                if found.key is not None and found.done
            },
        )

    def _by_key(self) -> dict[str | None, Repeated]:
        moved: dict[str | None, list[str]] = defaultdict(list)
        same: Counter[str | None] = Counter()
        for item, finding in self.findings.items():
            if finding.outcome is Outcome.MOVED:
                moved[item.cell.key].append(f"split {item.split}: {finding.detail}")
            same[item.cell.key] += finding.outcome is Outcome.SAME
        return {key: Repeated(n_same, tuple(moved[key])) for key, n_same in same.items()}

    def describe(self) -> str:
        """Return how many positions of each table are confirmed, and what is not as recorded."""
        from tabulate import tabulate

        by_key = self._by_key()
        lines = []
        for name, keys in self._keys.items():
            states = [by_key.get(key, Repeated()) for key in keys]
            n_moved = sum(bool(state.moved) for state in states)
            n_same = sum(bool(state.n_same and not state.moved) for state in states)
            n_splits = sum(state.n_same + len(state.moved) for state in states)
            lines.append([name, n_same, len(keys) - n_same - n_moved, n_moved, n_splits])
        lines.append(["all", *map(sum, zip(*(line[1:] for line in lines), strict=True))])
        headings = ["table", "confirmed here", "recorded only", "moved", "splits run again"]
        return "\n".join([tabulate(lines, headings), "", *unexpected(self.findings.values())])

    @property
    def passed(self) -> bool:
        """Whether no number moved and no rerun failed."""
        return passed(self.findings.values(), Outcome.ELSEWHERE)
