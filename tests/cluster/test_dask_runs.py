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
    yield from started(DaskCluster(tmp_path_factory.mktemp("dask"), OPTIONS))


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
        engines.wait_for(lambda: not any(client.processing().values()), "it goes on", 20)


def test_a_table_is_reproduced(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask, hold=False)
    run.reproduce()
    assert_came_through(run, dask, expected, STEPS)


def test_a_killed_worker(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    step = run.held()
    assert "running on" in run.status()
    engines.send(runs.parent_of(step), signal.SIGKILL)  # Dask gives its job to another worker
    assert_came_through(run, dask, expected, STEPS + 1)


def test_an_interrupted_driver_cancels_its_jobs(
    dask: DaskCluster, begin: Start, expected: Results
) -> None:
    run = begin(dask)
    run.start()
    step = run.held()
    assert run.driver is not None
    run.driver.send_signal(signal.SIGINT)
    assert run.driver.wait(20) == 130
    engines.wait_for(lambda: not step.is_running(), "the step goes on", 30)
    assert_idle(dask)
    run.start()
    assert run.end() == 0, run.log()
    assert run.results() == expected


@pytest.mark.slow
def test_a_driver_that_is_killed_and_started_again(
    dask: DaskCluster, begin: Start, expected: Results
) -> None:
    run = begin(dask)
    run.start()
    run.held()
    run.kill_driver()
    run.start()
    run.order("go")
    assert run.end() == 0, run.log()
    assert run.results() == expected
    assert_idle(dask)


@pytest.mark.slow
def test_a_scheduler_that_is_restarted(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    step = run.held()
    dask.restart_scheduler()
    engines.wait_for(lambda: not step.is_running(), "it has not ended")
    run.end()
    run.start()
    assert run.end() == 0, run.log()
    assert run.results() == expected
