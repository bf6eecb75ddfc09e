"""What the executors on other machines share: jobs that take steps as long as there are any.

A job is a runner like any other: it takes what nobody has in hand, one step at a time, until its
time is over. The driver sees to it that there are as many jobs as steps or slots, and records the
step that a job was killed with, with the engine's reason. It keeps nothing that cannot be lost: the
same command, started again anywhere, does what is missing and nothing twice.
"""

from __future__ import annotations

import contextlib
import math
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mklbench import resources
from mklbench.errors import InputError, missing
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.lock import Locks, holder, owner_of
from mklbench.experiments.execution.steps import Pending, Step, give_up, lock_path
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import Ended
from mklbench.experiments.run_checks import bytes_of_step
from mklbench.experiments.store import Store
from mklbench.validation import check_number

GIB = 2**30
# What the interpreters of a job take beside the arrays of a step, in bytes.
_INTERPRETERS = 0.75 * GIB


@dataclass(frozen=True)
class EndedJob:
    """How a job ended: in the engine's words, where, and by run key what it refused."""

    name: str
    reason: str
    where: str
    refused: dict[str, str]


class Remote(ABC):
    """Takes steps in the jobs of an engine.

    Parameters
    ----------
    jobs, timeout : int and float or None
        Options of the run that are for the local executor.
    most : int
        The value of `option`.
    minutes : float
        How long a job begins steps.
    memory : float
        GiB that each job asks for at least.

    Raises
    ------
    InputError
        If an option is not possible, or the packages of the engine are not installed.
    """

    at_once = 0
    # The executor as a user types it, and its option that says how many jobs may run at once.
    name: ClassVar[str]
    option: ClassVar[str]

    def __init__(
        self, jobs: int, timeout: float | None, most: int, minutes: float, memory: float
    ) -> None:
        if (sentence := missing(self.name, f"executor={self.name}")) is not None:
            raise InputError(sentence)
        for option, value in (("jobs", None if jobs == 1 else jobs), ("timeout", timeout)):
            if value is not None:
                raise InputError(
                    f"{option}={value:g} is for executor=local: leave it out, and say how many "
                    f"jobs there may be with executor.{self.option}, and for how long with "
                    "executor.minutes."
                )
        least = (self.option, most, 1), ("minutes", minutes, 0.01), ("memory", memory, 0)
        for option, value, smallest in least:
            kind = f"a number, at least {smallest:g}"
            check_number(f"executor.{option}", value, smallest, math.inf, kind, open_above=True)
        self.minutes, self._memory = minutes, memory

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many jobs may be queued or running at the same time."""

    @abstractmethod
    def submit(self, n_jobs: int, arguments: tuple[Any, ...], gib: int) -> list[str]:
        """Submit jobs that call `take_steps` with these arguments; return their names.

        Raises
        ------
        InputError
            If the engine does not take them.
        """

    @abstractmethod
    def ended(self) -> list[EndedJob]:
        """Wait for a moment; return the jobs that have ended since the last question."""

    @abstractmethod
    def close(self) -> None:
        """Cancel the jobs that have not ended, and leave the engine."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        jobs: set[str] = set()
        pending = Pending(steps, store, progress, Locks())
        try:
            while not pending.is_empty:
                if (n_free := self.slots - len(jobs)) > 0:
                    ready = [s for s in pending.ready() if not _is_elsewhere(s, store, jobs)]
                    if (n_jobs := min(n_free, len(ready) - len(jobs))) > 0:
                        gib = max(map(self._gib, {step.run: step for step in ready}.values()))
                        sent = [(step, step.run.key) for step in ready]
                        arguments = str(store.path.absolute()), sys.path, sent, 60 * self.minutes
                        jobs.update(self.submit(n_jobs, arguments, gib))
                for ended in self.ended():
                    jobs.discard(ended.name)
                    pending.look()
                    _settle(ended, pending, store)
                pending.look()
        finally:
            self.close()
        return pending.errors

    def _gib(self, step: Step) -> int:
        """Return what a job asks for, in whole GiB."""
        n_bytes = bytes_of_step(step.run, step.split, jobs=2)(len(step.run.rows(step.split)[0]))
        return math.ceil(max((n_bytes + _INTERPRETERS) / GIB, self._memory, 1.0))


def take_steps(
    store: str,
    modules: Sequence[str],
    sent: Sequence[tuple[Step, str]],
    seconds: float,
    *,
    name: str,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, str]:
    """Be a job on its node: take steps, one after the other, as long as nobody has them in hand.

    Parameters
    ----------
    store : str
        Directory of the store.
    modules : sequence of str
        Where the driver finds modules, the user's own among them.
    sent : sequence of tuple of Step and str
        The steps, with the key that their run has for the driver.
    seconds : float
        After which no step is begun.
    name : str
        What the engine calls the job, for locks.
    stop : callable, optional
        Asked every half second whether the job is to end.

    Returns
    -------
    dict
        By run key the sentences of what the user has to mend.
    """
    resources.find_modules_in(modules)
    steps = [step for step, key in sent if step.run.key == key]
    refused = {
        key: f"algo={step.run.algo} with data={step.run.data} is not the same on "
        f"{socket.gethostname()} as it was where the job was submitted: start the command again."
        for step, key in sent
        if step.run.key != key
    }
    local = Local(job=name, seconds=seconds, stop=stop)
    return refused | local.run(steps, Store(store), Progress())


def _is_elsewhere(step: Step, store: Store, jobs: set[str]) -> bool:
    """Tell whether somebody else than our jobs has a step in hand."""
    owner = holder(lock_path(store, step))
    return owner is not None and owner.job not in jobs


def _settle(ended: EndedJob, pending: Pending, store: Store) -> None:
    """Record the step that a job was killed with; what it had not begun is left to others.

    A job that failed without a step in hand is one of a node that is not fit, or was cancelled: the
    first step that waits tells of it, so that a run in which no job can begin comes to an end.
    """
    for key, sentence in ended.refused.items():
        pending.refuse(key, sentence)
    held = []
    for step in list(pending.ready()):
        path = lock_path(store, step)
        if (owner := owner_of(path)) is not None and owner.job == ended.name:
            with contextlib.suppress(OSError):
                path.unlink()
            held.append(step)
    if ended.reason == "COMPLETED":
        return
    status: Ended = "timeout" if ended.reason.startswith("TIMEOUT") else "failed"
    for step in held or list(pending.ready())[:1]:
        give_up(step, store, status, f"{ended.reason} {ended.where}")
