"""A table run on a real Dask comes out as on one machine, whatever befalls the workers."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import dask_cluster
import engines
import pytest
import runs
from dask_cluster import DaskCluster
from runs import STEPS, Results, Run

Start = Callable[..., Run]

pytestmark = pytest.mark.xdist_group("dask")

OPTIONS = {"PYTHONPATH": runs.PYTHONPATH}


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler with two workers that can import our algorithm."""
    yield from started(DaskCluster(tmp_path_factory.mktemp("dask"), settings=OPTIONS))


def started(cluster: DaskCluster) -> Iterator[DaskCluster]:
    reason = dask_cluster.missing()
    if reason:
        pytest.skip(f"needs Dask: {reason}")
    with engines.stopped_with_us(Path(dask_cluster.__file__), cluster.directory):
        cluster.start()
        yield cluster
        cluster.stop()


@pytest.fixture(scope="module")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Make a run; what is left of it in the end is ended."""
    begun: list[Run] = []

    def begin(cluster: DaskCluster, *options: str, hold: bool = True) -> Run:
        asked = ("executor=dask", f"executor.address={cluster.address}", "executor.minutes=0.05")
        run = Run(tmp_path_factory.mktemp("run"), *asked, *options)
        begun.append(run)
        if hold:
            run.order("hold")
        return run

    yield begin
    for run in begun:
        run.stop()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """How each split goes on this machine, undisturbed."""
    return runs.undisturbed(tmp_path_factory.mktemp("local"))


def assert_came_through(run: Run, cluster: DaskCluster, expected: Results, n_begun: int) -> None:
    runs.assert_came_through(run, expected, n_begun)
    assert_idle(cluster)


def assert_idle(cluster: DaskCluster) -> None:
    """See that the scheduler has nothing more to do, nor anything that it keeps for us."""
    from distributed import Client

    with Client(cluster.address, timeout=20, set_as_default=False) as client:
        assert client.list_datasets() == ()
        engines.wait_for(lambda: not any(client.processing().values()), "it goes on", 20)


def test_a_table_is_reproduced(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask, hold=False)
    run.reproduce()
    assert_came_through(run, dask, expected, STEPS)
    assert all(record.provenance["job"].startswith("dask mklb") for record in run.records())


def test_a_killed_worker(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    job, step = run.held()
    said = run.status()
    assert job.id in said
    assert "running" in said
    engines.send(runs.parent_of(step), signal.SIGKILL)
    assert_came_through(run, dask, expected, STEPS + 1)


@pytest.mark.slow
def test_a_cancelled_job(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    job, step = run.held()
    from distributed import Client

    with Client(dask.address, timeout=20, set_as_default=False) as client:
        client.cancel(client.get_dataset(job.id), force=True)
    engines.wait_for(lambda: not step.is_running(), "it has not ended")
    assert_came_through(run, dask, expected, STEPS + 1)


@pytest.mark.slow
def test_a_job_out_of_memory(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask, hold=False)
    run.order("memory")
    run.start()
    assert_came_through(run, dask, expected, STEPS + 1)
    assert {job.memory for job in run.jobs.values()} == {1, 2}


@pytest.mark.slow
def test_a_step_that_is_out_of_memory_for_ever(
    dask: DaskCluster, begin: Start, expected: Results
) -> None:
    run = begin(dask, "executor.retries=1", hold=False)
    run.order("memory-always")
    run.start()
    error = runs.assert_one_failed(run, expected)
    assert "OUT_OF_MEMORY on node " in error
    assert ", after 2 attempts" in error
    assert f"log: what the workers of {dask.address} print" in error
    assert run.begun() == STEPS + 1
    assert {job.memory for job in run.jobs.values()} == {1, 2}
    assert_idle(dask)


@pytest.mark.slow
def test_a_driver_that_is_killed_and_started_again(
    dask: DaskCluster, begin: Start, expected: Results
) -> None:
    run = begin(dask)
    run.start()
    job, step = run.held()
    run.kill_driver()
    assert step.is_running()
    run.start()
    run.until(lambda: len(run.records()) == STEPS - 1, "the others were not run")
    run.order("go")
    assert_came_through(run, dask, expected, STEPS)
    assert f"dask {job.id}" in {record.provenance["job"] for record in run.records()}


@pytest.mark.slow
def test_a_scheduler_that_is_restarted(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    _, step = run.held()
    dask.restart_scheduler()
    engines.wait_for(lambda: not step.is_running(), "it has not ended")
    assert_came_through(run, dask, expected, STEPS + 1)
