"""The executor for Dask: jobs are tasks of a scheduler that runs, or of workers on this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Sequence
from typing import Any

from mklbench import __version__
from mklbench.errors import InputError, first_line
from mklbench.experiments.execution.remote import EndedJob, Remote, take_steps
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

# Seconds to wait for a scheduler.
_CONNECT = 10.0
# Seconds to wait for a job to end before it is looked what others have done.
_LOOK = 2.0


class Dask(Remote):
    """Jobs as tasks of Dask.

    Parameters
    ----------
    jobs, timeout : int and float or None
        Of the local executor; to be left alone here.
    address : str or None
        Of a scheduler: ``tcp://host:8786``; None starts workers on this machine.
    workers : int, default=2
        How many are started on this machine, where there is no address.
    minutes : float, default=30
        How long a job begins steps.
    memory : float, default=0
        GiB that each job asks for at least.

    Raises
    ------
    InputError
        If an option is not possible, or distributed is not installed.
    """

    name, option = "dask", "workers"

    def __init__(
        self,
        jobs: int = 1,
        timeout: float | None = None,
        *,
        address: str | None = None,
        workers: int = 2,
        minutes: float = 30.0,
        memory: float = 0.0,
    ) -> None:
        super().__init__(jobs, timeout, workers, minutes, memory)
        self._address, self._workers = address, workers
        self._client: Any = None
        self._cluster: Any = None
        self._futures: list[Any] = []

    @property
    def slots(self) -> int:
        """Threads of the workers; at least one, as workers may be about to come."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return max(sum(worker["nthreads"] for worker in workers.values()), 1)

    def prepare(self, runs: Sequence[Run], store: Store) -> None:
        """Connect, and raise InputError unless the workers have our version and see the store."""
        if self._client is None:
            self._connect()
            self._check(store)

    def submit(self, n_jobs: int, arguments: tuple[Any, ...], gib: int) -> list[str]:
        """Submit jobs as tasks."""
        futures = [self._client.submit(_run, *arguments, pure=False) for _ in range(n_jobs)]
        self._futures += futures
        return [f"dask {future.key}" for future in futures]

    def ended(self) -> list[EndedJob]:
        """Wait until a future has ended, for two seconds at most."""
        from distributed import CancelledError, wait

        if not self._futures:
            time.sleep(_LOOK)
        elif not any(future.done() for future in self._futures):
            with self._client.as_current(), contextlib.suppress(TimeoutError, CancelledError):
                wait(self._futures, timeout=_LOOK, return_when="FIRST_COMPLETED")
        done = [future for future in self._futures if future.done()]
        self._futures = [future for future in self._futures if future not in done]
        return [_ended(future) for future in done]

    def close(self) -> None:
        """Cancel the tasks, leave the scheduler, and end the workers that were started here."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            if self._client is not None:
                self._client.cancel(self._futures, force=True)
                self._client.close()
        with contextlib.suppress(Exception):
            if self._cluster is not None:
                self._cluster.close()
        self._client, self._cluster, self._futures = None, None, []

    def _connect(self) -> None:
        from distributed import Client, LocalCluster

        # Their tracebacks on a scheduler or a worker that is away say less than we do.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
        try:
            # Not by the client, which waits for 20 s after workers that do not start.
            if self._address is None:
                self._cluster = LocalCluster(None, self._workers, 1, **quiet)
            address = self._address or self._cluster
            self._client = Client(address, timeout=_CONNECT, set_as_default=False)
        except Exception as error:  # of many kinds
            asked = "" if self._address is None else f" with executor.address={self._address}"
            raise InputError(
                f"executor=dask{asked} has no workers ({first_line(error)}): see that a dask "
                "scheduler runs there, as in tcp://host:8786, or start the command again."
            ) from error

    def _check(self, store: Store) -> None:
        store.check(writable=True)
        store.path.mkdir(parents=True, exist_ok=True)
        try:
            found = set(self._client.run(_answer, str(store.path.absolute())).values())
        except Exception as error:  # raised there, of whatever kind
            found = {first_line(error)}
        if found != {_answer(str(store.path))}:
            raise InputError(
                f"executor=dask needs workers with mklbench {__version__} that see results_dir="
                f"{store.path}, and finds {', '.join(found) or 'no workers'}: start dask worker "
                "where this version is installed, and name a directory that all of them share, by "
                "its whole path."
            )


def _ended(future: Any) -> EndedJob:
    where = f"on dask task {future.key}; log: what the workers print"
    reason, refused = "LOST", {}
    if future.status == "finished":
        reason, refused = "COMPLETED", future.result()
    elif future.status == "error":
        reason = f"FAILED ({first_line(future.exception())})"
    return EndedJob(f"dask {future.key}", reason, where, refused)


def _run(*arguments: Any) -> dict[str, str]:
    """Be a task of Dask; end early once it is cancelled."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def stop() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return take_steps(*arguments, name=f"dask {key}", stop=stop)


def _answer(store: str) -> str:
    """Say which version a worker has, and whether it sees the store."""
    return f"mklbench {__version__} {'with' if os.access(store, os.W_OK) else 'without'} the store"
