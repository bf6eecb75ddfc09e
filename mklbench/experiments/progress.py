"""How far runs are, as they say on stderr: by a bar, by lines or not at all."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, TextIO

from mklbench.experiments.record import Record
from mklbench.experiments.run import Run

if TYPE_CHECKING:
    from mklbench.experiments.execution.steps import Step


class Progress:
    """Told of a run's progress by the executor; this one says nothing."""

    def start(self, steps: Sequence[Step], n_splits: int) -> None:
        """`steps` are to be taken; the runs have `n_splits` in all, also those done before."""

    def step_ended(self, step: Step, record: Record | None) -> None:
        """One step has ended; `record` is that of a split, or of a selection that failed."""

    def run_ended(self, run: Run, status: str, records: list[Record]) -> None:
        """No step of the run is left to take."""

    def stop(self) -> None:
        """The run is over, also if it was interrupted."""


def progress(kind: str, stream: TextIO | None = None) -> Progress:
    """Return the progress for ``progress=kind``: "auto", "bar", "lines" or "none".

    Parameters
    ----------
    kind : str
        Its name.
    stream : file or None, default=None
        Where it is written; None is standard error.
    """
    out = sys.stderr if stream is None else stream
    if kind == "none":
        return Progress()
    if kind == "bar" or (kind == "auto" and out.isatty()):
        return Bar(out)
    return Lines(out)


class Lines(Progress):
    """One line a finished run, and one every few seconds between, with the time left."""

    _interval = 10.0  # seconds between two lines about steps

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def start(self, steps: Sequence[Step], n_splits: int) -> None:
        self._n_steps, self._n_taken, self._n_splits = len(steps), 0, n_splits
        n_selections = sum(step.selects for step in steps)
        self._n_ended = n_done = n_splits - (len(steps) - n_selections)
        self._started = self._last = time.monotonic()
        n_runs = len({step.run.key for step in steps})
        before = f", {n_done} of them done before" if n_done else ""
        self._begin(f"{_count(n_runs, 'run')}, {_count(n_splits, 'split')}{before}", n_selections)

    def step_ended(self, step: Step, record: Record | None) -> None:
        self._n_taken += 1
        self._n_ended += not step.selects
        if record is not None and not record.is_done:
            self._say(f"{step.run.label} split {record.split} {record.status}: {record.reason}")
        elif time.monotonic() - self._last >= self._interval:
            self._say(f"{step.run.label}{self._so_far()}")

    def run_ended(self, run: Run, status: str, records: list[Record]) -> None:
        self._say(f"{run.label} {status}: {outcome(records)}{self._so_far()}")

    def _begin(self, heading: str, n_selections: int) -> None:
        self._say(heading)

    def _so_far(self) -> str:
        text = f"{self._n_ended} of {self._n_splits} splits"
        if 0 < self._n_taken < self._n_steps:
            pace = (time.monotonic() - self._started) / self._n_taken
            text += f", about {duration(pace * (self._n_steps - self._n_taken))} left"
        return f" ({text})"

    def _say(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


class Bar(Lines):
    """One bar over all steps and splits done before (rich), with a line above it for each run."""

    _interval = math.inf

    def step_ended(self, step: Step, record: Record | None) -> None:
        super().step_ended(step, record)
        self._bar.update(self._task, advance=1, description=step.run.label)

    def stop(self) -> None:
        self._bar.stop()

    def _begin(self, heading: str, n_selections: int) -> None:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn
        from rich.progress import Progress as RichProgress

        description, bar, _, time_left = RichProgress.get_default_columns()
        columns = description, bar, MofNCompleteColumn(), time_left
        console = Console(file=self._stream, highlight=False)
        self._bar = RichProgress(*columns, console=console, transient=True)
        total = self._n_splits + n_selections
        self._task = self._bar.add_task("", total=total, completed=total - self._n_steps)
        self._bar.start()

    def _so_far(self) -> str:
        return ""

    def _say(self, text: str) -> None:
        self._bar.console.print(text, markup=False, soft_wrap=True)


def outcome(records: list[Record]) -> str:
    """Return accuracy, or RMSE, and time of a run's finished splits in a few words."""
    done = [record for record in records if record.is_done]
    if not done:
        return "no split finished"
    if any(record.accuracy is None for record in done):  # of a regression
        quality = f"rmse {fmean(record.rmse or 0.0 for record in done):.4g}"
    else:
        quality = f"accuracy {100 * fmean(record.accuracy or 0.0 for record in done):.1f} %"
    seconds = duration(sum(record.fit_seconds or 0.0 for record in done))
    return f"{_count(len(done), 'split')}, {quality}, fitted in {seconds}"


def duration(seconds: float) -> str:
    """Return seconds as people read them: 0.42 s, 12 s, or hours, minutes and seconds, 2:05:00."""
    return f"{seconds:.2g} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
