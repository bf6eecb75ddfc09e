"""A table run on a real Slurm comes out as on one machine; what befalls a job costs a step."""

from __future__ import annotations

import getpass
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

ASKED = (
    *("executor=slurm", "executor.partition=cpu", "executor.poll=1", "executor.minutes=0.05"),
    "executor.array=3",
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """How each split goes on this machine, undisturbed."""
    return runs.undisturbed(tmp_path_factory.mktemp("local"))


@pytest.fixture(scope="module")
def begin(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Make a run with two jobs at a time; what is left of it in the end is ended."""
    pytest.importorskip("submitit")
    begun: list[Run] = []

    def begin(hold: bool = True) -> Run:
        run = Run(tmp_path_factory.mktemp("run"), *ASKED)
        begun.append(run)
        if hold:
            run.order("hold")
        return run

    yield begin
    for run in begun:
        slurm.client("scancel", f"--user={getpass.getuser()}")
        run.stop()


def job_of(slurm: SlurmCluster, run: Run) -> str:
    """Return the id of the job that has the step which holds, as soon as the others have ended."""
    held = runs.parent_of(run.held())
    engines.wait_for(
        lambda: len(run.records()) == STEPS - 1, "the others were not run", runs.PATIENCE
    )
    job = held.environ()["SLURM_ARRAY_JOB_ID"] + "_" + held.environ()["SLURM_ARRAY_TASK_ID"]
    assert slurm.state(job) == "RUNNING"
    return job


def assert_goes_on(run: Run, expected: Results) -> None:
    """See that the same command runs the one step again that has failed, and no other."""
    run.start()
    assert run.end() == 0, run.log()
    assert run.results() == expected
    assert run.begun() == STEPS + 1


def test_a_table_is_reproduced(begin: Start, expected: Results) -> None:
    run = begin(hold=False)
    run.reproduce()
    runs.assert_came_through(run, expected, STEPS)


def test_a_killed_job_costs_its_step(slurm: SlurmCluster, begin: Start, expected: Results) -> None:
    run = begin()
    run.start()
    job = job_of(slurm, run)
    assert f"{job}" in run.status()
    engines.send(runs.parent_of(run.held()), signal.SIGKILL)
    error = runs.assert_one_failed(run, expected)
    assert error.startswith(f"FAILED on node localhost, slurm job {job}; log: ")
    assert Path(error.rpartition("log: ")[2]).exists()
    assert_goes_on(run, expected)


def test_an_interrupted_driver_cancels_its_jobs(
    slurm: SlurmCluster, begin: Start, expected: Results
) -> None:
    run = begin()
    run.start()
    job = job_of(slurm, run)
    assert run.driver is not None
    run.driver.send_signal(signal.SIGINT)
    assert run.driver.wait(20) == 130
    engines.wait_for(lambda: slurm.state(job) == "CANCELLED", "the job was not cancelled", 30)
    assert_goes_on(run, expected)


@pytest.mark.slow
def test_a_cancelled_job_is_not_submitted_again(
    slurm: SlurmCluster, begin: Start, expected: Results
) -> None:
    run = begin()
    run.start()
    job = job_of(slurm, run)
    slurm.client("scancel", job)
    assert runs.assert_one_failed(run, expected).startswith("CANCELLED on node localhost")
    assert_goes_on(run, expected)


@pytest.mark.slow
def test_a_job_out_of_memory(begin: Start, expected: Results) -> None:
    run = begin(hold=False)
    run.order("memory")
    run.start()
    assert runs.assert_one_failed(run, expected).startswith("FAILED on node localhost")
    assert_goes_on(run, expected)


@pytest.mark.slow
def test_a_job_over_its_time_limit(slurm: SlurmCluster, begin: Start, expected: Results) -> None:
    run = begin()
    run.start()
    slurm.run_out_of_time(job_of(slurm, run))
    assert runs.assert_one_failed(run, expected).startswith("TIMEOUT on node localhost")
    assert_goes_on(run, expected)


@pytest.mark.slow
def test_a_driver_that_is_killed_and_started_again(
    slurm: SlurmCluster, begin: Start, expected: Results
) -> None:
    run = begin()
    run.start()
    job_of(slurm, run)
    run.kill_driver()
    run.start()  # its job waits for the one that has the step in hand
    run.order("go")
    assert run.end() == 0, run.log()
    assert run.results() == expected
    assert run.begun() == STEPS


@pytest.mark.slow
def test_a_controller_that_is_restarted(
    slurm: SlurmCluster, begin: Start, expected: Results
) -> None:
    run = begin()
    run.start()
    job = job_of(slurm, run)
    slurm.restart_controller()
    assert slurm.state(job) == "RUNNING"
    run.order("go")
    runs.assert_came_through(run, expected, STEPS)
