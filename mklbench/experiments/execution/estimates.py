"""How long a step may take and how much memory it needs, before it is begun.

Seconds are those of the same cell, of cells alike in algorithm, kernel, data and search, or of the
same algorithm and kernel on other data, scaled by (n / n')^2 and the number of fits of a search; in
this order, from the store and from the recorded results of the program. Where nothing like it was
measured, it is `GUESS`. A cell whose steps have ended in this run tells of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from statistics import fmean

from mklbench import resources
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.memory import bytes_of_step
from mklbench.experiments.record import Record
from mklbench.experiments.records import RecordFile, split_seconds
from mklbench.experiments.search import grid_entries
from mklbench.experiments.store import Store

# Seconds of one fit of which nothing is known.
GUESS = 60.0


class Estimates:
    """What the steps of a run need.

    Parameters
    ----------
    store : Store
        Whose records are asked first.
    recorded : callable, optional
        Returns the recorded results to ask next; those of the program if not given.
    """

    def __init__(
        self, store: Store, recorded: Callable[[], Iterable[RecordFile]] | None = None
    ) -> None:
        self._store = store
        self._recorded_by = recorded or of_program
        self._seconds: dict[tuple[str, bool], float] = {}
        self._seen: dict[tuple[str, bool], list[float]] = {}
        self._bytes: dict[str, float] = {}

    def seconds(self, step: Step) -> float:
        """Return the seconds that a step is expected to take."""
        place = step.cell.key, step.selects
        if seen := self._seen.get(place):
            return fmean(seen)
        if place not in self._seconds:
            self._seconds[place] = self._looked_up(step)
        return self._seconds[place]

    def learn_from(self, ended: Iterable[tuple[Step, Record]]) -> None:
        """Take note of what the splits of this run have taken that have a result."""
        for step, record in ended:
            if record.is_done:
                self.learn(step, split_seconds(record))

    def learn(self, step: Step, seconds: float) -> None:
        """Take note of what a step of this run has taken."""
        self._seen.setdefault((step.cell.key, step.selects), []).append(seconds)

    def bytes(self, step: Step) -> float:
        """Return the bytes that the arrays of a step take (`mklbench.experiments.memory`)."""
        cell = step.cell
        if cell.key not in self._bytes:
            n_train = len(cell.rows(step.split)[0])
            self._bytes[cell.key] = bytes_of_step(cell, step.split, jobs=2)(n_train)
        return self._bytes[cell.key]

    @cached_property
    def _recorded(self) -> list[RecordFile]:
        return list(self._recorded_by())

    def _looked_up(self, step: Step) -> float:
        cell = step.cell
        if (found := _of_records(self._store.read(cell).done, step)) is not None:
            return found
        for look in (lambda file: file.read(cell).done, lambda file: file.alike(cell)):
            for file in self._recorded:
                if (found := _of_records(look(file), step)) is not None:
                    return found
        scaled = scaled_seconds(step, self._recorded)
        return GUESS * _n_fits(step) if scaled is None else scaled


def scaled_seconds(step: Step, recorded: Iterable[RecordFile]) -> float | None:
    """Return the seconds of a step by those of single fits on other data; None without such.

    They are taken to grow with the square of n, and not with features or classes.
    """
    cell = step.cell
    fits = [
        (record.n_train, fit_seconds(record))
        for file in recorded
        for record in file.of_method(cell.algo, cell.kernel)
        if record.is_done and record.n_train
    ]
    if not fits:
        return None
    n_train = len(cell.rows(step.split)[0])
    # Of the nearest size.
    nearest = min(abs(math.log(n / n_train)) for n, _ in fits)
    sizes = [(n, s) for n, s in fits if abs(math.log(n / n_train)) <= nearest + 1e-9]
    return fmean(seconds * (n_train / n) ** 2 for n, seconds in sizes) * _n_fits(step)


def fit_seconds(record: Record) -> float:
    """Return what one fit of a split took, with its kernels and its predictions."""
    clocks = (record.kernel_seconds, record.fit_seconds, record.predict_seconds)
    return math.fsum(seconds or 0.0 for seconds in clocks)


def _of_records(records: Sequence[Record], step: Step) -> float | None:
    """Return the mean seconds that steps of this kind took; None if no record tells."""
    done = [record for record in records if record.is_done]
    if not step.selects:
        return fmean(map(split_seconds, done)) if done else None
    selections = [chosen.seconds for r in done for chosen in r.shared_selections.values()]
    return fmean(selections) if selections else None


def _n_fits(step: Step) -> int:
    """Return how many fits a step is: those of its search and the last one."""
    search = step.cell.config["search"]
    n_searched = search["folds"] * len(grid_entries(search["grid"]))
    if not search["grid"]:
        return 1
    if step.cell.selection_splits:
        return n_searched if step.selects else 1
    return n_searched + 1


def of_program(known: Iterable[RecordFile] = ()) -> Iterable[RecordFile]:
    """Yield the recorded results of the program, table by table; those of `known` as they are."""
    records = resources.recorded_results() / "records"
    by_path = {source.path.resolve(): source for source in known}
    paths = (path.resolve() for path in sorted(records.glob("*.jsonl*")))
    return (by_path.get(path) or RecordFile(path) for path in paths)
