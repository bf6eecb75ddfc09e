"""How far runs are, as they say on stderr: by lines or not at all."""

from __future__ import annotations

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


class Lines(Progress):
    """One line a finished run, and one every few seconds between, with the time left.

    Parameters
    ----------
    stream : file or None, default=None
        Where they are written; None is standard error.
    """

    _interval = 10.0  # seconds between two lines about steps

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def start(self, steps: Sequence[Step], n_splits: int) -> None:
        self._n_steps, self._n_taken, self._n_splits = len(steps), 0, n_splits
        self._n_ended = n_done = n_splits - sum(not step.selects for step in steps)
        self._started = self._last = time.monotonic()
        n_runs = len({step.run.key for step in steps})
        before = f", {n_done} of them done before" if n_done else ""
        self._say(f"{_count(n_runs, 'run')}, {_count(n_splits, 'split')}{before}")

    def step_ended(self, step: Step, record: Record | None) -> None:
        self._n_taken += 1
        self._n_ended += not step.selects
        if record is not None and not record.is_done:
            self._say(f"{step.run.label} split {record.split} {record.status}: {record.reason}")
        elif time.monotonic() - self._last >= self._interval:
            self._say(f"{step.run.label}{self._so_far()}")

    def run_ended(self, run: Run, status: str, records: list[Record]) -> None:
        self._say(f"{run.label} {status}: {outcome(records)}{self._so_far()}")

    def _so_far(self) -> str:
        text = f"{self._n_ended} of {self._n_splits} splits"
        if 0 < self._n_taken < self._n_steps:
            pace = (time.monotonic() - self._started) / self._n_taken
            text += f", about {duration(pace * (self._n_steps - self._n_taken))} left"
        return f" ({text})"

    def _say(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


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
