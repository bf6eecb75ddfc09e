"""Workers under supervision: a crash costs one step, a timeout interrupts, Ctrl-C stops."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from mklbench import interruption
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.steps import Step, give_up, is_done, record
from mklbench.experiments.execution.worker_process import Task, WorkerProcess
from mklbench.experiments.files import reason
from mklbench.experiments.progress import Progress
from mklbench.experiments.store import Store

# Of a worker that dies while it starts, another one is started for the same step so many times.
_MOST_STARTS = 3


@dataclass
class _Budget:
    """Seconds of computing used on one cell, its steps that have not ended, and its selections."""

    unfinished: int
    selecting: int
    seconds: float = 0.0


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
    InputError : if the store cannot be written, or the system starts no more processes.
    """
    supervisor = _Supervisor(work, store, timeout, progress, errors)
    with interruption.on_leaving(supervisor.end_all):
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
    workers: list[WorkerProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue = deque(Task(step) for steps in self.work for step in steps)
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
        while self.workers:
            self.workers.pop().kill()

    def end_all(self) -> None:
        """End every worker now, in another thread than that which listens to them."""
        for worker in list(self.workers):
            worker.end()

    def _busy(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.task is not None]

    def _hand_out(self, jobs: int) -> None:
        idle = [worker for worker in self.workers if worker.task is None]
        while (idle or len(self.workers) < jobs) and (task := self._next()) is not None:
            if idle:
                worker = idle.pop(0)
            else:
                worker = self._started(jobs)
                self.workers.append(worker)
            worker.give(task, self.store)

    def _started(self, jobs: int) -> WorkerProcess:
        try:
            return WorkerProcess()
        except OSError as error:
            raise InputError(
                f"jobs={jobs} is not possible: a worker process cannot be started, {reason(error)}."
            ) from error

    def _next(self) -> Task | None:
        """Take the first task off the queue that need not wait for selections in hand."""
        for task in self.queue:
            if task.step.selects or self.budgets[task.cell.key].selecting == 0:
                self.queue.remove(task)
                return task
        return None

    def _hear(self, worker: WorkerProcess) -> None:
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

    def _bury(self, worker: WorkerProcess, task: Task) -> None:
        """Record the step that a worker died of; a new worker takes its place when needed.

        The step is not to blame for a worker that died while it started: it is tried again.
        """
        interruption.checkpoint()  # the workers are ended on purpose then
        self.workers.remove(worker)
        how, printed = worker.last_words()
        if worker.ready:
            message = f"the worker process died ({how})"
        else:
            task.n_starts_failed += 1
            if task.n_starts_failed < _MOST_STARTS:
                self.queue.appendleft(task)
                return
            message = f"{_MOST_STARTS} worker processes died while they started (the last: {how})"
        give_up(task.step, self.store, "failed", message, printed)
        self._end(task)

    def _end(self, task: Task) -> None:
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
            found = self.store.read(cell)
            self.progress.cell_ended(cell, found.status, found.records)

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
