"""Worker processes under supervision: a crash costs one step, a timeout interrupts, Ctrl-C stops.

The workers are plain subprocesses (`mklbench.experiments.worker`), not a pool of multiprocessing:
they do not import the caller's main module, so a script or a notebook needs no guard, and they end
with the pipe to their parent, however that ended.
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
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.progress import Progress
from mklbench.experiments.steps import Step, give_up, is_done, record
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
class _Task:
    step: Step
    started: float = 0.0

    @property
    def cell(self) -> Cell:
        return self.step.cell


@dataclass
class _Budget:
    """Seconds of computing used on one cell, its steps that have not ended, and its selections."""

    unfinished: int
    selecting: int
    seconds: float = 0.0


class _Worker:
    """One worker process and the task it has in hand."""

    def __init__(self) -> None:
        self.task: _Task | None = None
        self.ready = False
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        search_path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mklbench.experiments.worker"],
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

    def give(self, task: _Task, store: Store) -> None:
        """Hand a task to the worker."""
        assert self._process.stdin is not None
        self.task = task
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

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()
        self._close()

    def _close(self) -> None:
        self._process.wait()
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


def run_in_workers(
    work: list[list[Step]],
    store: Store,
    jobs: int,
    timeout: float | None,
    progress: Progress,
    errors: dict[str, str],
) -> None:
    """Take the steps in `work` in at most `jobs` worker processes.

    They are taken in order, but the splits of a cell wait for its selections, and the workers
    meanwhile go on with the next cells.

    Parameters
    ----------
    work : the steps of each cell.
    store : where the workers put the results.
    jobs : processes at once.
    timeout : seconds of computing a cell may take, summed over the workers; None for no limit.
    progress : told of each step and cell.
    errors : receives, by cell key, the sentences of the InputErrors that stopped a cell.

    Raises
    ------
    InputError : if the store cannot be written.
    RuntimeError : if a worker process cannot start.
    """
    supervisor = _Supervisor(work, store, timeout, progress, errors)
    try:
        supervisor.run(jobs)
    finally:
        supervisor.kill_all()


@dataclass
class _Supervisor:
    work: list[list[Step]]
    store: Store
    timeout: float | None
    progress: Progress
    errors: dict[str, str]
    workers: list[_Worker] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue = deque(_Task(step) for steps in self.work for step in steps)
        self.budgets = {
            steps[0].cell.key: _Budget(len(steps), sum(step.selects for step in steps))
            for steps in self.work
        }

    def run(self, jobs: int) -> None:
        """Keep `jobs` workers busy until nothing is left."""
        while self.queue or self._busy():
            self._hand_out(jobs)
            listened = {worker.fileno(): worker for worker in self._busy()}
            for ready in wait(list(listened), self._patience()):
                assert isinstance(ready, int)
                self._hear(listened[ready])
            self._stop_overdue()

    def kill_all(self) -> None:
        """End every worker now."""
        for worker in self.workers:
            worker.kill()
        self.workers.clear()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self.workers if worker.task is not None]

    def _hand_out(self, jobs: int) -> None:
        idle = [worker for worker in self.workers if worker.task is None]
        while (idle or len(self.workers) < jobs) and (task := self._next()) is not None:
            if idle:
                worker = idle.pop(0)
            else:
                worker = _Worker()
                self.workers.append(worker)
            worker.give(task, self.store)

    def _next(self) -> _Task | None:
        """Take the first task off the queue that need not wait for selections in hand."""
        for task in self.queue:
            if task.step.selects or self.budgets[task.cell.key].selecting == 0:
                self.queue.remove(task)
                return task
        return None

    def _hear(self, worker: _Worker) -> None:
        """Take one answer of a worker, or note its death."""
        answer, task = worker.answer(), worker.task
        assert task is not None
        if answer is None:
            self._bury(worker, task)
        elif "ready" in answer:
            worker.ready = True
            task.started = time.monotonic()  # starting Python is not the cell's time
        else:
            worker.task = None
            if "store_error" in answer:
                raise InputError(answer["store_error"])
            if "input_error" in answer:
                self.errors.setdefault(task.cell.key, answer["input_error"])
                self._abandon(task.cell)
            self._end(task)

    def _bury(self, worker: _Worker, task: _Task) -> None:
        """Record the step that a worker died of; a new worker takes its place when needed."""
        self.workers.remove(worker)
        how, printed = worker.last_words()
        if not worker.ready:
            raise RuntimeError(f"A worker process could not start ({how}): {printed.strip()}")
        message = f"the worker process died ({how})"
        give_up(task.step, self.store, "failed", message, printed)
        self._end(task)

    def _end(self, task: _Task) -> None:
        """Account for a step that has ended in whatever way."""
        cell, budget = task.cell, self.budgets[task.cell.key]
        budget.seconds += time.monotonic() - task.started
        budget.unfinished -= 1
        budget.selecting -= task.step.selects
        if task.step.selects and not is_done(task.step, self.store):
            self._abandon(cell)  # the splits cannot be run without it
        if cell.key in self.errors:  # said at the end of the run
            return
        self.progress.step_ended(task.step, record(task.step, self.store))
        if budget.unfinished == 0:
            self.progress.cell_ended(cell, self.store.status(cell), self.store.records(cell))

    def _abandon(self, cell: Cell) -> None:
        """Drop what is queued of a cell."""
        kept = deque(task for task in self.queue if task.cell.key != cell.key)
        self.budgets[cell.key].unfinished -= len(self.queue) - len(kept)
        self.queue = kept

    def _used(self, cell: Cell) -> float:
        now = time.monotonic()
        in_hand = [worker.task for worker in self._busy() if worker.ready]
        running = [now - task.started for task in in_hand if task and task.cell.key == cell.key]
        return self.budgets[cell.key].seconds + sum(running)

    def _patience(self) -> float | None:
        """Return the seconds until a cell in hand may be overdue."""
        if self.timeout is None:
            return None
        cells = [worker.task.cell for worker in self._busy() if worker.task]
        left = [self.timeout - self._used(cell) for cell in cells]
        # Several workers use up one cell's seconds together, so that many times sooner.
        return max(min(left) / len(self.workers), 0.01)

    def _stop_overdue(self) -> None:
        if self.timeout is None:
            return
        overdue = {
            worker.task.cell.key
            for worker in self._busy()
            if worker.task and self._used(worker.task.cell) >= self.timeout
        }
        for worker in self._busy():
            task = worker.task
            if task is None or task.cell.key not in overdue:
                continue
            self._abandon(task.cell)
            self.workers.remove(worker)
            worker.kill()
            message = f"stopped after {self.timeout:g} s of computing on the cell (timeout)"
            give_up(task.step, self.store, "timeout", message)
            self._end(task)


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"exit status {returncode}"
    name = signal.Signals(-returncode).name
    memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"{name}{memory}"
