"""The executor for this machine: a crash costs one step, a timeout one step, Ctrl-C none.

Steps are taken in forked processes, also with one job, so that the main process only waits. They
have what it has loaded, need no main module that can be imported, and end with it. Not by Pebble
(5.2.3): of 77 of its pools of 2 workers, which were killed at 699 random moments, 22 gave up or did
not answer for 15 seconds, as a worker may die with the lock of the pipe that all of them share.
Here each has a pipe of its own. Nor by multiprocessing, which refuses processes to the workers of
Dask, and whose processes hold up the end of a worker whose scheduler has gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import BinaryIO, NoReturn

from mklbench.errors import InputError
from mklbench.experiments.execution.lock import Locks
from mklbench.experiments.execution.pending import LOOK_AGAIN, Pending, Stamp
from mklbench.experiments.execution.steps import Step, give_up, take
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Ended
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, StoreError
from mklbench.optim.row_engines import allowing, n_threads

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
_SIGNALS = {signal.SIGINT, signal.SIGTERM}
# How much of what a dead worker has printed goes into the record.
_MOST_CHARACTERS = 16_000


@dataclass(frozen=True)
class Job:
    """A job on a cluster, which takes what nobody has in hand and waits for nobody.

    Attributes
    ----------
    name : str
        What the engine calls it.
    seconds : float or None
        After which no step is begun.
    stop : callable
        Asked every half second whether to end the workers and return.
    before : mapping of Step or None
        That of the driver's `Pending`.
    """

    name: str = ""
    seconds: float | None = None
    stop: Callable[[], bool] = lambda: False
    before: Mapping[Step, Stamp] | None = None


class Local:
    """Takes steps in worker processes on this machine.

    Parameters
    ----------
    jobs : int, default=1
        Steps at once.
    timeout : float or None, default=None
        Seconds that a step may take; None for no limit.

    Attributes
    ----------
    job : Job
        The job on a cluster that this is part of.
    """

    def __init__(self, jobs: int = 1, timeout: float | None = None) -> None:
        self.at_once, self.timeout, self.job = jobs, timeout, Job()

    def prepare(self, runs: Sequence[Run], store: Store) -> None:
        """There is nothing that steps here would wait for."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        with Locks(self.job.name) as locks:
            pending = Pending(steps, store, progress, locks, self.job.before)
            pool = _Pool(self, pending, steps, store)
            try:
                pool.run()
            finally:
                for worker in list(pool.workers):
                    pool.end(worker)
        return pending.errors

    def serve(self, connection: Connection, steps: Sequence[Step], store: Store) -> None:
        """Be a worker: take the steps whose numbers come, and tell how each ended."""
        from threadpoolctl import threadpool_limits

        # Timings are those of one thread, but where there is nothing else to be done.
        alone = self.at_once == 1 and len({step.run.key for step in steps}) == 1
        with allowing(n_threads() if alone else 1), threadpool_limits(1):
            while True:
                step = steps[connection.recv()]
                refused = None
                try:
                    take(step, store)
                except InputError as error:
                    refused = isinstance(error, StoreError), str(error)
                connection.send(refused)


@dataclass
class _Worker:
    pid: int
    connection: Connection
    log: BinaryIO
    step: Step | None = None
    began: float = 0.0


class _Pool:
    def __init__(
        self, executor: Local, pending: Pending, steps: Sequence[Step], store: Store
    ) -> None:
        self._executor, self._pending, self._store = executor, pending, store
        self._steps, self._numbers = steps, {step: number for number, step in enumerate(steps)}
        self._timeout = float("inf") if executor.timeout is None else executor.timeout
        self._began = time.monotonic()
        self.workers: list[_Worker] = []

    def run(self) -> None:
        """Keep the workers busy until nothing is left."""
        job = self._executor.job
        while not job.stop():
            if job.seconds is None or time.monotonic() - self._began < job.seconds:
                self._hand_out()
            busy = {worker.connection: worker for worker in self.workers if worker.step}
            if not busy and (self._pending.is_empty or job.seconds is not None):
                break
            for ready in wait(list(busy), LOOK_AGAIN):
                self._hear(busy[ready])  # type: ignore[index]
            for worker in list(self.workers):
                if worker.step and time.monotonic() - worker.began >= self._timeout:
                    message = f"stopped after {self._timeout:g} s (timeout)"
                    self._lose(worker, worker.step, "timeout", message)

    def end(self, worker: _Worker) -> tuple[str, str]:
        """Kill a worker, if it has not died; return how it ended, what it said."""
        self.workers.remove(worker)
        os.kill(worker.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        worker.connection.close()
        with worker.log as log:
            log.seek(0)
            printed = log.read().decode(errors="replace")[-_MOST_CHARACTERS:]
        if code >= 0:
            return f"exit status {code}", printed
        memory = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return f"{signal.Signals(-code).name}{memory}", printed

    def _hand_out(self) -> None:
        idle = [worker for worker in self.workers if worker.step is None]
        while idle or len(self.workers) < self._executor.at_once:
            if (step := self._pending.begin()) is None:
                return
            worker = idle.pop() if idle else self._started()
            worker.step, worker.began = step, time.monotonic()
            with contextlib.suppress(OSError):  # its death is seen when it is listened to
                worker.connection.send(self._numbers[step])

    def _started(self) -> _Worker:
        ours, theirs = Pipe()
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # none is to be heard by both
        try:
            with warnings.catch_warnings():
                # Other threads only beat and draw: nothing that a worker uses is theirs.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                self._be_worker(parent, ours, theirs, log)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        theirs.close()
        self.workers.append(_Worker(pid, ours, log))
        return self.workers[-1]

    def _be_worker(
        self, parent: int, ours: Connection, theirs: Connection, log: BinaryIO
    ) -> NoReturn:
        """Serve in this process, a fork of the parent, until the parent has ended."""
        try:
            _begin_worker(log)
            if os.getppid() == parent:
                for connection in (ours, *(other.connection for other in self.workers)):
                    connection.close()
                self._executor.serve(theirs, self._steps, self._store)
        except (EOFError, BrokenPipeError):  # the parent has ended
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _hear(self, worker: _Worker) -> None:
        """Take one answer of a worker, or note its death."""
        step = worker.step
        assert step is not None
        try:
            refused = worker.connection.recv()
        except (EOFError, OSError):
            self._lose(worker, step, "failed")
            return
        worker.step = None
        if refused is not None:
            by_store, sentence = refused
            if by_store:
                raise StoreError(sentence)
            self._pending.refuse(step.run.key, sentence)
        self._pending.end(step)

    def _lose(self, worker: _Worker, step: Step, status: Ended, message: str = "") -> None:
        """Record that a worker has ended without a result, after it has been killed if need be."""
        how, printed = self.end(worker)
        message = message or f"the worker process died ({how})"
        give_up(step, self._store, status, message, printed or None)
        self._pending.end(step)


def _begin_worker(log: BinaryIO) -> None:
    """Die with the parent, leave signals to it, and print into a file of one's own."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.set_wakeup_fd(-1)
    for number in _SIGNALS:  # the parent decides what they mean
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    # New ones, as another thread may have had a lock of the old ones.
    sys.stdout = sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    faulthandler.enable(log)  # a crash leaves its place there
