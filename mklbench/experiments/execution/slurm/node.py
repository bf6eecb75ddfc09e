"""Asking a node, by a job, whether jobs can run there, and see the store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from mklbench import interruption
from mklbench.errors import InputError
from mklbench.experiments.execution import probe
from mklbench.experiments.execution.journal import Journal
from mklbench.experiments.execution.slurm import commands, refusals
from mklbench.experiments.execution.starting import search_path

# Seconds after which a user is told why nothing happens yet.
_TELL_AFTER = 10.0


def ask(journal: Journal, token: str, asked: Mapping[str, Any]) -> None:
    """Have a job with the options `asked` say its versions, and whether it sees the store.

    Raises
    ------
    InputError or Unreachable
        If it cannot run there; the first where a change of the options may help.
    """
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in asked.items()]
    module = "mklbench.experiments.execution.probe"
    job = f"mklbench-probe-{token}"
    command = ["srun", "--quiet", "--ntasks=1", "--time=1", f"--job-name={job}", *flags]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_JOB")}
    with (
        subprocess.Popen(
            [*command, sys.executable, "-P", "-m", module, str(journal.path.absolute()), token],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
            env=environment | {"PYTHONPATH": search_path()},
        ) as process,
        interruption.on_leaving(process.terminate),
    ):  # srun ends its job
        try:
            printed, complained = _answer_of(process, job, asked)
        except BaseException:
            process.terminate()
            raise
    answer = next((line for line in printed.splitlines() if line.startswith("{")), None)
    if answer is None:
        raise _refused(complained, asked)
    probe.check(json.loads(answer), journal.path, token, "executor=slurm")


def _answer_of(
    process: subprocess.Popen[str], job: str, asked: Mapping[str, Any]
) -> tuple[str, str]:
    """Wait for the job that asks a node, which may be queued for long; return what it says."""
    told = False
    while True:
        try:
            return process.communicate(timeout=_TELL_AFTER)
        except subprocess.TimeoutExpired:
            listed = commands.squeue([job])
        for job_id, state in listed.items():
            if commands.can_never_begin(state):
                raise refusals.waits_for_ever(job_id, state, asked)
            if state.phase == "queued" and not told:
                warnings.warn(
                    "executor=slurm first asks a node whether it sees results_dir, and this "
                    f"job waits in the queue ({state.reason}); squeue --me shows it.",
                    stacklevel=2,
                )
                told = True


def _refused(complained: str, asked: Mapping[str, Any]) -> Exception:
    said = commands.first_words(complained)
    if "execve" in complained or "ModuleNotFoundError" in complained:
        return InputError(
            f"executor=slurm cannot start {sys.executable} with mklbench on a node ({said}): "
            "install both where the nodes see them, such as in your home directory."
        )
    return refusals.refused(said, asked)
