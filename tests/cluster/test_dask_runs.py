"""A table run on a real Dask comes out as on one machine, whatever befalls the workers."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import dask_cluster
import engines
import pytest
import runs
from dask_cluster import DaskCluster
from runs import STEPS, Results, Run

Start = Callable[..., Run]

# The last tests wait for what was begun before the first, as long as that takes.
pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("dask")]

OPTIONS = {"PYTHONPATH": runs.PYTHONPATH}


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler with two workers that can import our algorithm."""
    yield from started(DaskCluster(tmp_path_factory.mktemp("dask"), settings=OPTIONS))


@pytest.fixture(scope="module")
def patient_dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """Another one for what takes minutes."""
    folder = tmp_path_factory.mktemp("patient")
    # Jobs that wait behind one that was stopped go to other workers after so long, not 5 minutes;
    # a nanny would kill the worker then.
    options = {**OPTIONS, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60 s"}
    yield from started(DaskCluster(folder, workers=4, settings=options, nannies=False))


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


@pytest.fixture(scope="module")
def aside() -> Iterator[ThreadPoolExecutor]:
    """For what takes minutes, of which most are waited for."""
    with ThreadPoolExecutor() as pool:
        yield pool


@pytest.fixture(scope="module", autouse=True)
def stopped(
    aside: ThreadPoolExecutor, patient_dask: DaskCluster, begin: Start, expected: Results
) -> Future[None]:
    """A worker that is stopped until its claim has run out: begun before the other tests."""
    run = begin(patient_dask)
    run.order("hold-2")
    return aside.submit(stop_and_continue, run, expected)


@pytest.fixture(scope="module", autouse=True)
def overlong(
    stopped: Future[None],
    aside: ThreadPoolExecutor,
    patient_dask: DaskCluster,
    begin: Start,
    expected: Results,
) -> Future[None]:
    """A step that does not end until its job is at its time limit: begun early, too."""
    run = begin(patient_dask, hold=False)
    return aside.submit(overrun, run, expected)


def stop_and_continue(run: Run, expected: Results) -> None:
    run.start()
    _, step = run.held()
    stopped = [runs.parent_of(step), step]
    runs.send_to_all(stopped, signal.SIGSTOP)
    run.held("hold-2")  # so that the run does not end before the worker goes on
    run.until(lambda: len(run.records()) == STEPS - 1, "its steps were not freed", 360)
    before = run.stamps()
    run.order("go")
    runs.send_to_all(stopped, signal.SIGCONT)
    engines.wait_for(lambda: run.solved() == STEPS, "it did not go on")
    run.order("go-2")
    runs.assert_came_through(run, expected, STEPS + 1)
    assert before.items() <= run.stamps().items()


def overrun(run: Run, expected: Results) -> None:
    run.start()
    run.until(lambda: run.records(), "there was no record")
    run.order("hold")  # now that the others are known to take no time
    job, _ = run.held()
    run.end(480)
    runs.assert_came_through(run, expected, STEPS + 1)
    limits = {one.id: one.minutes for one in run.jobs.values()}
    assert max(limits.values()) > job.minutes, limits


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


def test_a_cancelled_job(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    job, step = run.held()
    from distributed import Client

    with Client(dask.address, timeout=20, set_as_default=False) as client:
        client.cancel(client.get_dataset(job.id), force=True)
    engines.wait_for(lambda: not step.is_running(), "it has not ended")
    assert_came_through(run, dask, expected, STEPS + 1)


def test_a_job_out_of_memory(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask, hold=False)
    run.order("memory")
    run.start()
    assert_came_through(run, dask, expected, STEPS + 1)
    assert {job.memory for job in run.jobs.values()} == {1, 2}


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


def test_a_scheduler_that_is_restarted(dask: DaskCluster, begin: Start, expected: Results) -> None:
    run = begin(dask)
    run.start()
    _, step = run.held()
    dask.restart_scheduler()
    engines.wait_for(lambda: not step.is_running(), "it has not ended")
    assert_came_through(run, dask, expected, STEPS + 1)


def test_a_job_that_stops_itself_at_its_time_limit(overlong: Future[None]) -> None:
    overlong.result()


def test_a_worker_that_was_stopped_and_goes_on(stopped: Future[None]) -> None:
    stopped.result()
