"""What is asked of Slurm, by its own commands, and what their answers mean.

``squeue`` knows jobs for some minutes after they have ended, also on clusters without accounting;
only for older ones, and for who cancelled a job, ``sacct`` is asked.
"""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Sequence
from typing import Any

from mklbench.experiments.execution.engine import JobState, Phase, Unreachable

# How Slurm calls the states of jobs that have not ended; all others have.
_QUEUED = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT",
           "RESV_DEL_HOLD")  # fmt: skip
_RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
# Why a job is queued that no change of the cluster's load will start.
_NEVER = ("BadConstraints", "PartitionConfig", "PartitionTimeLimit", "InvalidAccount", "InvalidQOS")
# Seconds that a command of Slurm may take to answer.
_PATIENCE = 60.0


def _phase(state: str) -> Phase:
    name = state.split()[0].rstrip("+") if state else ""
    if name in _QUEUED:
        return "queued"
    return "running" if name in _RUNNING else "ended"


def can_never_begin(state: JobState) -> bool:
    """Tell whether a job is queued that no change of the load will start."""
    return state.phase == "queued" and state.reason in _NEVER


def first_words(text: str) -> str:
    """Return the first line that says something, without the name of the command."""
    lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    lines = lines or [line.strip() for line in text.splitlines() if line.strip()] or ["no reason"]
    return lines[0].partition("error: ")[2].rstrip(".") or lines[0].rstrip(".")


def run(*command: str) -> str:
    """Return what a command of Slurm prints.

    Raises
    ------
    Unreachable
        If it fails, or does not answer.
    """
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        raise Unreachable(f"{command[0]}: {first_words(error.stderr)}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{command[0]}: {error}") from error
    return ended.stdout


def config(name: str) -> str:
    """Return a value of the configuration of the cluster; empty if it has none."""
    lines = run("scontrol", "show", "config").splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return next((v.strip() for key, v in values.items() if key.strip() == name), "")


def squeue(names: Sequence[str], with_names: bool = False) -> dict[str, Any]:
    """Return by id the states of the jobs with these names that squeue knows."""
    said = run(
        "squeue", "--noheader", "--array", "--states=all", f"--user={getpass.getuser()}",
        f"--name={','.join(names)}", "--format=%i|%T|%N|%e|%r|%j",
    )  # fmt: skip
    listed: dict[str, Any] = {}
    for line in said.splitlines():
        job_id, state, node, ends, why, name = (line.split("|") + [""] * 6)[:6]
        phase = _phase(state)
        reason = why if phase == "queued" else state
        ends = "" if ends in ("N/A", "NONE", "Unknown") else ends
        listed[job_id] = name if with_names else JobState(phase, reason, node, ends)
    return listed


def sacct(ids: Sequence[str]) -> dict[str, JobState] | None:
    """Return what the accounting says of jobs that have ended; None where there is none."""
    try:
        said = run(
            "sacct", "--noheader", "--parsable2", "--allocations",
            "--format=JobID,State,NodeList", f"--jobs={','.join(ids)}",
        )  # fmt: skip
    except Unreachable:
        return None
    listed = {}
    for line in said.splitlines():
        job_id, state, node = (line.split("|") + [""] * 3)[:3]
        listed[job_id] = JobState(_phase(state), state, "" if "None" in node else node)
    return {job_id: state for job_id, state in listed.items() if state.phase == "ended"}
