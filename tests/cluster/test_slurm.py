"""Slurm itself, as the fixture starts it: it says of each end of a job what Slurm says anywhere."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import engines
import psutil
import pytest
import slurm_cluster
from slurm_cluster import SlurmCluster

# The tests of one engine share it, beside those of the other.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("slurm")]

Submit = Callable[..., str]


@pytest.fixture
def submit(slurm: SlurmCluster, tmp_path: Path) -> Iterator[Submit]:
    """Submit a line of shell with options of sbatch; what is left of it ends with the test."""
    jobs: list[str] = []

    def submit(line: str, *options: str) -> str:
        output = f"--output={tmp_path}/%j.log"
        job = slurm.client("sbatch", "--parsable", output, *options, "--wrap", line)
        assert job.isdigit(), job
        jobs.append(job)
        return job

    yield submit
    slurm.client("scancel", *jobs)


def becomes(slurm: SlurmCluster, job: str, state: str, seconds: float = 40) -> None:
    engines.wait_for(
        lambda: slurm.state(job) == state,
        f"job {job} was not {state} but {slurm.state(job)}",
        seconds,
    )


def begun(slurm: SlurmCluster, job: str) -> list[psutil.Process]:
    """Return the processes of a job as soon as there are any; squeue says RUNNING before that."""
    engines.wait_for(lambda: bool(slurm.processes_of(job)), f"job {job} had no process")
    return slurm.processes_of(job)


def accounted(slurm: SlurmCluster, job: str) -> str:
    """Return the state that sacct knows, which is behind by seconds."""
    return slurm.client("sacct", "-P", "-n", "-X", "-j", job, "-o", "State,ExitCode")


def is_accounted(slurm: SlurmCluster, job: str, expected: str) -> None:
    engines.wait_for(lambda: accounted(slurm, job) == expected, f"sacct did not say {expected}", 20)


def test_a_program_runs_on_the_node(slurm: SlurmCluster) -> None:
    assert slurm.client("srun", "sh", "-c", "echo $SLURM_JOB_NODELIST") == "localhost"


def test_an_array_of_submitit_brings_its_results(slurm: SlurmCluster, tmp_path: Path) -> None:
    submitit = pytest.importorskip("submitit")
    executor = submitit.SlurmExecutor(folder=tmp_path)
    executor.update_parameters(time=5, partition="cpu", array_parallelism=2)
    jobs = executor.map_array(divmod, [17, 18, 19], [5, 5, 5])
    assert [job.result() for job in jobs] == [(3, 2), (3, 3), (3, 4)]


def test_a_killed_job_is_failed(slurm: SlurmCluster, submit: Submit) -> None:
    job = submit("exec sleep 60")
    [sleep] = begun(slurm, job)
    sleep.send_signal(signal.SIGKILL)
    becomes(slurm, job, "FAILED")
    is_accounted(slurm, job, "FAILED|0:9")
    assert slurm.processes_of(job) == []


def test_a_cancelled_job_says_by_whom(slurm: SlurmCluster, submit: Submit) -> None:
    job = submit("sleep 60")
    becomes(slurm, job, "RUNNING")
    slurm.client("scancel", job)
    becomes(slurm, job, "CANCELLED")
    is_accounted(slurm, job, "CANCELLED by 0|0:0")


def test_a_job_over_its_memory_is_killed_and_its_log_says_why(
    slurm: SlurmCluster, submit: Submit, tmp_path: Path
) -> None:
    job = submit(
        f"{sys.executable} -c 'import time; x = b\"1\" * 400_000_000; time.sleep(60)'", "--mem=100"
    )
    becomes(slurm, job, "FAILED")
    assert "exceeded memory limit" in (tmp_path / f"{job}.log").read_text(encoding="utf-8")


def test_a_job_can_be_out_of_memory_as_with_cgroups(slurm: SlurmCluster, submit: Submit) -> None:
    array = submit("sleep 60", "--array=0-1")
    becomes(slurm, f"{array}_1", "RUNNING")
    slurm.run_out_of_memory(f"{array}_1")
    becomes(slurm, f"{array}_1", "OUT_OF_MEMORY")
    is_accounted(slurm, f"{array}_1", "OUT_OF_MEMORY|0:125")
    assert slurm.state(f"{array}_0") == "RUNNING"


def test_a_job_ends_at_its_time_limit(slurm: SlurmCluster, submit: Submit) -> None:
    job = submit("sleep 120")
    becomes(slurm, job, "RUNNING")
    slurm.run_out_of_time(job)
    becomes(slurm, job, "TIMEOUT")
    is_accounted(slurm, job, "TIMEOUT|0:0")


def test_an_urgent_job_preempts_another(slurm: SlurmCluster, submit: Submit) -> None:
    job = submit("sleep 60", f"--cpus-per-task={slurm.cpus}")
    becomes(slurm, job, "RUNNING")
    urgent = submit("sleep 0.1", "--partition=urgent")
    becomes(slurm, urgent, "COMPLETED")
    becomes(slurm, job, "PREEMPTED")


def test_jobs_outlive_the_controller(slurm: SlurmCluster, submit: Submit) -> None:
    running = submit("sleep 5")
    [script, *_] = begun(slurm, running)
    waiting = submit("sleep 0.1", f"--dependency=afterok:{running}")
    slurm.stop_controller()
    assert "is DOWN" in slurm.client("scontrol", "ping")
    slurm.start_controller()
    assert (slurm.state(running), slurm.state(waiting)) == ("RUNNING", "PENDING")
    assert script in slurm.processes_of(running)
    becomes(slurm, waiting, "COMPLETED")
    is_accounted(slurm, running, "COMPLETED|0:0")


def test_nothing_is_left_after_a_killed_test_run(tmp_path: Path) -> None:
    if slurm_cluster.missing():
        pytest.skip(f"needs a Slurm: {slurm_cluster.missing()}")
    folder = tmp_path / "slurm"
    program = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
import engines, slurm_cluster
cluster = slurm_cluster.SlurmCluster(Path({str(folder)!r}))
with engines.stopped_with_us(Path(slurm_cluster.__file__), cluster.directory):
    cluster.start()
    cluster.client("sbatch", "--output=/dev/null", "--wrap", "sleep 600")
    print("started", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "started\n"
        [script, *_] = begun(SlurmCluster(folder), "1")
        run.kill()
    engines.wait_for(lambda: not engines.marked(folder), "daemons were not stopped", 20)
    assert not script.is_running() or script.status() == psutil.STATUS_ZOMBIE
