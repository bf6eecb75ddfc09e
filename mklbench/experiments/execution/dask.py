"""The executor for Dask: jobs are tasks of a scheduler that runs, or of workers that it starts.

The futures of the jobs are published on the scheduler, so that they go on without the driver that
submitted them, and another finds them again.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mklbench import extras
from mklbench.errors import InputError, hint
from mklbench.experiments.execution import probe
from mklbench.experiments.execution.chunks import GIB
from mklbench.experiments.execution.dispatch import Options
from mklbench.experiments.execution.engine import JobState, Unreachable
from mklbench.experiments.execution.job import run_job
from mklbench.experiments.execution.journal import Batch, Job, Journal
from mklbench.experiments.execution.remote import Remote, check_number

# Kinds of clusters, by the names of dask-jobqueue's classes, and workers on this machine.
_CLUSTERS = {
    "htcondor": "HTCondorCluster",
    "lsf": "LSFCluster",
    "moab": "MoabCluster",
    "oar": "OARCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "slurm": "SLURMCluster",
}
_HERE = "local"
# Jobs that wait at the scheduler for each slot, so that no worker waits for the driver.
_JOBS_A_SLOT = 2
# Seconds to wait for a scheduler, and for the first of the workers that are started.
_CONNECT, _FIRST_WORKER = 10.0, 600.0


def dask(
    jobs: int = 1,
    timeout: float | None = None,
    *,
    address: str | None = None,
    cluster: str | None = None,
    workers: int = 2,
    minutes: float = 30.0,
    retries: int = 2,
    memory: float = 0.0,
    options: Mapping[str, Any] | None = None,
    detach: bool = False,
) -> Remote:
    """Return the executor for a Dask scheduler, or for workers that it starts.

    Parameters
    ----------
    jobs, timeout : int and float or None
        Of the local executor; to be left alone here.
    address : str or None
        Of a scheduler: ``tcp://host:8786``.
    cluster : str or None
        Where workers are started in place of that: "slurm", "pbs", "sge", ... by dask-jobqueue, or
        "local", processes on this machine.
    workers : int, default=2
        How many are started.
    minutes : float, default=30
        That a job is to take; steps are packed so.
    retries : int, default=2
        How often a step that was lost is submitted again.
    memory : float, default=0
        GiB that a job asks for at least.
    options : mapping or None
        Of dask-jobqueue's class: ``{"queue": "cpu", "walltime": "02:00:00"}``.
    detach : bool, default=False
        Whether to return as soon as all that can be begun is submitted.

    Raises
    ------
    InputError
        If an option is not possible, or distributed is not installed.
    """
    if (sentence := extras.missing("dask", "executor=dask")) is not None:
        raise InputError(sentence)
    if (address is None) == (cluster is None):
        raise InputError(
            "executor=dask needs a scheduler or a cluster: give executor.address=tcp://host:8786, "
            f"or executor.cluster= with one of {', '.join([_HERE, *_CLUSTERS])}, and not both."
        )
    if cluster is not None and cluster not in (_HERE, *_CLUSTERS):
        raise InputError(
            f"executor.cluster={cluster} is not known: {hint(cluster, [_HERE, *_CLUSTERS])}."
        )
    if address is not None and not address.rpartition(":")[2].isdecimal():
        raise InputError(
            f"executor.address={address} has no port: write it as in tcp://host:8786, which is "
            "what dask scheduler prints."
        )
    check_number("workers", workers, 1)
    if detach and cluster is not None:
        raise InputError(
            f"--detach is not possible with executor.cluster={cluster}, whose workers end with the "
            "command: give the executor.address of a scheduler that stays."
        )
    if cluster is not None:
        make = lambda: DaskEngine.with_cluster(cluster, workers, dict(options or {}))  # noqa: E731
    else:
        make = lambda: DaskEngine.at(str(address))  # noqa: E731
    return Remote(make, Options(minutes, retries, memory), "dask", jobs, timeout, detach)


class DaskEngine:
    """Jobs as tasks of a Dask scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler.
    option : str
        What chose it, as the user typed it.
    cluster : object or None
        The cluster that was started for it, which ends with it.
    patience : float, default=10
        Seconds to wait for the scheduler.

    Raises
    ------
    InputError
        If no scheduler answers.
    """

    name = "dask"
    start_seconds = 0.1
    poll_seconds = 2.0
    jobs_to_come = 4

    def __init__(
        self, address: str, option: str, cluster: Any = None, patience: float = _CONNECT
    ) -> None:
        self._patience = patience
        # Its tracebacks on a scheduler that is away say less than the driver does.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._address, self._option, self._cluster = address, option, cluster
        self._futures: dict[str, Any] = {}  # by names of jobs
        self._client: Any = None
        try:
            self._connect()
        except (OSError, ValueError) as error:
            raise InputError(
                f"{option} does not answer ({_in_short(error)}): start a scheduler there, with "
                "dask scheduler, and workers."
            ) from error

    @classmethod
    def at(cls, address: str) -> DaskEngine:
        """Return the engine of a scheduler that runs.

        Raises
        ------
        InputError
            If what is given is no address, or no scheduler answers.
        """
        from distributed.comm.addressing import get_address_host_port

        option = f"executor.address={address}"
        try:  # as a client that fails on it takes long to end
            get_address_host_port(address)
        except ValueError as error:
            raise InputError(
                f"{option} is no address of a scheduler ({_in_short(error)}): write it as in "
                "executor.address=tcp://host:8786."
            ) from error
        return cls(address, option)

    @classmethod
    def with_cluster(cls, kind: str, workers: int, options: dict[str, Any]) -> DaskEngine:
        """Start workers and return the engine.

        Raises
        ------
        InputError
            If they cannot be started.
        """
        option = f"executor.cluster={kind}"
        _check_command(kind, option)
        try:
            cluster = _started(kind, workers, options)
        except Exception as error:  # of many kinds, by the cluster
            raise InputError(
                f"{option} cannot be started ({_in_short(error)}): see executor.options, or start "
                "a scheduler by yourself and give its executor.address."
            ) from error
        engine = cls(cluster.scheduler_address, option, cluster)
        deadline = time.monotonic() + _FIRST_WORKER
        while not engine._workers() and time.monotonic() < deadline:
            time.sleep(0.2)
        return engine

    @property
    def place(self) -> str:
        """The address of the scheduler."""
        return self._address

    @property
    def slots(self) -> int:
        """Threads of the workers; at least one, as workers may be about to come."""
        return max(sum(worker["nthreads"] for worker in self._workers().values()), 1)

    @property
    def room(self) -> int:
        """A few jobs a slot."""
        return _JOBS_A_SLOT * self.slots

    def check(self, journal: Journal) -> None:
        """Raise InputError unless all workers have our versions and see the store."""
        if not self._workers():
            raise InputError(
                f"{self._option} has no workers: start some with dask worker {self._address}."
            )
        with probe.asking(journal.path) as token:
            self._check_python()
            try:
                directory = str(journal.path.absolute())
                said = self._client.run(probe.answer, directory, token)
            except Exception as error:  # raised there, of whatever kind
                raise InputError(
                    f"{self._option} has workers that cannot import mklbench "
                    f"({_in_short(error)}): install this version of it where they run."
                ) from error
            for answer in said.values():
                probe.check(answer, journal.path, token, self._option)

    def submit(self, batch: Batch, journal: Journal) -> tuple[str, ...]:
        """Submit the jobs of a batch; what the scheduler calls them are their names."""
        most = max((worker["memory_limit"] for worker in self._workers().values()), default=0)
        store = str(journal.path.parent.absolute())
        for job in batch.jobs:
            if most and job.memory * GIB > most:
                # Dask does not keep account of it: the job minds its own memory.
                raise InputError(
                    f"{self._option} has workers with at most {most / GIB:.1f} GiB, and a job "
                    f"needs {job.memory} GiB: start workers with more memory, or choose fewer rows."
                )
        try:
            for job in batch.jobs:
                future = self._client.submit(
                    run_in_dask, store, batch.name, job.number, key=job.name, pure=False
                )
                self._client.publish_dataset(future, name=job.name, override=True)
                self._futures[job.name] = future
        except OSError as error:
            raise Unreachable(_in_short(error)) from error
        return tuple(job.name for job in batch.jobs)

    def states(self, batches: Sequence[Batch], journal: Journal) -> dict[str, JobState]:
        """Return what the futures say; of jobs of an earlier driver the published ones."""
        try:
            if self._client.status != "running":
                self._connect()
            known = set(self._client.list_datasets())
        except (OSError, ValueError) as error:
            raise Unreachable(_in_short(error)) from error
        jobs = [job for batch in batches for job in batch.jobs]
        return {job.name: self._state(job, job.name in known) for job in jobs}

    def cancel(self, batches: Sequence[Batch]) -> None:
        """Cancel the tasks; a job that runs looks for that every half second."""
        jobs = [job for batch in batches for job in batch.jobs]
        with contextlib.suppress(OSError):
            futures = [self._futures[job.name] for job in jobs if job.name in self._futures]
            # By force: as they are published, another client wants them too.
            self._client.cancel([future for future in futures if not future.done()], force=True)

    def wait(self, seconds: float) -> None:
        """Wait until a future has ended, or for so many seconds."""
        from distributed import CancelledError, wait

        pending = [future for future in self._futures.values() if not future.done()]
        if not pending:
            time.sleep(min(seconds, 0.1))
            return
        with contextlib.suppress(TimeoutError, CancelledError), self._client.as_current():
            wait(pending, timeout=seconds, return_when="FIRST_COMPLETED")

    def log(self, job_id: str, journal: Journal) -> str:
        """Say where the log of a job is."""
        return f"what the workers of {self._address} print"

    def forget(self, batch: Batch, journal: Journal, keep: Collection[str]) -> None:
        """Take the futures of a batch off the scheduler."""
        for job in batch.jobs:
            self._futures.pop(job.name, None)
            with contextlib.suppress(Exception):  # it has been restarted, or is gone
                self._client.unpublish_dataset(job.name)

    def close(self) -> None:
        """Leave the scheduler; end the workers that were started for it."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _connect(self) -> None:
        from distributed import Client

        if self._client is not None:
            self._client.close()
            self._futures = {}
        self._client = Client(self._address, timeout=self._patience, set_as_default=False)

    def _workers(self) -> dict[str, Any]:
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])

    def _check_python(self) -> None:
        """Raise InputError for workers whose Python cannot even read what ours sends."""
        found = self._client.get_versions()
        here = found["client"]["host"]["python"]
        for address, worker in found["workers"].items():
            there = worker["host"]["python"]
            if there.split(".")[:2] != here.split(".")[:2]:
                raise InputError(
                    f"{self._option} has Python {there} on {address}, and here it is {here}: start "
                    "the workers with the same version."
                )

    def _state(self, job: Job, is_published: bool) -> JobState:
        future = self._futures.get(job.name)
        if future is None and is_published:
            future = self._futures[job.name] = self._client.get_dataset(job.name)
        if future is None:
            return JobState("ended", "LOST")  # the scheduler has been restarted
        if future.status == "pending":
            return JobState("queued")  # or running, as its report says
        if future.status == "finished":
            return JobState("ended", "COMPLETED")
        if future.status == "error":
            return JobState("ended", f"FAILED ({_in_short(future.exception())})")
        return JobState("ended", "CANCELLED" if is_published else "LOST")


def run_in_dask(store: str, batch: str, number: int) -> None:
    """Be a job of Dask: take its steps until they are done, or the task is cancelled."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def stop() -> str:
        task = worker.state.tasks.get(key)
        return "CANCELLED" if task is None or task.state == "cancelled" else ""

    run_job(store, batch, number, stop, keep_worker=True)


def _check_command(kind: str, option: str) -> None:
    """Raise InputError unless jobs can be submitted: dask-jobqueue would go on without workers."""
    if kind == _HERE:
        return
    import dask_jobqueue

    command = shlex.split(getattr(dask_jobqueue, _CLUSTERS[kind]).job_cls.submit_command)[0]
    if shutil.which(command) is None:
        raise InputError(
            f"{option} needs {command}, which is not on this machine: start the command on a login "
            "node of the cluster, or give executor.address."
        )


def _started(kind: str, workers: int, options: dict[str, Any]) -> Any:
    if kind == _HERE:
        from distributed import LocalCluster

        given = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        return LocalCluster(**{**given, **options})
    import dask_jobqueue

    made = getattr(dask_jobqueue, _CLUSTERS[kind])(**{"cores": 1, "memory": "4GiB", **options})
    made.scale(workers)
    return made


def _in_short(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")
