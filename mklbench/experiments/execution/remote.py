"""What the executors on other machines share: steps packed into jobs, and what a job does.

The driver keeps nothing that cannot be lost. What is done stands in the store, and what is in hand
in the claims, so the same command, started again anywhere, does what is missing and nothing twice.
A step that its job was killed with is recorded with the engine's reason, and run by the next
command; the steps that its job had not begun are submitted again at once.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mklbench import interruption, resources
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.agenda import Agenda
from mklbench.experiments.execution.claims import Owner, claim_path, claiming, clear, heartbeat
from mklbench.experiments.execution.estimates import Estimates
from mklbench.experiments.execution.processes import Processes
from mklbench.experiments.execution.steps import Step, give_up
from mklbench.experiments.progress import Progress, Silent
from mklbench.experiments.provenance import JOB_VARIABLE, NODE_VARIABLE
from mklbench.experiments.store import Store

GIB = 2**30
# What the interpreters of a job take beside the arrays of a step, in bytes.
_INTERPRETERS = 0.75 * GIB
# Seconds that a job is to take at least, as it takes some to start.
_LEAST = 20.0
# Jobs that each slot shall still have to come, so that slots run empty at about the same time.
_JOBS_TO_COME = 2


@dataclass(frozen=True)
class Job:
    """Steps that one job takes, one after the other; its time limit and the memory it asks for."""

    steps: tuple[Step, ...]
    minutes: int
    gib: int


@dataclass(frozen=True)
class Ended:
    """How a job ended: in the engine's words, on which node, where its log is, what it refused."""

    job: Job
    reason: str
    where: str
    refused: dict[str, str]


