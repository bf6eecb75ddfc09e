"""What a job of Slurm does, on its node."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from mklbench.experiments.execution.job import run_job


def run_in_slurm(store: str, batch: str, number: int) -> None:
    """Be a job of Slurm: take its steps until they are done, or Slurm says that it has to end."""
    heard: list[str] = []
    # submitit would wait for Slurm to kill the job, and knows of no steps that can be kept.
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append("CANCELLED"))
    # The job minds its own time limit. Slurm sends this to the child process as well, which would
    # die of it; that it is ignored is inherited.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    run_job(store, batch, number, _reason(heard), job_id=_own_id())


def _own_id() -> str:
    """Return what squeue calls the job that this process is."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array else os.environ.get("SLURM_JOB_ID", "")


def _reason(heard: list[str]) -> Callable[[], str]:
    return lambda: heard[0] if heard else ""
