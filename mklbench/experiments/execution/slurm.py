"""The executor for Slurm: arrays of jobs, submitted by submitit and followed by squeue.

submitit asks the accounting how a job ended, and where there is none it waits for ever for one that
was killed. So ``squeue`` is asked, which knows a job for some minutes after its end.
"""

from __future__ import annotations

import contextlib
import getpass
import io
import math
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mklbench.errors import InputError, first_line
from mklbench.experiments.execution.remote import EndedJob, Remote, take_steps
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

# States of jobs that have ended, for squeue and sacct alike.
_ENDED = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "LOST", "NODE_FAIL",
    "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT",
)  # fmt: skip


class Slurm(Remote):
    """Jobs of Slurm.

    Parameters
    ----------
    jobs, timeout : int and float or None
        Of the local executor; to be left alone here.
    partition : str or None
        As sbatch has it; None for that of the cluster.
    array : int, default=200
        Jobs that may be queued or running at the same time.
    minutes : float, default=30
        How long a job begins steps; its time limit is twice that and 3 minutes.
    memory : float, default=0
        GiB that each job asks for at least.
    options : mapping or None
        More long options of sbatch, such as account or qos.
    poll : float, default=10
        Seconds between two questions.

    Raises
    ------
    InputError
        If an option is not possible, or submitit is not installed.
    """

    name, option = "slurm", "array"

    def __init__(
        self,
        jobs: int = 1,
        timeout: float | None = None,
        *,
        partition: str | None = None,
        array: int = 200,
        minutes: float = 30.0,
        memory: float = 0.0,
        options: Mapping[str, Any] | None = None,
        poll: float = 10.0,
    ) -> None:
        super().__init__(jobs, timeout, array, minutes, memory)
        named = {} if partition is None else {"partition": partition}
        self._asked = {**named, **(options or {})}
        self._array, self._poll = array, poll
        self._jobs: dict[str, Any] = {}  # of submitit, by id
        self._folder = Path()  # of logs and of what submitit sends
        self._has_failed = False  # then a record names a log

    @property
    def slots(self) -> int:
        """As many as there may be."""
        return self._array

    def prepare(self, runs: Sequence[Run], store: Store) -> None:
        """Raise InputError unless Slurm answers on this machine."""
        _squeue("--me")
        self._folder = store.path.absolute() / "jobs" / uuid.uuid4().hex[:8]

    def submit(self, n_jobs: int, arguments: tuple[Any, ...], gib: int) -> list[str]:
        """Submit jobs as one array."""
        import submitit

        executor = submitit.SlurmExecutor(folder=str(self._folder / "%j"))
        executor.update_parameters(
            job_name="mklbench",
            time=math.ceil(2 * self.minutes + 3),
            mem=f"{gib}GB",
            array_parallelism=n_jobs,
            cpus_per_task=1,
            stderr_to_stdout=True,
            additional_parameters={"no-requeue": True, **self._asked},
        )
        try:
            # submitit prints what sbatch complains about, which is raised as well.
            with contextlib.redirect_stderr(io.StringIO()), executor.batch():
                submitted = [executor.submit(_run, *arguments) for _ in range(n_jobs)]
        except submitit.core.utils.FailedJobError as error:
            asked = ", ".join(f"{name}={value}" for name, value in self._asked.items())
            raise InputError(
                f"executor=slurm cannot submit jobs with {asked or 'no options'} "
                f"({_reason(str(error))}): change the executor's options."
            ) from error
        self._jobs |= {job.job_id: job for job in submitted}
        return [f"slurm {job.job_id}" for job in submitted]

    def ended(self) -> list[EndedJob]:
        """Ask squeue, after a while, what has become of the jobs."""
        time.sleep(self._poll)
        if not self._jobs:
            return []
        arrays = dict.fromkeys(job_id.partition("_")[0] for job_id in self._jobs)
        try:
            states = _squeue(f"--jobs={','.join(arrays)}")
        except InputError:  # it does not answer, and is asked again
            return []
        now = [(job_id, *states.get(job_id, ("LOST", ""))) for job_id in self._jobs]
        return [self._ended(*job) for job in now if job[1] in _ENDED]

    def close(self) -> None:
        """Cancel the jobs that have not ended; keep the logs if any has failed."""
        if self._jobs:
            with contextlib.suppress(InputError):
                _printed("scancel", *self._jobs)
            self._jobs = {}
        if not self._has_failed:
            shutil.rmtree(self._folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # there are logs of others
                self._folder.parent.rmdir()

    def _ended(self, job_id: str, state: str, node: str) -> EndedJob:
        submitted = self._jobs.pop(job_id)
        log, refused = submitted.paths.stdout, {}
        if state == "COMPLETED":
            refused = submitted.result()
        else:
            self._has_failed = True
        where = f"on node {node or 'unknown'}, slurm job {job_id}; log: {log}"
        return EndedJob(f"slurm {job_id}", state, where, refused)


def _run(*arguments: Any) -> dict[str, str]:
    """Be a job of Slurm."""
    import submitit

    # submitit would answer the signal before the time limit by submitting the job again, and the
    # one that ends it not at all. What the job has in hand stays locked, which tells the driver.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return take_steps(*arguments, name=f"slurm {submitit.JobEnvironment().job_id}")


def _squeue(*which: str) -> dict[str, tuple[str, str]]:
    """Return by id the state and the node of jobs, as far as squeue knows them."""
    printed = _printed(
        "squeue", "--noheader", "--array", "--states=all", f"--user={getpass.getuser()}",
        "--format=%i|%T|%N", *which,
    )  # fmt: skip
    lines = (line.split("|") for line in printed.splitlines())
    return {job_id: (state, node) for job_id, state, node in lines}


def _printed(*command: str) -> str:
    """Return what a command of Slurm prints; raise InputError if it does not answer."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True,
            stdin=subprocess.DEVNULL,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        complaint = str(getattr(error, "stderr", None) or error)
        if "Invalid job id" in complaint:  # squeue has forgotten all of them
            return ""
        raise InputError(
            f"executor=slurm finds no cluster ({command[0]}: {_reason(complaint)}): start the "
            "command on a login node, where sinfo answers, or leave executor=slurm out."
        ) from error


def _reason(complaint: str) -> str:
    """Return the first error of which a command of Slurm complains, without the command."""
    return first_line(complaint.partition("error: ")[2] or complaint or "no reason given")