class Remote(ABC):
    """Takes steps in the jobs of an engine.

    Parameters
    ----------
    name : str
        Of the executor, as a user types it.
    slots : str
        Its option that says how many jobs may run at once.
    jobs, timeout : int and float or None
        Options of the run that are for the local executor.
    minutes : float
        How long a job is to take.
    memory : float
        GiB that each job asks for at least.

    Raises
    ------
    InputError
        If an option is not possible.
    """

    at_once = 0

    def __init__(
        self, name: str, slots: str, jobs: int, timeout: float | None, minutes: float, memory: float
    ) -> None:
        if jobs != 1:
            raise InputError(
                f"jobs={jobs} is for executor=local: leave it out, and say how many jobs of "
                f"{name} there may be with executor.{slots}."
            )
        if timeout is not None:
            raise InputError(
                f"timeout={timeout:g} is for executor=local: leave it out, and give "
                "executor.minutes."
            )
        check_number("minutes", minutes, 0, above=True)
        check_number("memory", memory, 0)
        self._minutes, self._memory = minutes, memory

    @abstractmethod
    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        """See that jobs can be submitted, before anything of the cells is looked at."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many jobs may run at the same time."""

    @property
    def room(self) -> int:
        """How many jobs may be queued or running at the same time: one a slot."""
        return self.slots

    @abstractmethod
    def submit(self, jobs: Sequence[Job], store: Store) -> None:
        """Submit jobs, each of which is to call `take_steps` with its steps (`described`).

        Raises
        ------
        InputError
            If the engine does not take them.
        """

    @abstractmethod
    def ended(self) -> list[Ended]:
        """Wait for a moment; return the jobs that have ended since the last question."""

    @abstractmethod
    def close(self) -> None:
        """Cancel the jobs that have not ended, and leave the engine."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        estimates = Estimates(store)
        with claiming(store) as claims, interruption.on_leaving(self.close):
            agenda = Agenda(steps, store, progress, claims)
            in_jobs: set[Step] = set()
            n_jobs = 0
            try:
                while not agenda.is_empty:
                    ready = [step for step in agenda.ready() if step not in in_jobs]
                    if ready and n_jobs < self.room:
                        jobs = list(self._packed(ready, estimates))[: self.room - n_jobs]
                        self.submit(jobs, store)
                        n_jobs += len(jobs)
                        in_jobs.update(step for job in jobs for step in job.steps)
                    for ended in self.ended():
                        estimates.learn_from(agenda.look(ended.job.steps))
                        _settle(ended, agenda, store)
                        in_jobs.difference_update(ended.job.steps)
                        n_jobs -= 1
                    estimates.learn_from(agenda.look())
            finally:
                self.close()
        return agenda.errors

    def _packed(self, steps: Sequence[Step], estimates: Estimates) -> Iterator[Job]:
        """Yield jobs of about the same length; steps that need as much memory come together."""
        needs = [
            (self._gib(estimates.bytes(step)), estimates.seconds(step), step) for step in steps
        ]
        needs.sort(key=lambda need: need[:2], reverse=True)
        total = math.fsum(seconds for _, seconds, _ in needs)
        target = max(total / (_JOBS_TO_COME * self.slots), _LEAST)
        target = min(60 * self._minutes, target)
        taken: list[Step] = []
        length, most = 0.0, 0
        for gib, seconds, step in needs:
            if taken and (length + seconds > target or gib != most):
                yield self._job(taken, length, most)
                taken, length = [], 0.0
            taken.append(step)
            length, most = length + seconds, gib
        if taken:
            yield self._job(taken, length, most)

    def _gib(self, n_bytes: float) -> int:
        """Return what a job asks for: a power of two, so that few amounts are asked for."""
        gib = max((n_bytes + _INTERPRETERS) / GIB, self._memory, 1.0)
        return 2 ** math.ceil(math.log2(gib))

    def _job(self, steps: Sequence[Step], seconds: float, gib: int) -> Job:
        # Recorded times are those of other processors, and estimates are rough.
        return Job(tuple(steps), math.ceil(max(2 * seconds / 60, self._minutes) + 3), gib)


def described(job: Job) -> list[dict[str, Any]]:
    """Return the steps of a job as what can be sent to another machine."""
    return [
        {
            "config": step.cell.config,
            "key": step.cell.key,
            "split": step.split,
            "selects": step.selects,
        }
        for step in job.steps
    ]


def take_steps(
    store: str,
    steps: Sequence[dict[str, Any]],
    modules: Sequence[str],
    name: str,
    stop: Callable[[], bool] | None = None,
) -> dict[str, str]:
    """Take the steps of a job on its node, one after the other, each in a worker process.

    Parameters
    ----------
    store : str
        Directory of the store.
    steps : sequence of dict
        From `described`.
    modules : sequence of str
        Where the user's own modules are (`mklbench.resources.own_modules`).
    name : str
        What the engine calls the job, for the records.
    stop : callable or None, default=None
        Asked every half second whether the job is to end.

    Returns
    -------
    dict
        By cell key the sentences of what the user has to mend.
    """
    resources.find_modules_in(list(modules))
    host = Owner.of_this_process().host
    os.environ[NODE_VARIABLE], os.environ[JOB_VARIABLE] = host, name
    own, refused = [], {}
    for step in steps:
        cell = Cell(step["config"])
        if cell.key == step["key"]:
            own.append(Step(cell, step["split"], step["selects"]))
        else:
            refused[step["key"]] = (
                f"algo={cell.algo} with data={cell.data} is not the same on {host} as it was where "
                "the job was submitted: start the command again."
            )
    return refused | Processes(1, stop=stop).run(own, Store(store), Silent())


def check_number(name: str, value: float, least: float, above: bool = False) -> None:
    """Raise InputError unless an option of an executor is a finite number and not too small."""
    if not math.isfinite(value) or not (value > least if above else value >= least):
        word = "above" if above else "at least"
        raise InputError(
            f"executor.{name}={value:g} is not accepted: it must be a number, {word} {least:g}."
        )


def _settle(ended: Ended, agenda: Agenda, store: Store) -> None:
    """Record what a job was killed with; what it had not begun is left to the next job."""
    left = [step for step in ended.job.steps if step in agenda]
    for step in left:
        if step in agenda and step.cell.key in ended.refused:
            agenda.refuse(step, ended.refused[step.cell.key])
    left = [step for step in left if step in agenda]
    held = [step for step in left if heartbeat(claim_path(store, step)) is not None]
    # Who cancels a job does not want its steps to be submitted again. Else it is the step in hand
    # that ended the job, or, where it did not begin any, that one of a node that is not fit.
    blamed = left if ended.reason.startswith("CANCELLED") else held or left[:1]
    for step in blamed:
        clear(claim_path(store, step))
        is_late = ended.reason.startswith("TIMEOUT")
        status: Literal["timeout", "failed"] = "timeout" if is_late else "failed"
        give_up(step, store, status, f"{ended.reason} {ended.where}")
