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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import BinaryIO, NoReturn

from mklbench.errors import InputError
from mklbench.experiments.execution.lock import Locks
from mklbench.experiments.execution.steps import LOOK_AGAIN, Pending, Step, give_up, take
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Ended
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, StoreError
from mklbench.optim.row_blocks import allowing, n_threads

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
_SIGNALS = {signal.SIGINT, signal.SIGTERM}


@dataclass(frozen=True)
class _Worker:
    pid: int
    connection: Connection
    log: BinaryIO


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
    """

    def __init__(
        self,
        jobs: int = 1,
        timeout: float | None = None,
        *,
        job: str = "",
        seconds: float = math.inf,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.at_once, self._timeout = jobs, math.inf if timeout is None else timeout
        self._job, self._seconds, self._stop = job, seconds, stop

    def prepare(self, runs: Sequence[Run], store: Store) -> None:
        """There is nothing that steps here would wait for."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        self._steps, self._store = steps, store
        self._numbers = {step: number for number, step in enumerate(steps)}
        self._workers: list[_Worker] = []
        self._busy: dict[_Worker, tuple[Step, float]] = {}  # with what, and since when
        with Locks(self._job) as locks:
            self._pending = Pending(steps, store, progress, locks)
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
            if not self._busy and (self._pending.is_empty or self._job):
                break
            ready = wait([worker.connection for worker in self._busy], LOOK_AGAIN)
            for worker, (step, since) in list(self._busy.items()):
                if worker.connection in ready:
                    self._hear(worker, step)
                elif time.monotonic() - since >= self._timeout:
                    stopped = f"stopped after {self._timeout:g} s (timeout)"
                    self._lose(worker, step, "timeout", stopped)

    def _hand_out(self) -> None:
        while len(self._busy) < self.at_once and (step := self._pending.begin()):
            idle = (worker for worker in self._workers if worker not in self._busy)
            worker = next(idle, None) or self._started()
            self._busy[worker] = step, time.monotonic()
            with contextlib.suppress(OSError):  # its death is seen when it is listened to
                worker.connection.send(self._numbers[step])

    def _started(self) -> _Worker:
        ours, theirs = Pipe()
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # none is to be heard by both
        # Other threads only beat and draw: nothing that a worker uses is theirs.
        if (pid := os.fork()) == 0:
            try:
                _begin_worker(log)
                for connection in (ours, *(other.connection for other in self._workers)):
                    connection.close()
                if os.getppid() == parent:
                    self._serve(theirs)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        theirs.close()
        self._workers.append(_Worker(pid, ours, log))
        return self._workers[-1]

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

    def _hear(self, worker: _Worker, step: Step) -> None:
        """Take one answer of a worker, or note its death."""
        try:
            refused = worker.connection.recv()
        except (EOFError, OSError):
            self._lose(worker, step, "failed")
            return
        del self._busy[worker]
        if refused is not None:
            by_store, sentence = refused
            if by_store:
                raise StoreError(sentence)
            self._pending.refuse(step.run.key, sentence)
        self._pending.end(step)

    def _lose(self, worker: _Worker, step: Step, status: Ended, message: str = "") -> None:
        """Record that a worker has ended without a result, after it has been killed if need be."""
        how, printed = self._end(worker)
        give_up(step, self._store, status, message or how, printed or None)
        self._pending.end(step)

    def _end(self, worker: _Worker) -> tuple[str, str]:
        """Kill a worker, if it has not died; return how it ended, and what it printed."""
        self._workers.remove(worker)
        self._busy.pop(worker, None)
        os.kill(worker.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        worker.connection.close()
        with worker.log as log:
            log.seek(0)
            printed = log.read().decode(errors="replace")[-16_000:]  # for the record
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
