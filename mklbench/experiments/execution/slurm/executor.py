"""The executor for Slurm, from the options that a user gives."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from mklbench import extras
from mklbench.errors import InputError
from mklbench.experiments.execution.dispatch import Options
from mklbench.experiments.execution.remote import Remote, check_number
from mklbench.experiments.execution.slurm.cluster import Slurm

# Options of sbatch that are not the user's, and what to do instead.
_OURS = {
    "array": "say with executor.array how many there may be",
    "mem": "say with executor.memory what they need at least",
    **dict.fromkeys(
        ("error", "job-name", "no-requeue", "open-mode", "output", "requeue", "signal"),
        "leave it out, as jobs are found again by it",
    ),
}


def slurm(
    jobs: int = 1,
    timeout: float | None = None,
    *,
    partition: str | None = None,
    array: int = 200,
    minutes: float = 30.0,
    retries: int = 2,
    memory: float = 0.0,
    account: str | None = None,
    qos: str | None = None,
    options: Mapping[str, Any] | None = None,
    poll: float = 10.0,
    detach: bool = False,
) -> Remote:
    """Return the executor for the Slurm cluster that this machine can submit to.

    Parameters
    ----------
    jobs, timeout : int and float or None
        Of the local executor; to be left alone here.
    partition, account, qos : str or None
        As sbatch has them; None for those of the cluster.
    array : int, default=200
        Jobs that may be queued or running at the same time.
    minutes : float, default=30
        That a job is to take; steps are packed so.
    retries : int, default=2
        How often a step that was lost is submitted again.
    memory : float, default=0
        GiB that a job asks for at least.
    options : mapping or None
        More of sbatch, by its long options: ``{"constraint": "skylake"}``.
    poll : float, default=10
        Seconds between two questions to Slurm.
    detach : bool, default=False
        Whether to return as soon as all that can be begun is submitted.

    Raises
    ------
    InputError
        If an option is not possible, or submitit is not installed.
    """
    if (sentence := extras.missing("slurm", "executor=slurm")) is not None:
        raise InputError(sentence)
    check_number("array", array, 1)
    check_number("poll", poll, 0, above=True)
    for name in options or {}:
        if (instead := _OURS.get(name.replace("_", "-"))) is not None:
            raise InputError(f"executor.options.{name} is set for each job: {instead}.")
    asked = {"partition": partition, "account": account, "qos": qos, **(options or {})}
    given = {name: value for name, value in asked.items() if value is not None}
    make = lambda: _made(Slurm(given, array, poll))  # noqa: E731
    return Remote(make, Options(minutes, retries, memory), "slurm", jobs, timeout, detach)


def _made(engine: Slurm) -> Slurm:
    for command in ("srun", "sbatch", "squeue", "scontrol"):
        if shutil.which(command) is None:
            raise InputError(
                f"executor=slurm needs {command}, which is not on this machine: start the "
                "command on a login node of the cluster, or leave executor=slurm out."
            )
    return engine
