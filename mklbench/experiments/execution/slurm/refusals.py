"""What Slurm refuses, as a sentence about the options of the executor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mklbench.errors import InputError
from mklbench.experiments.execution.engine import JobState, Unreachable

# Options of sbatch that have an option of their own here.
_NAMED = ("partition", "account", "qos")


def refused(said: str, asked: Mapping[str, Any]) -> Exception:
    """Return what to raise for what Slurm says to jobs with the options `asked`."""
    if any(words in said for words in ("Unable to contact", "Socket timed out", "try again")):
        return Unreachable(said)
    return _not_accepted(said, asked)


def waits_for_ever(job_id: str, state: JobState, asked: Mapping[str, Any]) -> InputError:
    """Return what to raise for a job that no change of the load will start."""
    return _not_accepted(f"job {job_id} would wait for ever: {state.reason}", asked)


def _not_accepted(said: str, asked: Mapping[str, Any]) -> InputError:
    lowered = said.lower()
    named = [name for name in _NAMED if name in asked and name in lowered]
    if named:
        name = min(named, key=lowered.index)
        return InputError(
            f"executor.{name}={asked[name]} is not accepted by Slurm ({said}): sinfo "
            "lists the partitions and their limits, sacctmgr the accounts."
        )
    given = " ".join(f"{name}={value}" for name, value in asked.items())
    return InputError(
        f"executor=slurm cannot submit ({said}): change the options of the executor"
        f"{f' ({given})' if given else ''}, such as executor.partition, executor.minutes or "
        "executor.memory."
    )
