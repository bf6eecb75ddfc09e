"""Recorded splits of whole tables run afresh, as many as there is time for.

The cheapest position of every table comes first, then one split of every position, then a second
one, each from the cheapest. What was run stays in a store, and counts the next time as well. How it
compares with its record is for `mklbench.report.check.comparison` to say.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from mklbench.data import is_at_hand
from mklbench.errors import DataError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import Executor
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.progress import duration
from mklbench.experiments.provenance import git_revision
from mklbench.experiments.record import Record
from mklbench.experiments.records import split_seconds
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Repeated, Report
from mklbench.report.analysis.places import CellFinder
from mklbench.report.check.comparison import Outcome
from mklbench.report.check.published import Finding
from mklbench.report.check.rerun import Judge, Rerun, batches, passed, unexpected
from mklbench.report.table.paper_table import PaperTable

# After so many data sets in a row that no server gave, the others are not asked for.
_MOST_IN_VAIN = 3


class DataAtHand:
    """Tells of which cells the data can be had; downloads what is not at hand.

    Parameters
    ----------
    deadline : float
        From when on, by the monotonic clock, nothing is downloaded.

    Attributes
    ----------
    absent : dict of str to list of str
        By why in a few words, the names of what could not be had.
    """

    def __init__(self, deadline: float) -> None:
        self.absent: defaultdict[str, list[str]] = defaultdict(list)
        self._deadline = deadline
        self._known: dict[tuple[str, str], bool] = {}
        self._n_in_vain = 0

    def __call__(self, cell: Cell) -> bool:
        """Tell whether the data of a cell can be had; each set is looked for once."""
        data = (cell.data, str(cell.config["data"].get("edition")))
        if data not in self._known:
            reason = self._missing(cell)
            if reason and cell.data not in self.absent[reason]:  # in another edition
                self.absent[reason].append(cell.data)
            self._known[data] = not reason
        return self._known[data]

    def _missing(self, cell: Cell) -> str:
        config = cell.config["data"]
        if is_at_hand(config):
            return ""
        if config.get("format") == "images":
            return "its images are described in some minutes, by mklbench run"
        if self._n_in_vain < _MOST_IN_VAIN and time.monotonic() < self._deadline:
            try:
                cell.dataset()
            except DataError:
                self._n_in_vain += 1
            else:
                self._n_in_vain = 0
                return ""
        return "mklbench data fetch says why"


class Afresh:
    """Runs recorded splits of tables again, and knows what became of each.

    Parameters
    ----------
    tables : sequence of (PaperTable, CellFinder)
        The finders look in the records.
    store : Store
        Where the fresh splits are and go.
    has_data : callable
        Tells whether the data of a cell can be had.
    """

    def __init__(
        self,
        tables: Sequence[tuple[PaperTable, CellFinder]],
        store: Store,
        has_data: Callable[[Cell], bool],
    ) -> None:
        self._store = store
        self._say: Callable[[str], object] = lambda text: None
        self._keys: dict[str, list[str]] = {}  # of the recorded positions, by table
        self.findings: dict[tuple[str, int], Finding] = {}
        self._outcomes: Counter[Outcome] = Counter()
        self.waiting = self._planned(tables, has_data)
        self._judge = Judge(self.waiting, self._found)

    def _planned(
        self, tables: Sequence[tuple[PaperTable, CellFinder]], has_data: Callable[[Cell], bool]
    ) -> list[Rerun]:
        """Return the recorded splits whose data can be had, in the order in which they are run."""
        by_cell: dict[str, list[Rerun]] = {}
        leading = set()
        for table, finder in tables:
            keys = self._keys[table.name] = []
            for slot in table.slots():
                cell = finder.cell(slot)
                recorded = finder.source.read(cell)
                if not recorded.done:
                    continue
                keys.append(cell.key)
                if cell.key not in by_cell and has_data(cell):
                    label = f"{table.name}, {' '.join(slot.place)}, split"
                    by_cell[cell.key] = [
                        Rerun(f"{label} {record.split}", cell, record, recorded.selections)
                        for record in sorted(recorded.done, key=split_seconds)
                    ]
            if cheapest := [by_cell[key][0] for key in keys if key in by_cell]:
                leading.add(min(cheapest, key=lambda item: item.seconds))
        ordered = [
            (item not in leading, turn, item.seconds, at, item)
            for at, items in enumerate(by_cell.values())
            for turn, item in enumerate(items)
        ]
        return [item for *_, item in sorted(ordered, key=lambda entry: entry[:4])]

    def recall(self, executor: Executor) -> None:
        """Judge what the store has of earlier runs; what another revision made is forgotten."""
        here = git_revision()
        known: dict[str, dict[int, Record]] = {}
        missing = []
        for item in self.waiting:
            cell, split = item.cell, item.record.split
            if cell.key not in known:
                known[cell.key] = {r.split: r for r in self._store.read(cell).done}
            record = known[cell.key].get(split)
            if record is not None and record.provenance.get("git") == here:
                self._judge.step_ended(Step(cell, split), record)
                continue
            if record is not None:
                self._store.record_path(cell, split).unlink(missing_ok=True)
            missing.append(item)
        self._judge.run_turned(self._store, executor)
        self.waiting = missing

    def run(
        self,
        executor: Executor,
        deadline: float,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Run what ends before `deadline` (by `clock`); `say` is told how far it is."""
        self._say = say
        for batch in batches(self.waiting, executor.at_once, deadline, clock):
            self._judge.run(batch, self._store, executor)

    def _found(self, item: Rerun, finding: Finding) -> None:
        self.findings[item.cell.key, item.record.split] = finding
        self._outcomes[finding.outcome] += 1
        text = f"{self._outcomes[Outcome.SAME]} splits agree with their records"
        self._say(f"{text}, {n} moved" if (n := self._outcomes[Outcome.MOVED]) else text)

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
        for (key, split), finding in self.findings.items():
            if finding.outcome is Outcome.MOVED:
                moved[key].append(f"split {split}: {finding.detail}")
            same[key] += finding.outcome is Outcome.SAME
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
        return "\n".join([tabulate(lines, headings), "", *unexpected(list(self.findings.values()))])

    @property
    def passed(self) -> bool:
        """Whether no number moved and no rerun failed."""
        return passed(self.findings.values())
