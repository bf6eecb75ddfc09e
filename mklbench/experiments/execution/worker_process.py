"""The parent's end of a worker process (`mklbench.experiments.execution.worker`).

The workers are plain subprocesses, not a pool of multiprocessing: they do not import the caller's
main module, so a script or a notebook needs no guard, and they end with the pipe to their parent,
however that ended.

``benchmarks/workers.py`` has them beside libraries. With loky a killed step costs those that wait,
and no step can be stopped alone. Pebble does both, but its workers import the main module, and
those of both libraries go on with their step after their parent is killed.
"""

from __future__ import annotations

import contextlib
import json
import signal
import time
from dataclasses import dataclass, field
from typing import Any

from mklbench import resources
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.starting import started
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store

# How much of a dead worker's last words goes into the record.
_STDERR_CHARACTERS = 4000


@dataclass
class Task:
    """A step in hand, when it was begun, and how many workers died before they could take it.

    The environment is what the worker is to have set while it takes it.
    """

    step: Step
    environment: dict[str, str] = field(default_factory=dict)
    started: float = 0.0
    n_starts_failed: int = 0

    @property
    def cell(self) -> Cell:
        """The cell of the step."""
        return self.step.cell


class WorkerProcess:
    """One worker process and the task it has in hand."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.ready = False
        self._store: Store | None = None
        self._started = started()
        self._process = self._started.process

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def fileno(self) -> int:
        """Return the descriptor to wait on for an answer or for the end of the process."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def is_running(self) -> bool:
        """Tell whether the process has not ended."""
        return self._process.poll() is None

    def give(self, task: Task, store: Store) -> None:
        """Hand a task to the worker."""
        assert self._process.stdin is not None
        self.task = task
        self._store = store
        task.started = time.monotonic()
        message = {
            "config": task.cell.config,
            "split": task.step.split,
            "selects": task.step.selects,
            "store": str(store.path.absolute()),
            "environment": task.environment,
            "modules": resources.own_modules(),
        }
        # If it died while idle, its end shows on stdout, as for any other death.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def answer(self) -> dict[str, Any] | None:
        """Return the next answer, or None if the process has died."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def end(self) -> None:
        """End the process now, with what it was writing."""
        self._process.kill()
        self._process.wait()
        if self.task is not None and self._store is not None:
            self._store.remove_unfinished(self.task.cell, self._started.mark)

    def kill(self) -> None:
        """End the process now, and forget it."""
        self.end()
        self._started.close()
        self._started.stderr.close()

    def last_words(self) -> tuple[str, str]:
        """Return how a dead process ended, in a few words, and the end of what it printed."""
        self.end()
        self._started.close()
        with self._started.stderr as said:
            said.seek(0)
            printed = said.read().decode(errors="replace")[-_STDERR_CHARACTERS:]
        return _ending(self._process.returncode), printed


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"exit status {returncode}"
    name = signal.Signals(-returncode).name
    memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"{name}{memory}"
