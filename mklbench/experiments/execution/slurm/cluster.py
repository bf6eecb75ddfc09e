"""Jobs on a Slurm cluster: submitted through submitit, followed by name and id, cancelled."""

from __future__ import annotations

import contextlib
import getpass
import io
import itertools
import re
import shutil
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from mklbench.errors import InputError
from mklbench.experiments.execution import probe
from mklbench.experiments.execution.engine import JobState, Unreachable
from mklbench.experiments.execution.journal import Batch, Journal
from mklbench.experiments.execution.slurm import commands, node, refusals
from mklbench.experiments.execution.slurm.job import run_in_slurm

_TOO_LARGE = re.compile("exceeded (job )?memory limit|oom.kill", re.IGNORECASE)
# Seconds between SIGTERM or the signal before the time limit, and the end.
_GRACE = 10
# Seconds that the accounting may be behind.
_ACCOUNTING = 15


class Slurm:
    """Jobs of Slurm.

    Parameters
    ----------
    asked : mapping of str to object
        Options of sbatch.
    array : int
        Jobs that may be queued or running.
    poll_seconds : float
        Seconds between two questions.
    """

    name = "slurm"
    start_seconds = 5.0
    jobs_to_come = 2

    def __init__(self, asked: Mapping[str, Any], array: int, poll_seconds: float) -> None:
        self._asked = dict(asked)
        self.slots = self.room = array
        self.poll_seconds = poll_seconds
        self._cluster = ""

    @property
    def place(self) -> str:
        """The name of the cluster."""
        self._cluster = self._cluster or commands.config("ClusterName")
        return self._cluster

    def check(self, journal: Journal) -> None:
        """Raise InputError unless jobs can run there: found out by a job on a node."""
        try:
            most = int(commands.config("MaxArraySize") or 0)
        except Unreachable as error:
            raise InputError(
                f"executor=slurm finds no cluster ({error}): see that sinfo answers on this "
                "machine, or leave executor=slurm out."
            ) from error
        if most and self.room >= most:
            raise InputError(
                f"executor.array={self.room} is not accepted: an array of this cluster has at most "
                f"{most - 1} jobs, so give executor.array={most - 1} or less."
            )
        with probe.asking(journal.path) as token:
            node.ask(journal, token, self._asked)

    def submit(self, batch: Batch, journal: Journal) -> tuple[str, ...]:
        """Submit the jobs of a batch, those with the same memory as one array."""
        import submitit

        ids = [""] * len(batch.jobs)
        before = _files(journal.logs)
        for memory, listed in itertools.groupby(
            sorted(batch.jobs, key=lambda job: job.memory), key=lambda job: job.memory
        ):
            jobs = list(listed)
            try:
                executor = submitit.SlurmExecutor(folder=str(journal.logs.absolute() / "%j"))
                executor.update_parameters(
                    job_name=batch.name,
                    time=max(job.minutes for job in jobs),
                    mem=f"{memory}GB",
                    array_parallelism=len(jobs),
                    cpus_per_task=1,
                    signal_delay_s=_GRACE,
                    stderr_to_stdout=True,
                    # What is lost is submitted again by the driver, which counts.
                    additional_parameters={"no-requeue": True, **self._asked},
                )
                store = str(journal.path.parent.absolute())
                # submitit prints what sbatch complains about, which is raised as well.
                with contextlib.redirect_stderr(io.StringIO()), executor.batch():
                    submitted = [
                        executor.submit(run_in_slurm, store, batch.name, job.number) for job in jobs
                    ]
            except (submitit.core.utils.FailedJobError, subprocess.CalledProcessError) as error:
                with contextlib.suppress(Unreachable):
                    self.cancel([batch.with_ids(ids)])
                for path in _files(journal.logs) - before:
                    path.unlink(missing_ok=True)
                self.forget(batch.with_ids(ids), journal, keep=())
                printed = str(getattr(error, "stderr", "") or error)
                raise refusals.refused(commands.first_words(printed), self._asked) from error
            for job, one in zip(jobs, submitted, strict=True):
                ids[job.number] = one.job_id
        return tuple(ids)

    def states(self, batches: Sequence[Batch], journal: Journal) -> dict[str, JobState]:
        """Return by the names of jobs what squeue says, or sacct of what it has forgotten."""
        names = self._names(batches)
        listed = commands.squeue([batch.name for batch in batches])
        cancelled = {job_id for job_id in names if _needs_more(listed.get(job_id))}
        absent = [job_id for job_id in names if job_id not in listed]
        if absent or cancelled:
            listed |= _accounted([*absent, *sorted(cancelled)], cancelled)
        for job_id in names.keys() & listed.keys():
            state = listed[job_id]
            if commands.can_never_begin(state):
                self.cancel(batches)
                raise refusals.waits_for_ever(job_id, state, self._asked)
            if state.reason == "FAILED" and self._was_too_large(job_id, journal):
                listed[job_id] = replace(state, reason="OUT_OF_MEMORY")
        return {name: listed[job_id] for job_id, name in names.items() if job_id in listed}

    def cancel(self, batches: Sequence[Batch]) -> None:
        """Cancel what there is of the jobs of batches."""
        ids = sorted(
            {job.id.partition("_")[0] for batch in batches for job in batch.jobs if job.id}
        )
        if ids:
            commands.run("scancel", *ids)
        for batch in batches:
            if not any(job.id for job in batch.jobs):  # the driver was ended before it knew them
                commands.run("scancel", f"--user={getpass.getuser()}", f"--name={batch.name}")

    def wait(self, seconds: float) -> None:
        """Wait: Slurm is asked, it does not tell."""
        time.sleep(seconds)

    def log(self, job_id: str, journal: Journal) -> str:
        """Say where the log of a job is."""
        return str(journal.logs.absolute() / job_id / f"{job_id}_0_log.out")

    def forget(self, batch: Batch, journal: Journal, keep: Collection[str]) -> None:
        """Delete the logs of a batch that nobody has been told to read."""
        ids = {job.id for job in batch.jobs if job.id}
        arrays = {job_id.partition("_")[0] for job_id in ids}  # of these the batch files
        for job_id in (ids | arrays).difference(keep):
            shutil.rmtree(journal.logs / job_id, ignore_errors=True)
        for path in journal.logs.glob(".submission_file_*.sh"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # there are more
            journal.logs.rmdir()

    def close(self) -> None:
        """Do nothing: jobs go on by themselves."""

    def _was_too_large(self, job_id: str, journal: Journal) -> bool:
        """Tell whether Slurm says in its log that a job was killed for its memory.

        Without control groups the state of such a job is FAILED.
        """
        try:
            printed = Path(self.log(job_id, journal)).read_text(errors="replace")
        except OSError:
            return False
        return _TOO_LARGE.search(printed) is not None

    def _names(self, batches: Sequence[Batch]) -> dict[str, str]:
        """Return the names of jobs by their ids, which Slurm is asked for where it alone knows."""
        names = {job.id: job.name for batch in batches for job in batch.jobs if job.id}
        unknown = [batch for batch in batches if not batch.ids]
        if unknown:
            # The driver was ended between sbatch and the journal; arrays come in this order.
            found = commands.squeue([batch.name for batch in unknown], with_names=True)
            names |= _in_order(unknown, found)
        return names


def _files(directory: Path) -> set[Path]:
    try:
        return {path for path in directory.iterdir() if path.is_file()}
    except OSError:  # there is nothing yet
        return set()


def _accounted(ids: Sequence[str], to_come: Set[str]) -> dict[str, JobState]:
    """Return what the accounting says of jobs; it hears of those `to_come` after squeue."""
    ended = commands.sacct(ids)
    for _ in range(_ACCOUNTING):
        if ended is None or to_come <= ended.keys():
            break
        time.sleep(1.0)
        ended = commands.sacct(ids)
    return ended or {}


def _needs_more(state: JobState | None) -> bool:
    """Tell whether sacct says more of a job: who cancelled it."""
    return state is not None and state.reason == "CANCELLED"


def _in_order(batches: Sequence[Batch], found: Mapping[str, str]) -> dict[str, str]:
    """Return the names of jobs by id: arrays are submitted by memory, their tasks by number."""
    names = {}
    for batch in batches:
        ids = [tuple(map(int, i.split("_"))) for i, name in found.items() if name == batch.name]
        jobs = sorted(batch.jobs, key=lambda job: job.memory)
        for job, job_id in zip(jobs, sorted(ids), strict=False):
            names["_".join(map(str, job_id))] = job.name
    return names
