"""What Slurm's commands say of jobs is read as it is meant; each answer here was measured."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from experiment_fakes import tiny_cell
from slurm_fakes import FakeSlurm

from mklbench.errors import InputError
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.engine import JobState, Unreachable
from mklbench.experiments.execution.journal import Batch, Journal
from mklbench.experiments.execution.slurm import Slurm, cluster
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store

pytest.importorskip("submitit")

# What a controller says that is away.
AWAY = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"
SOON = "2026-11-22T15:30:00"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(Store(tmp_path / "store"))


@pytest.fixture
def engine(fake_slurm: FakeSlurm) -> Slurm:
    assert fake_slurm.calls == []
    return Slurm({"partition": "cpu"}, 5, 0.1)


def batch_of(*memory: int, ids: tuple[str, ...] = ()) -> Batch:
    """Return a batch of one job a split, each with so many GiB."""
    cell = tiny_cell()
    chunks = [Chunk((Step(cell, split),), 1.0, gib, 5) for split, gib in enumerate(memory)]
    return Batch.of("slurm", "fake", chunks).with_ids(ids)


# What squeue and sacct say of the job 33_0, and what is made of it.
ANSWERS = {
    "pending": ("PENDING||N/A|Priority", "", JobState("queued", "Priority")),
    "just submitted": ("PENDING||N/A|None", "", JobState("queued", "None")),
    "held": ("PENDING||N/A|JobHeldUser", "", JobState("queued", "JobHeldUser")),
    "over the limit of its array": (
        "PENDING||N/A|JobArrayTaskLimit",
        "PENDING|None assigned",
        JobState("queued", "JobArrayTaskLimit"),
    ),
    "being prepared": (
        f"CONFIGURING|localhost|{SOON}|None",
        "",
        JobState("queued", "None", "localhost", SOON),
    ),
    "running": (
        f"RUNNING|localhost|{SOON}|None",
        "PENDING|localhost",
        JobState("running", "RUNNING", "localhost", SOON),
    ),
    "running without an end": (
        "RUNNING|localhost|NONE|None",
        "RUNNING|localhost",
        JobState("running", "RUNNING", "localhost"),
    ),
    "suspended": (
        f"SUSPENDED|localhost|{SOON}|None",
        "SUSPENDED|localhost",
        JobState("running", "SUSPENDED", "localhost", SOON),
    ),
    "cancelled, and ignores it for now": (
        f"COMPLETING|localhost|{SOON}|None",
        "CANCELLED by 0|localhost",
        JobState("running", "COMPLETING", "localhost", SOON),
    ),
    "done": (
        f"COMPLETED|localhost|{SOON}|None",
        "COMPLETED|localhost",
        JobState("ended", "COMPLETED", "localhost", SOON),
    ),
    "failed": (
        f"FAILED|localhost|{SOON}|NonZeroExitCode",
        "FAILED|localhost",
        JobState("ended", "FAILED", "localhost", SOON),
    ),
    "killed": (
        f"FAILED|localhost|{SOON}|JobLaunchFailure",
        "FAILED|localhost",
        JobState("ended", "FAILED", "localhost", SOON),
    ),
    "cancelled while it ran": (
        f"CANCELLED|localhost|{SOON}|None",
        "CANCELLED by 0|localhost",
        JobState("ended", "CANCELLED by 0", "localhost"),
    ),
    "cancelled while it was queued": (
        f"CANCELLED||{SOON}|JobHeldUser",
        "CANCELLED by 1000|None assigned",
        JobState("ended", "CANCELLED by 1000"),
    ),
    "cancelled, and not accounted for": (
        f"CANCELLED|localhost|{SOON}|None",
        "",
        JobState("ended", "CANCELLED", "localhost", SOON),
    ),
    "cancelled, and still running for the accounting": (
        f"CANCELLED|localhost|{SOON}|None",
        "RUNNING|localhost",
        JobState("ended", "CANCELLED", "localhost", SOON),
    ),
    "out of memory": (
        f"OUT_OF_MEMORY|localhost|{SOON}|OutOfMemory",
        "OUT_OF_MEMORY|localhost",
        JobState("ended", "OUT_OF_MEMORY", "localhost", SOON),
    ),
    "out of time": (
        f"TIMEOUT|localhost|{SOON}|TimeLimit",
        "TIMEOUT|localhost",
        JobState("ended", "TIMEOUT", "localhost", SOON),
    ),
    "preempted": (
        f"PREEMPTED|localhost|{SOON}|None",
        "PREEMPTED|localhost",
        JobState("ended", "PREEMPTED", "localhost", SOON),
    ),
    "its node was lost": (
        f"NODE_FAIL|localhost|{SOON}|NodeDown",
        "NODE_FAIL|localhost",
        JobState("ended", "NODE_FAIL", "localhost", SOON),
    ),
    "put back": ("PENDING||NONE|BeginTime", "REQUEUED|localhost", JobState("queued", "BeginTime")),
    "forgotten, done": ("", "COMPLETED|localhost", JobState("ended", "COMPLETED", "localhost")),
    "forgotten, cancelled": (
        "",
        "CANCELLED by 0|None assigned",
        JobState("ended", "CANCELLED by 0"),
    ),
    "forgotten, and the accounting is behind": ("", "RUNNING|localhost", None),
    "never heard of": ("", "", None),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_states(
    case: str,
    engine: Slurm,
    fake_slurm: FakeSlurm,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "_ACCOUNTING", 0)
    squeue, sacct, expected = ANSWERS[case]
    batch = batch_of(1, 1, ids=("33_0", "33_1"))
    other = f"33_1|RUNNING|localhost|NONE|None|{batch.name}\n"
    fake_slurm.says("squeue", (f"33_0|{squeue}|{batch.name}\n" if squeue else "") + other)
    fake_slurm.says("sacct", f"33_0|{sacct}\n" if sacct else "")
    states = engine.states([batch], journal)
    assert states.pop(f"{batch.name}-1") == JobState("running", "RUNNING", "localhost")
    assert states == ({} if expected is None else {f"{batch.name}-0": expected})
    (asked,) = fake_slurm.called("squeue")
    assert f"--name={batch.name}" in asked
    assert all("33_1" not in call for call in fake_slurm.called("sacct"))


@pytest.mark.parametrize("behind", ["", "33|RUNNING|localhost\n"])
def test_the_accounting_is_behind(
    behind: str,
    engine: Slurm,
    fake_slurm: FakeSlurm,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = batch_of(1, ids=("33",))
    fake_slurm.says("squeue", f"33|CANCELLED|localhost|{SOON}|None|{batch.name}\n")
    fake_slurm.says("sacct", behind)
    slept = []
    really_sleep = time.sleep

    def sleep(seconds: float) -> None:
        if seconds < 1.0:  # the standard library, which waits for squeue or sacct to end
            really_sleep(seconds)
            return
        slept.append(seconds)
        if len(slept) == 3:
            fake_slurm.says("sacct", "33|CANCELLED by 7|localhost\n")

    monkeypatch.setattr(time, "sleep", sleep)
    state = engine.states([batch], journal)[f"{batch.name}-0"]
    assert state == JobState("ended", "CANCELLED by 7", "localhost")
    assert len(slept) == 3


def test_the_accounting_is_not_asked_while_squeue_knows(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    batch = batch_of(1, ids=("33",))
    fake_slurm.says("squeue", f"33|COMPLETED|localhost|{SOON}|None|{batch.name}\n")
    assert engine.states([batch], journal)[f"{batch.name}-0"].phase == "ended"
    assert fake_slurm.called("sacct") == []


def test_a_cluster_without_accounting(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    batch = batch_of(1, 1, ids=("33_0", "33_1"))
    fake_slurm.says("squeue", f"33_0|CANCELLED|localhost|{SOON}|None|{batch.name}\n")
    fake_slurm.says("sacct", err="Slurm accounting storage is disabled\n", status=1)
    expected = JobState("ended", "CANCELLED", "localhost", SOON)
    assert engine.states([batch], journal) == {f"{batch.name}-0": expected}
    fake_slurm.has_not("sacct")
    assert engine.states([batch], journal) == {f"{batch.name}-0": expected}


def test_a_controller_that_is_away(engine: Slurm, fake_slurm: FakeSlurm, journal: Journal) -> None:
    fake_slurm.says("squeue", err=AWAY, status=1)
    fake_slurm.says("sacct", "33|COMPLETED|localhost\n")  # which may be of long ago
    with pytest.raises(Unreachable, match=r"^squeue: Unable to contact slurm controller \("):
        engine.states([batch_of(1, ids=("33",))], journal)


def test_a_controller_that_does_not_answer_in_time(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mklbench.experiments.execution.slurm.commands._PATIENCE", 0.2)
    fake_slurm.runs("squeue", "exec /bin/sleep 60\n")
    began = time.monotonic()
    with pytest.raises(Unreachable, match=r"^squeue: .*timed out"):
        engine.states([batch_of(1, ids=("33",))], journal)
    assert time.monotonic() - began < 10


def test_a_controller_that_is_away_when_jobs_are_submitted(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    fake_slurm.says(
        "sbatch", err=f"sbatch: error: Batch job submission failed: {AWAY[23:]}", status=1
    )
    with pytest.raises(Unreachable, match="Unable to contact slurm controller"):
        engine.submit(batch_of(1, 1), journal)
    assert not journal.path.exists() or not list(journal.path.rglob("*.*"))


def test_a_batch_that_is_taken_in_part_is_cancelled(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    fake_slurm.runs(
        "sbatch",
        f'if [ -e {fake_slurm.directory}/once ]; then echo "sbatch: error: Batch job submission '
        'failed: Memory specification can not be satisfied" >&2; exit 1; fi\n'
        f'echo > {fake_slurm.directory}/once; echo "Submitted batch job 33"\n',
    )
    with pytest.raises(InputError, match="Memory specification can not be satisfied"):
        engine.submit(batch_of(1, 1, 64), journal)
    assert fake_slurm.called("scancel") == ["scancel 33"]


def test_jobs_with_the_same_memory_are_one_array(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    fake_slurm.runs(
        "sbatch",
        f"n=1; while [ -e {fake_slurm.directory}/batch-$n ]; do n=$((n+1)); done\n"
        f'while read -r line; do echo "$line"; done < "$1" > {fake_slurm.directory}/batch-$n\n'
        'echo "Submitted batch job 5$n"\n',
    )
    batch = batch_of(2, 1, 2)
    assert engine.submit(batch, journal) == ("52_0", "51", "52_1")
    small, large = (
        (fake_slurm.directory / f"batch-{number}").read_text().splitlines() for number in (1, 2)
    )
    assert "#SBATCH --mem=1GB" in small
    assert not any("--array" in line for line in small)
    assert "#SBATCH --array=0-1%2" in large
    for line in ("--mem=2GB", "--time=5", "--partition=cpu", "--no-requeue", "--cpus-per-task=1"):
        assert f"#SBATCH {line}" in large
    assert f"#SBATCH --job-name={batch.name}" in large


@pytest.mark.parametrize(
    "why",
    [
        "BadConstraints",
        "InvalidAccount",
        "InvalidQOS",
        "PartitionConfig",
        "PartitionTimeLimit",
    ],
)
def test_a_job_that_would_wait_for_ever(
    why: str, engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    batch = batch_of(1, 1, ids=("33_0", "33_1"))
    fake_slurm.says("squeue", f"33_0|PENDING||N/A|{why}|{batch.name}\n")
    with pytest.raises(InputError, match=f"job 33_0 would wait for ever: {why}"):
        engine.states([batch], journal)
    assert fake_slurm.called("scancel") == ["scancel 33"]


@pytest.mark.parametrize(
    ("printed", "state", "expected"),
    [
        ("slurmstepd: error: StepId=8.batch exceeded memory limit (43 > 10)", "FAILED", True),
        ("slurmstepd: error: Exceeded job memory limit", "FAILED", True),
        ("Detected 1 oom-kill event(s) in StepId=8.batch", "FAILED", True),
        ("Detected 1 oom_kill event in StepId=8.batch", "FAILED", True),
        ("ZeroDivisionError: division by zero", "FAILED", False),
        ("slurmstepd: error: Exceeded job memory limit", "TIMEOUT", False),
        (None, "FAILED", False),
    ],
)
def test_without_control_groups_the_log_tells_of_a_lack_of_memory(
    printed: str | None,
    state: str,
    expected: bool,
    engine: Slurm,
    fake_slurm: FakeSlurm,
    journal: Journal,
) -> None:
    batch = batch_of(1, 1, ids=("33_0", "33_1"))
    log = Path(engine.log("33_0", journal))
    if printed is not None:
        log.parent.mkdir(parents=True)
        log.write_text(f"beginning\n{printed}\n")
    fake_slurm.says("squeue", f"33_0|{state}|localhost|{SOON}|None|{batch.name}\n")
    reason = "OUT_OF_MEMORY" if expected else state
    assert engine.states([batch], journal) == {
        f"{batch.name}-0": JobState("ended", reason, "localhost", SOON)
    }


def test_jobs_whose_driver_was_ended_before_it_knew_their_ids_are_known_by_name(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    batch, other = batch_of(2, 1, 2), batch_of(1, ids=("77",))
    # Submitted by memory, arrays in order; squeue lists what it likes first.
    fake_slurm.says(
        "squeue",
        f"41_1|PENDING||N/A|Priority|{batch.name}\n"
        f"41_0|RUNNING|node7|NONE|None|{batch.name}\n"
        f"40|RUNNING|node3|NONE|None|{batch.name}\n"
        f"77|RUNNING|node5|NONE|None|{other.name}\n",
    )
    assert engine.states([batch, other], journal) == {
        f"{batch.name}-1": JobState("running", "RUNNING", "node3"),
        f"{batch.name}-0": JobState("running", "RUNNING", "node7"),
        f"{batch.name}-2": JobState("queued", "Priority"),
        f"{other.name}-0": JobState("running", "RUNNING", "node5"),
    }


def test_jobs_without_ids_are_cancelled_by_name(
    engine: Slurm, fake_slurm: FakeSlurm, journal: Journal
) -> None:
    batch = batch_of(2, 1)
    fake_slurm.says("squeue", f"41|RUNNING|node7|NONE|None|{batch.name}\n")
    engine.cancel([batch])
    (call,) = fake_slurm.called("scancel")
    assert call.endswith(f" --name={batch.name}")


def test_arrays_are_cancelled_as_a_whole(engine: Slurm, fake_slurm: FakeSlurm) -> None:
    engine.cancel([batch_of(1, 1, ids=("33_0", "33_1")), batch_of(1, ids=("40",))])
    assert fake_slurm.called("scancel") == ["scancel 33 40"]


def test_the_cluster_is_known_by_its_name(engine: Slurm, fake_slurm: FakeSlurm) -> None:
    assert engine.place == engine.place == "fake"
    assert len(fake_slurm.called("scontrol")) == 1
