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
import math
import os
import signal
import sys
import tempfile
import time
import traceback
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


@dataclass
class _Worker:
    pid: int
    connection: Connection
    log: BinaryIO
    step: Step | None = None
    began: float = 0.0


class Local:
    """Takes steps in worker processes on this machine.

    Parameters
    ----------
    jobs : int, default=1
        Steps at once.
    timeout : float or None, default=None
        Seconds that a step may take; None for no limit.
    job : str, default=""
        What an engine calls the job on a cluster that this is: it takes what nobody has in hand,
        and waits for nobody.
    seconds : float, default=inf
        After which a job begins no step.
    stop : callable, optional
        Asked every half second whether to end the workers and return.
    before : mapping of Step or None, default=None
        That of the `Pending` of the job's driver.
    """

    def __init__(
        self,
        jobs: int = 1,
        timeout: float | None = None,
        *,
        job: str = "",
        seconds: float = math.inf,
        stop: Callable[[], bool] = lambda: False,
        before: Mapping[Step, Stamp] | None = None,
    ) -> None:
        self.at_once, self._timeout = jobs, math.inf if timeout is None else timeout
        self._job, self._seconds, self._stop, self._before = job, seconds, stop, before

    def prepare(self, runs: Sequence[Run], store: Store) -> None:
        """There is nothing that steps here would wait for."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        self._steps, self._store = steps, store
        self._numbers = {step: number for number, step in enumerate(steps)}
        self._workers: list[_Worker] = []
        with Locks(self._job) as locks:
            self._pending = Pending(steps, store, progress, locks, self._before)
            try:
                self._keep_busy()
            finally:
                for worker in list(self._workers):
                    self._end(worker)
        return self._pending.errors

    def _keep_busy(self) -> None:
        """Hand steps to the workers until nothing is left."""
        began = time.monotonic()
        while not self._stop():
            if time.monotonic() - began < self._seconds:
                self._hand_out()
            busy = {worker.connection: worker for worker in self._workers if worker.step}
            if not busy and (self._pending.is_empty or self._job):
                break
            for ready in wait(list(busy), LOOK_AGAIN):
                self._hear(busy[ready])  # type: ignore[index]
            for worker in list(self._workers):
                if worker.step and time.monotonic() - worker.began >= self._timeout:
                    self._lose(worker, "timeout", f"stopped after {self._timeout:g} s (timeout)")

    def _hand_out(self) -> None:
        idle = [worker for worker in self._workers if worker.step is None]
        while idle or len(self._workers) < self.at_once:
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
        pid = os.fork()  # other threads only beat and draw: nothing that a worker uses is theirs
        if pid == 0:
            self._be_worker(parent, ours, theirs, log)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        theirs.close()
        self._workers.append(_Worker(pid, ours, log))
        return self._workers[-1]

    def _be_worker(
        self, parent: int, ours: Connection, theirs: Connection, log: BinaryIO
    ) -> NoReturn:
        """Serve in this process, a fork of the parent, until the parent has ended."""
        try:
            _begin_worker(log)
            if os.getppid() == parent:
                for connection in (ours, *(other.connection for other in self._workers)):
                    connection.close()
                self._serve(theirs)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _serve(self, connection: Connection) -> NoReturn:
        """Take the steps whose numbers come, and tell how each ended."""
        from threadpoolctl import threadpool_limits

        # Timings are those of one thread, but where there is nothing else to be done.
        alone = self.at_once == 1 and len({step.run.key for step in self._steps}) == 1
        with allowing(n_threads() if alone else 1), threadpool_limits(1):
            while True:
                step, refused = self._steps[connection.recv()], None
                try:
                    take(step, self._store)
                except InputError as error:
                    refused = isinstance(error, StoreError), str(error)
                connection.send(refused)

    def _hear(self, worker: _Worker) -> None:
        """Take one answer of a worker, or note its death."""
        try:
            refused = worker.connection.recv()
        except (EOFError, OSError):
            self._lose(worker, "failed")
            return
        step, worker.step = worker.step, None
        assert step is not None
        if refused is not None:
            by_store, sentence = refused
            if by_store:
                raise StoreError(sentence)
            self._pending.refuse(step.run.key, sentence)
        self._pending.end(step)

    def _lose(self, worker: _Worker, status: Ended, message: str = "") -> None:
        """Record that a worker has ended without a result, after it has been killed if need be."""
        how, printed = self._end(worker)
        step = worker.step
        assert step is not None
        give_up(step, self._store, status, message or how, printed or None)
        self._pending.end(step)

    def _end(self, worker: _Worker) -> tuple[str, str]:
        """Kill a worker, if it has not died; return how it ended, and what it printed."""
        self._workers.remove(worker)
        os.kill(worker.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        worker.connection.close()
        with worker.log as log:
            log.seek(0)
            printed = log.read().decode(errors="replace")[-_MOST_CHARACTERS:]
        how = f"exit status {code}" if code >= 0 else signal.Signals(-code).name
        return f"the worker process died ({how})", printed


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
