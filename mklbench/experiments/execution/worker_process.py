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
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from typing import Any

from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store

# Set before NumPy is loaded, which reads them once.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)

# How much of a dead worker's last words goes into the record.
_STDERR_CHARACTERS = 4000


@dataclass
class Task:
    """A step in hand, when it was begun, and how many workers died before they could take it."""

    step: Step
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
        self._mark = uuid.uuid4().hex[:12]
        self._store: Store | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        search_path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        module = "mklbench.experiments.execution.worker"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(os.getpid()), self._mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=os.environ | _ONE_THREAD | {"PYTHONPATH": search_path},
            bufsize=0,
            process_group=0,  # Ctrl-C on the terminal is for the parent alone
        )

    def fileno(self) -> int:
        """Return the descriptor to wait on for an answer or for the end of the process."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

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
            self._store.remove_unfinished(self.task.cell, self._mark)

    def kill(self) -> None:
        """End the process now, and forget it."""
        self._close()
        self._stderr.close()

    def _close(self) -> None:
        self.end()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def last_words(self) -> tuple[str, str]:
        """Return how a dead process ended, in a few words, and the end of what it printed."""
        self._close()
        self._stderr.seek(0)
        printed = self._stderr.read().decode(errors="replace")[-_STDERR_CHARACTERS:]
        self._stderr.close()
        return _ending(self._process.returncode), printed


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"exit status {returncode}"
    name = signal.Signals(-returncode).name
    memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"{name}{memory}"
