"""Dask itself, as the fixture starts it: what becomes of tasks when workers or a scheduler go."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING

import dask_cluster
import engines
import psutil
import pytest
from dask_cluster import DaskCluster

if TYPE_CHECKING:
    from distributed import Client

# The tests of one engine share it, beside those of the other.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dask")]

# How many workers a task may kill and still be given to another.
ALLOWED_FAILURES = "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"


@pytest.fixture
def client(dask_scheduler: DaskCluster) -> Iterator[Client]:
    from distributed import Client

    with Client(dask_scheduler.address, timeout=20) as client:
        client.wait_for_workers(len(dask_scheduler.workers), timeout=30)
        yield client


def noting(folder: Path, seconds: float) -> Callable[[], int]:
    """Return a task that leaves a file named after its process, and returns that after a while.

    A function inside of a function, as that is sent as it is: workers cannot import this module.
    """

    def note() -> int:
        (folder / str(os.getpid())).touch()
        time.sleep(seconds)
        return os.getpid()

    return note


def worker_of(folder: Path) -> psutil.Process:
    """Return the process that takes the task which notes here."""
    engines.wait_for(lambda: any(folder.iterdir()), "the task did not begin", 20)
    [path] = folder.iterdir()
    return psutil.Process(int(path.name))


def test_tasks_run_on_the_workers(dask_scheduler: DaskCluster, client: Client) -> None:
    workers = {dask_scheduler.worker(name).pid for name in dask_scheduler.workers}
    assert set(client.run(os.getpid).values()) == workers
    assert client.submit(os.getpid, pure=False).result(timeout=20) in workers
    assert set(client.run(lambda: sys.executable).values()) == {sys.executable}


def test_a_task_whose_worker_was_killed_is_taken_by_another(client: Client, tmp_path: Path) -> None:
    future = client.submit(noting(tmp_path, 2))
    lost = worker_of(tmp_path)
    lost.send_signal(signal.SIGKILL)
    assert future.result(timeout=30) != lost.pid
    client.wait_for_workers(2, timeout=30)


def test_a_stopped_worker_goes_on(client: Client, tmp_path: Path) -> None:
    future = client.submit(noting(tmp_path, 0.5))
    worker = worker_of(tmp_path)
    worker.send_signal(signal.SIGSTOP)
    time.sleep(2)
    assert future.status == "pending"
    worker.send_signal(signal.SIGCONT)
    assert future.result(timeout=30) == worker.pid


def test_a_cancelled_task_has_no_result(client: Client, tmp_path: Path) -> None:
    future = client.submit(noting(tmp_path, 2))
    worker_of(tmp_path)
    client.cancel(future)
    with pytest.raises(CancelledError):
        future.result(timeout=30)


def test_a_restarted_scheduler_knows_new_workers_and_no_tasks(
    dask_scheduler: DaskCluster, client: Client, tmp_path: Path
) -> None:
    future = client.submit(noting(tmp_path, 2))
    before = worker_of(tmp_path)
    dask_scheduler.restart_scheduler()
    with pytest.raises(CancelledError):
        future.result(timeout=30)
    client.wait_for_workers(2, timeout=30)  # the same client, at the same address
    again = client.submit(noting(tmp_path, 0)).result(timeout=30)
    assert again != before.pid
    assert again in {dask_scheduler.worker(name).pid for name in dask_scheduler.workers}


@pytest.mark.usefixtures("dask_scheduler")  # skipped where that is
def test_a_task_over_the_memory_of_its_workers_kills_them(tmp_path: Path) -> None:
    from distributed import Client, KilledWorker

    def take_memory() -> None:
        taken = b"1" * 900_000_000
        time.sleep(60)
        del taken

    own = DaskCluster(tmp_path, workers=1, memory="600 MB", settings={ALLOWED_FAILURES: "0"})
    with engines.stopped_with_us(Path(dask_cluster.__file__), own.directory):
        own.start()
        with Client(own.address, timeout=20) as client, pytest.raises(KilledWorker):
            client.submit(take_memory).result(timeout=30)
        own.stop()
    assert "exceeded 95% memory budget" in (tmp_path / "worker-0.log").read_text(encoding="utf-8")


def test_a_lost_worker_stays_away_until_another_is_started(
    dask_scheduler: DaskCluster, client: Client
) -> None:
    first, second = dask_scheduler.workers
    dask_scheduler.lose_worker(first)
    left = dask_scheduler.worker(second).pid
    assert {client.submit(os.getpid, pure=False).result(timeout=30) for _ in range(4)} == {left}
    dask_scheduler.start_worker(first)
    client.wait_for_workers(2, timeout=30)
