"""What runs on a node of a cluster: the steps of one job, taken one after the other.

Each step is claimed, and taken in a child process, which is ended when the job runs out of its time
or the step out of its memory; so the job can say which step it was. Steps that somebody else has in
hand are passed over. What is not done in the end is the driver's to submit again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path

from mklbench.data import load
from mklbench.experiments.execution.chunks import GIB
from mklbench.experiments.execution.claims import Claims, Owner, claiming
from mklbench.experiments.execution.journal import Job, Journal, Left, reporting
from mklbench.experiments.execution.steps import Step, is_done
from mklbench.experiments.execution.worker_process import Task, WorkerProcess
from mklbench.experiments.provenance import JOB_VARIABLE, NODE_VARIABLE, cpu_model
from mklbench.experiments.store import Store, StoreError

# Seconds between two looks at the memory and the time of a step.
_LOOK = 0.5
# Seconds before its time limit, or this share of it, at which a job stops by itself.
_SECONDS_BEFORE, _SHARE_BEFORE = 20.0, 0.2
# Of a worker that dies while it starts, another one is started so many times.
_MOST_STARTS = 3

# Workers of this process that wait for the next job, where one process runs many.
_idle: list[WorkerProcess] = []
_idle_lock = threading.Lock()


def run_job(
    store_path: str,
    batch_name: str,
    number: int,
    stop: Callable[[], str] = lambda: "",
    keep_worker: bool = False,
    job_id: str = "",
) -> None:
    """Take the steps of a job and report on it.

    Parameters
    ----------
    store_path : str
        Directory of the store.
    batch_name, number : str, int
        Which job.
    stop : callable, optional
        Asked every half second; stops the job with the reason that it returns.
    keep_worker : bool, default=False
        Whether the child process is kept for the next job in this process.
    job_id : str, optional
        What the engine calls the job, which may start before the driver has noted it.

    Raises
    ------
    FileNotFoundError
        If the journal of the store does not have the job.
    StoreError
        If the store cannot be written.
    """
    store = Store(store_path)
    journal = Journal(store)
    batch = journal.batch(batch_name)
    job = batch.jobs[number]
    with reporting(journal, job, cpu_model()) as left:
        for data in batch.data:
            load(data)
        steps = batch.steps(number)
        with claiming(store) as claims:
            taker = _Taker(store, claims, job, f"{batch.engine} {job_id or job.name}", stop)
            try:
                left += taker.take_all(steps)
            finally:
                taker.end(keep_worker)


class _Stopped(Exception):
    """The job has to end before its steps have; it says why and what is to be blamed on a step."""

    def __init__(self, why: str, message: str = "") -> None:
        super().__init__(message)
        self.why, self.message = why, message


class _Taker:
    """Takes the steps of a job in a child process."""

    def __init__(
        self, store: Store, claims: Claims, job: Job, called: str, stop: Callable[[], str]
    ) -> None:
        self._store, self._claims, self._job, self._stop = store, claims, job, stop
        limit = 60.0 * job.minutes
        margin = min(_SECONDS_BEFORE, _SHARE_BEFORE * limit)
        self._until = time.monotonic() + limit - margin
        self._worker: WorkerProcess | None = None
        self._environment = {
            NODE_VARIABLE: Owner.of_this_process().host,
            JOB_VARIABLE: called,
        }

    def take_all(self, steps: list[Step]) -> list[Left]:
        """Take the steps that nobody else has in hand; return those begun in vain."""
        left: list[Left] = []
        refused: set[str] = set()
        elsewhere: list[int] = []
        try:
            for position in range(len(steps)):
                if steps[position].cell.key in refused:
                    continue
                self._check()  # also where each step takes less time than two looks
                if not self._take(position, steps[position], left, refused):
                    elsewhere.append(position)
            for position in elsewhere:  # whose runner may have died meanwhile
                self._take(position, steps[position], left, refused)
        except _Stopped:
            pass
        return left

    def end(self, keep: bool) -> None:
        """Let the worker go, or keep it for the next job."""
        if self._worker is None:
            return
        if keep and self._worker.task is None:
            with _idle_lock:
                _idle.append(self._worker)
        else:
            self._worker.kill()

    def _take(self, position: int, step: Step, left: list[Left], refused: set[str]) -> bool:
        """Take a step; tell whether it is done, or was begun here."""
        if step.cell.key != self._job.steps[position][0]:
            left.append(Left(position, "INPUT", _changed(step)))
            refused.add(step.cell.key)
            return True
        if is_done(step, self._store):
            return True
        if not self._claims.take(step):
            return False
        try:
            if not is_done(step, self._store):
                self._run(step)
        except _Stopped as stopped:
            left.append(Left(position, stopped.why, stopped.message))
            if stopped.why == "INPUT":
                refused.add(step.cell.key)
            elif stopped.why not in ("FAILED", "OUT_OF_MEMORY"):
                raise  # the job itself has to end
        finally:
            self._claims.release(step)
        return True

    def _run(self, step: Step) -> None:
        """Take a step in the child process, started anew if it dies before it can take it."""
        for n_starts_left in reversed(range(_MOST_STARTS)):
            worker = self._started()
            worker.give(Task(step, self._environment), self._store)
            try:
                self._listen(worker)
            except _Stopped as stopped:
                if stopped.why == "INPUT":
                    raise
                worker.kill()
                self._worker = None
                if worker.ready or not n_starts_left:
                    raise
            else:
                return

    def _listen(self, worker: WorkerProcess) -> None:
        """Wait until the step has ended; end it if it takes too much time or memory."""
        while True:
            if not wait([worker.fileno()], _LOOK):
                self._watch(worker)
                continue
            answer = worker.answer()
            if answer is None:
                how, printed = worker.last_words()
                why = "OUT_OF_MEMORY" if "SIGKILL" in how else "FAILED"
                raise _Stopped(why, f"the worker process died ({how}) {printed}".strip())
            if "fits" in answer:  # the driver is on another machine
                continue
            if "ready" in answer:
                worker.ready = True
                continue
            worker.task = None
            if "store_error" in answer:
                raise StoreError(answer["store_error"])
            if "input_error" in answer:
                raise _Stopped("INPUT", answer["input_error"])
            return

    def _check(self) -> None:
        """Raise _Stopped if the job has to end."""
        if why := self._stop():
            raise _Stopped(why)
        if time.monotonic() > self._until:
            raise _Stopped("TIMEOUT", f"its job was at the end of its {self._job.minutes} minutes")

    def _watch(self, worker: WorkerProcess) -> None:
        self._check()
        taken = _resident_bytes(worker.pid)
        if taken > self._job.memory * GIB:
            raise _Stopped(
                "OUT_OF_MEMORY",
                f"the step took {taken / GIB:.1f} GiB where {self._job.memory} GiB were asked for",
            )

    def _started(self) -> WorkerProcess:
        if self._worker is None:
            self._worker = _kept() or WorkerProcess()
        return self._worker


def _kept() -> WorkerProcess | None:
    """Return a worker of an earlier job that is still there, or None."""
    with _idle_lock:
        while _idle:
            worker = _idle.pop()
            if worker.is_running():
                return worker
            worker.kill()
    return None


def _changed(step: Step) -> str:
    return (
        f"algo={step.cell.algo} with data={step.cell.data} is not the same on "
        f"{Owner.of_this_process().host} as it was where the job was submitted, as files of the "
        "data, the kernels or your own code have changed meanwhile: start the command again."
    )


def _resident_bytes(pid: int) -> int:
    """Return the memory that a process has in hand; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0
