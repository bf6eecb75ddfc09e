"""What a run says of its progress: a bar on a terminal, lines in a log, or nothing. On stderr."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol, TextIO

from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import Record

# Seconds between two lines about splits; a line about a finished cell never waits.
_INTERVAL = 10.0


class Progress(Protocol):
    """Told of a run's progress by the executor."""

    def start(self, n_splits: int, n_done: int, n_cells: int) -> None:
        """`n_splits` in all, of which `n_done` are there; `n_cells` are to be run."""

    def split_ended(self, cell: Cell, record: Record | None) -> None:
        """One split was run, or found done by another run."""

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None:
        """No split of the cell is left to run."""

    def stop(self) -> None:
        """The run is over, also if it was interrupted."""


def progress(kind: str, stream: TextIO | None = None) -> Progress:
    """Return the progress for ``progress=kind``: "auto", "bar", "lines" or "none"."""
    out = sys.stderr if stream is None else stream
    if kind == "auto":
        kind = "bar" if out.isatty() else "lines"
    kinds: dict[str, type[Bar] | type[Lines] | type[Silent]]
    kinds = {"bar": Bar, "lines": Lines, "none": Silent}
    return kinds[kind](out)


class Silent:
    """Says nothing."""

    def __init__(self, stream: TextIO | None = None) -> None:
        pass

    def start(self, n_splits: int, n_done: int, n_cells: int) -> None: ...

    def split_ended(self, cell: Cell, record: Record | None) -> None: ...

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None: ...

    def stop(self) -> None: ...


class Lines:
    """One line a finished cell, and one every few seconds between, with the time left."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._clock = time.monotonic

    def start(self, n_splits: int, n_done: int, n_cells: int) -> None:
        self._n_splits, self._n_done, self._n_run = n_splits, n_done, 0
        self._started = self._last = self._clock()
        # Said with the first split that ends, so that a run that cannot begin says only why.
        self._heading = f"{_count(n_cells, 'cell')} to run, {_count(n_splits, 'split')}"
        if n_done:
            self._heading += f", {n_done} of them done before"

    def split_ended(self, cell: Cell, record: Record | None) -> None:
        if self._n_run == 0:
            self._say(self._heading)
        self._n_run += 1
        if record is not None and record["status"] != "done":
            self._say(_misfortune(cell, record))
        elif self._clock() - self._last >= _INTERVAL:
            self._say(f"{cell.label}: {self._so_far()}")

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None:
        self._say(f"{cell.label} {status}: {outcome(records)} ({self._so_far()})")

    def stop(self) -> None: ...

    def _so_far(self) -> str:
        ended = self._n_done + self._n_run
        text = f"{ended} of {self._n_splits} splits"
        if self._n_run and ended < self._n_splits:
            pace = (self._clock() - self._started) / self._n_run
            text += f", about {duration(pace * (self._n_splits - ended))} left"
        return text

    def _say(self, text: str) -> None:
        self._last = self._clock()
        print(text, file=self._stream, flush=True)


class Bar:
    """One bar over all splits (rich), with a line above it for each finished cell."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Any = None

    def start(self, n_splits: int, n_done: int, n_cells: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(file=self._stream, highlight=False),
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=n_splits, completed=n_done)
        self._bar.start()

    def split_ended(self, cell: Cell, record: Record | None) -> None:
        if record is not None and record["status"] != "done":
            self._print(_misfortune(cell, record))
        self._bar.update(self._task, advance=1, description=cell.label)

    def cell_ended(self, cell: Cell, status: str, records: list[Record]) -> None:
        self._print(f"{cell.label} {status}: {outcome(records)}")

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _print(self, text: str) -> None:
        self._bar.console.print(text, markup=False, soft_wrap=True)


def outcome(records: list[Record]) -> str:
    """Return accuracy and time of a cell's finished splits in a few words."""
    done = [record for record in records if record["status"] == "done"]
    if not done:
        return "no split finished"
    accuracy = 100 * sum(record["accuracy"] for record in done) / len(done)
    seconds = duration(sum(record["fit_seconds"] for record in done))
    return f"{_count(len(done), 'split')}, accuracy {accuracy:.1f} %, fitted in {seconds}"


def _misfortune(cell: Cell, record: Record) -> str:
    return f"{cell.label} split {record['split']} {record['status']}: {record['error']}"


def duration(seconds: float) -> str:
    """Return seconds as a person would say them: 0.42 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
