"""Workers under supervision: a crash costs one step, a timeout interrupts, Ctrl-C stops."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from mklbench import interruption
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.agenda import LOOK_AGAIN, Agenda
from mklbench.experiments.execution.claims import claiming
from mklbench.experiments.execution.steps import Step, give_up
from mklbench.experiments.execution.worker_process import Task, WorkerProcess
from mklbench.experiments.files import reason
from mklbench.experiments.progress import Progress
from mklbench.experiments.store import Store

# Of a worker that dies while it starts, another one is started for the same step so many times.
_MOST_STARTS = 3


class Processes:
    """Takes steps in worker processes, one at a time in each.

    The splits of a cell wait for its selections, and the workers meanwhile go on with the next
    cells.

    Parameters
    ----------
    jobs : int
        Processes at once.
    timeout : float or None, default=None
        Seconds of computing a cell may take, summed over the workers; None for no limit.
    stop : callable or None, default=None
        Asked every half second whether to end the workers and return.
    """

    def __init__(
        self, jobs: int, timeout: float | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        self.at_once = jobs
        self._timeout, self._stop = timeout, stop

    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        """Do nothing: all there is to be had is on this machine."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        with claiming(store) as claims:
            agenda = Agenda(steps, store, progress, claims)
            supervisor = _Supervisor(agenda, store, self.at_once, self._timeout, self._stop)
            with interruption.on_leaving(supervisor.end_all):
                try:
                    supervisor.run()
                finally:
                    supervisor.kill_all()
        return agenda.errors


@dataclass
class _Supervisor:
    agenda: Agenda
    store: Store
    jobs: int
    timeout: float | None
    stop: Callable[[], bool] | None = None
    workers: list[WorkerProcess] = field(default_factory=list)
    again: list[Task] = field(default_factory=list)
    # Of computing, by cell, on steps that have ended.
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def run(self) -> None:
        """Keep the workers busy until nothing is left."""
        while not self._is_over() and not (self.stop and self.stop()):
            self._hand_out()
            if self._is_over():  # the last step was ended elsewhere
                break
            listened = {worker.fileno(): worker for worker in self._busy()}
            for ready in wait(list(listened), self._patience()):
                assert isinstance(ready, int)
                self._hear(listened[ready])
            self._stop_overdue()

    def _is_over(self) -> bool:
        return self.agenda.is_empty and not self.again and not self._busy()

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

    def _hand_out(self) -> None:
        idle = [worker for worker in self.workers if worker.task is None]
        while (idle or len(self.workers) < self.jobs) and (task := self._next()) is not None:
            if idle:
                worker = idle.pop(0)
            else:
                worker = self._started()
                self.workers.append(worker)
            worker.give(task, self.store)

    def _next(self) -> Task | None:
        if self.again:
            return self.again.pop()
        step = self.agenda.begin()
        return None if step is None else Task(step)

    def _started(self) -> WorkerProcess:
        try:
            return WorkerProcess()
        except OSError as error:
            raise InputError(
                f"jobs={self.jobs} is not possible: a worker process cannot be started, "
                f"{reason(error)}."
            ) from error

    def _hear(self, worker: WorkerProcess) -> None:
        """Take one answer of a worker, or note its death."""
        answer, task = worker.answer(), worker.task
        assert task is not None
        if answer is None:
            self._bury(worker, task)
        elif "fits" in answer:
            self.agenda.advance(task.step, *answer["fits"])
        elif "ready" in answer:
            worker.ready = True
            task.started = time.monotonic()  # starting Python is not the cell's time
        else:
            worker.task = None
            if "store_error" in answer:
                raise InputError(answer["store_error"])
            self._count(task)
            if "input_error" in answer:
                self.agenda.refuse(task.step, answer["input_error"])
            else:
                self.agenda.end(task.step)

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
                self.again.append(task)
                return
            message = f"{_MOST_STARTS} worker processes died while they started (the last: {how})"
        give_up(task.step, self.store, "failed", message, printed)
        self._count(task)
        self.agenda.end(task.step)

    def _count(self, task: Task) -> None:
        self.seconds[task.cell.key] += time.monotonic() - task.started

    def _used(self, cell: Cell) -> float:
        now = time.monotonic()
        in_hand = [worker.task for worker in self._busy() if worker.ready]
        running = [now - task.started for task in in_hand if task and task.cell.key == cell.key]
        return self.seconds[cell.key] + sum(running)

    def _patience(self) -> float | None:
        """Return the seconds until a cell in hand may be overdue, or a step of others free."""
        busy = [worker.task.cell for worker in self._busy() if worker.task]
        patience = [] if self.stop is None else [LOOK_AGAIN]
        if len(busy) < self.jobs and not self.agenda.is_empty:
            patience.append(LOOK_AGAIN)
        if self.timeout is not None and busy:
            left = min(self.timeout - self._used(cell) for cell in busy)
            # Several workers use up one cell's seconds together, so that many times sooner.
            patience.append(max(left / len(self.workers), 0.01))
        return min(patience, default=None)

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
            self.agenda.abandon(task.cell)
            self.workers.remove(worker)
            worker.kill()
            message = f"stopped after {self.timeout:g} s of computing on the cell (timeout)"
            give_up(task.step, self.store, "timeout", message)
            self._count(task)
            self.agenda.end(task.step)
