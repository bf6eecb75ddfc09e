"""A table run on a real Slurm comes out as on one machine, whatever befalls its jobs."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import engines
import pytest
import runs
from runs import STEPS, Results, Run
from slurm_cluster import SlurmCluster

Start = Callable[..., Run]

pytestmark = pytest.mark.xdist_group("slurm")

ASKED = ("executor=slurm", "executor.partition=cpu", "executor.poll=1", "executor.minutes=0.05")
TWO = "executor.array=2"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """How each split goes on this machine, undisturbed."""
    return runs.undisturbed(tmp_path_factory.mktemp("local"))


@pytest.fixture(scope="module")
def begin(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Make a run with two jobs at a time; what is left of it in the end is ended."""
    pytest.importorskip("submitit")
    begun: list[Run] = []

    def begin(*options: str, hold: bool = True) -> Run:
        run = Run(tmp_path_factory.mktemp("run"), *ASKED, *(options or [TWO]))
        begun.append(run)
        if hold:
            run.order("hold")
        return run

    yield begin
    for run in begun:
        names = ",".join({job.batch for job in run.jobs.values()})
        if names:
            slurm.client("scancel", f"--name={names}")
        run.stop()


def ended(slurm: SlurmCluster, job: str, state: str) -> None:
    engines.wait_for(lambda: slurm.state(job) == state, f"job {job} was not {state}", 60)


def test_a_table_is_reproduced(begin: Start, expected: Results) -> None:
    run = begin(hold=False)
    run.reproduce()
    runs.assert_came_through(run, expected, STEPS)
    assert {record.provenance["node"] for record in run.records()} != {None}
    assert all(record.provenance["job"].startswith("slurm ") for record in run.records())


def test_a_killed_job(slurm: SlurmCluster, begin: Start, expected: Results) -> None:
    run = begin()
    run.start()
    job, step = run.held()
    said = run.status()
    assert job.id in said
    assert "running" in said
    engines.send(runs.parent_of(step), signal.SIGKILL)
    ended(slurm, job.id, "FAILED")
    runs.assert_came_through(run, expected, STEPS + 1)


@pytest.mark.slow
def test_a_cancelled_job(slurm: SlurmCluster, begin: Start, expected: Results) -> None:
    run = begin()
    run.start()
    job, _ = run.held()
    slurm.client("scancel", job.id)
    ended(slurm, job.id, "CANCELLED")
    runs.assert_came_through(run, expected, STEPS + 1)


@pytest.mark.slow
def test_a_cancelled_job_that_is_not_tried_again(
    slurm: SlurmCluster, begin: Start, expected: Results
) -> None:
    run = begin(TWO, "executor.retries=0")
    run.start()
    job, _ = run.held()
    slurm.client("scancel", job.id)
    error = runs.assert_one_failed(run, expected)
    assert error.startswith(f"CANCELLED by 0 on node localhost, slurm job {job.id}, after 1 att")
    assert Path(error.rpartition("log: ")[2]).exists()
    run.start()
    assert run.end() == 0, run.log()
    assert run.results() == expected
    assert run.begun() == STEPS + 1


@pytest.mark.slow
def test_a_job_out_of_memory(begin: Start, expected: Results) -> None:
    run = begin(hold=False)
    run.order("memory")
    run.start()
    runs.assert_came_through(run, expected, STEPS + 1)
    assert {job.memory for job in run.jobs.values()} == {1, 2}


@pytest.mark.slow
def test_a_step_that_is_out_of_memory_for_ever(begin: Start, expected: Results) -> None:
    run = begin(TWO, "executor.retries=1", hold=False)
    run.order("memory-always")
    run.start()
    error = runs.assert_one_failed(run, expected)
    assert error.startswith("OUT_OF_MEMORY on node ")
    assert ", after 2 attempts" in error
    assert Path(error.rpartition("log: ")[2]).exists()
    assert run.begun() == STEPS + 1
    assert {job.memory for job in run.jobs.values()} == {1, 2}


@pytest.mark.slow
def test_a_job_over_its_time_limit(slurm: SlurmCluster, begin: Start, expected: Results) -> None:
    run = begin()
    run.start()
    job, _ = run.held()
    slurm.run_out_of_time(job.id)
    ended(slurm, job.id, "TIMEOUT")
    runs.assert_came_through(run, expected, STEPS + 1)
    assert max(one.minutes for one in run.jobs.values()) > job.minutes


@pytest.mark.slow
def test_a_driver_that_is_killed_and_started_again(begin: Start, expected: Results) -> None:
    run = begin()
    run.start()
    job, step = run.held()
    run.kill_driver()
    assert step.is_running()
    run.start()
    run.until(lambda: len(run.records()) == STEPS - 1, "the others were not run")
    run.order("go")
    runs.assert_came_through(run, expected, STEPS)
    assert f"slurm {job.id}" in {record.provenance["job"] for record in run.records()}


@pytest.mark.slow
def test_a_controller_that_is_restarted(
    slurm: SlurmCluster, begin: Start, expected: Results
) -> None:
    run = begin()
    run.start()
    job, _ = run.held()
    slurm.restart_controller()
    assert slurm.state(job.id) == "RUNNING"
    run.order("go")
    runs.assert_came_through(run, expected, STEPS)
