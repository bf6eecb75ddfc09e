"""The executor for a Slurm cluster: arrays of jobs, submitted through submitit.

submitit writes the batch files and starts Python on the node. What has become of jobs is asked of
``squeue``, which knows jobs for some minutes after they have ended, also on clusters without
accounting; only for older ones, and for who cancelled a job, ``sacct`` is asked.
"""

from __future__ import annotations

import contextlib
import getpass
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mklbench import extras, interruption
from mklbench.errors import InputError
from mklbench.experiments.execution import probe
from mklbench.experiments.execution.dispatch import Options
from mklbench.experiments.execution.engine import JobState, Phase, Unreachable
from mklbench.experiments.execution.job import run_job
from mklbench.experiments.execution.journal import Batch, Journal
from mklbench.experiments.execution.remote import Remote, check_number
from mklbench.experiments.execution.starting import search_path

# How Slurm calls the states of jobs that have not ended; all others have.
_QUEUED = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT",
           "RESV_DEL_HOLD")  # fmt: skip
_RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
# Why a job is queued that no change of the cluster's load will start.
_NEVER = ("BadConstraints", "PartitionConfig", "PartitionTimeLimit", "InvalidAccount", "InvalidQOS")
# Options of sbatch that have an option of their own here.
_NAMED = ("partition", "account", "qos")
# Options of sbatch that are not the user's, and what to do instead.
_OURS = {
    "array": "say with executor.array how many there may be",
    "mem": "say with executor.memory what they need at least",
    **dict.fromkeys(
        ("error", "job-name", "no-requeue", "open-mode", "output", "requeue", "signal"),
        "leave it out, as jobs are found again by it",
    ),
}
_TOO_LARGE = re.compile("exceeded (job )?memory limit|oom.kill", re.IGNORECASE)
# Seconds that a command of Slurm may take to answer.
_PATIENCE = 60.0
# Seconds after which a user is told why nothing happens yet.
_TELL_AFTER = 10.0
# Seconds between SIGTERM or the signal before the time limit, and the end.
_GRACE = 10


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
        self._cluster = self._cluster or self._config("ClusterName")
        return self._cluster

    def check(self, journal: Journal) -> None:
        """Raise InputError unless jobs can run there: found out by a job on a node."""
        try:
            most = int(self._config("MaxArraySize") or 0)
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
            self._probe(journal, token)

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
                raise self._refused(_first_words(printed)) from error
            for job, one in zip(jobs, submitted, strict=True):
                ids[job.number] = one.job_id
        return tuple(ids)

    def states(self, batches: Sequence[Batch], journal: Journal) -> dict[str, JobState]:
        """Return by the names of jobs what squeue says, or sacct of what it has forgotten."""
        names = self._names(batches)
        listed = self._squeue([batch.name for batch in batches])
        absent = [job_id for job_id in names if job_id not in listed or _needs_more(listed[job_id])]
        if absent:
            listed |= self._sacct(absent)
        for job_id in names.keys() & listed.keys():
            state = listed[job_id]
            if _can_never_begin(state):
                self.cancel(batches)
                raise self._waits_for_ever(job_id, state)
            if state.reason == "FAILED" and self._was_too_large(job_id, journal):
                listed[job_id] = replace(state, reason="OUT_OF_MEMORY")
        return {name: listed[job_id] for job_id, name in names.items() if job_id in listed}

    def cancel(self, batches: Sequence[Batch]) -> None:
        """Cancel what there is of the jobs of batches."""
        ids = sorted(
            {job.id.partition("_")[0] for batch in batches for job in batch.jobs if job.id}
        )
        if ids:
            self._run("scancel", *ids)
        for batch in batches:
            if not any(job.id for job in batch.jobs):  # the driver was ended before it knew them
                self._run("scancel", f"--user={getpass.getuser()}", f"--name={batch.name}")

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

    def _config(self, name: str) -> str:
        lines = self._run("scontrol", "show", "config").splitlines()
        values = dict(line.split("=", 1) for line in lines if "=" in line)
        return next((v.strip() for key, v in values.items() if key.strip() == name), "")

    def _probe(self, journal: Journal, token: str) -> None:
        """Have a job on a node say its versions, and whether it sees the store."""
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in self._asked.items()]
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
                printed, complained = self._answer_of(process, job)
            except BaseException:
                process.terminate()
                raise
        answer = next((line for line in printed.splitlines() if line.startswith("{")), None)
        if answer is None:
            raise self._refused_probe(complained)
        probe.check(json.loads(answer), journal.path, token, "executor=slurm")

    def _answer_of(self, process: subprocess.Popen[str], job: str) -> tuple[str, str]:
        """Wait for the job that asks a node, which may be queued for long; return what it says."""
        told = False
        while True:
            try:
                return process.communicate(timeout=_TELL_AFTER)
            except subprocess.TimeoutExpired:
                listed = self._squeue([job])
            for job_id, state in listed.items():
                if _can_never_begin(state):
                    raise self._waits_for_ever(job_id, state)
                if state.phase == "queued" and not told:
                    warnings.warn(
                        "executor=slurm first asks a node whether it sees results_dir, and this "
                        f"job waits in the queue ({state.reason}); squeue --me shows it.",
                        stacklevel=2,
                    )
                    told = True

    def _refused_probe(self, complained: str) -> Exception:
        said = _first_words(complained)
        if "execve" in complained or "ModuleNotFoundError" in complained:
            return InputError(
                f"executor=slurm cannot start {sys.executable} with mklbench on a node ({said}): "
                "install both where the nodes see them, such as in your home directory."
            )
        return self._refused(said)

    def _refused(self, said: str) -> Exception:
        if any(words in said for words in ("Unable to contact", "Socket timed out", "try again")):
            return Unreachable(said)
        return self._not_accepted(said)

    def _waits_for_ever(self, job_id: str, state: JobState) -> InputError:
        return self._not_accepted(f"job {job_id} would wait for ever: {state.reason}")

    def _not_accepted(self, said: str) -> InputError:
        lowered = said.lower()
        named = [name for name in _NAMED if name in self._asked and name in lowered]
        if named:
            name = min(named, key=lowered.index)
            return InputError(
                f"executor.{name}={self._asked[name]} is not accepted by Slurm ({said}): sinfo "
                "lists the partitions and their limits, sacctmgr the accounts."
            )
        given = " ".join(f"{name}={value}" for name, value in self._asked.items())
        return InputError(
            f"executor=slurm cannot submit ({said}): change the options of the executor"
            f"{f' ({given})' if given else ''}, such as executor.partition, executor.minutes or "
            "executor.memory."
        )

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
            found = self._squeue([batch.name for batch in unknown], with_names=True)
            names |= _in_order(unknown, found)
        return names

    def _squeue(self, names: Sequence[str], with_names: bool = False) -> dict[str, Any]:
        """Return by id the states of the jobs with these names that squeue knows."""
        said = self._run(
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

    def _sacct(self, ids: Sequence[str]) -> dict[str, JobState]:
        """Return what the accounting says of jobs; nothing where there is none."""
        try:
            said = self._run(
                "sacct", "--noheader", "--parsable2", "--allocations",
                "--format=JobID,State,NodeList", f"--jobs={','.join(ids)}",
            )  # fmt: skip
        except Unreachable:
            return {}
        listed = {}
        for line in said.splitlines():
            job_id, state, node = (line.split("|") + [""] * 3)[:3]
            listed[job_id] = JobState(_phase(state), state, "" if "None" in node else node)
        return {job_id: state for job_id, state in listed.items() if state.phase == "ended"}

    def _run(self, *command: str) -> str:
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
            raise Unreachable(f"{command[0]}: {_first_words(error.stderr)}") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unreachable(f"{command[0]}: {error}") from error
        return ended.stdout


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


def _phase(state: str) -> Phase:
    name = state.split()[0].rstrip("+") if state else ""
    if name in _QUEUED:
        return "queued"
    return "running" if name in _RUNNING else "ended"


def _files(directory: Path) -> set[Path]:
    try:
        return {path for path in directory.iterdir() if path.is_file()}
    except OSError:  # there is nothing yet
        return set()


def _can_never_begin(state: JobState) -> bool:
    return state.phase == "queued" and state.reason in _NEVER


def _needs_more(state: JobState) -> bool:
    """Tell whether sacct says more of a job: who cancelled it."""
    return state.reason == "CANCELLED"


def _in_order(batches: Sequence[Batch], found: Mapping[str, str]) -> dict[str, str]:
    """Return the names of jobs by id: arrays are submitted by memory, their tasks by number."""
    names = {}
    for batch in batches:
        ids = [tuple(map(int, i.split("_"))) for i, name in found.items() if name == batch.name]
        jobs = sorted(batch.jobs, key=lambda job: job.memory)
        for job, job_id in zip(jobs, sorted(ids), strict=False):
            names["_".join(map(str, job_id))] = job.name
    return names


def _first_words(text: str) -> str:
    """Return the first line that says something, without the name of the command."""
    lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    lines = lines or [line.strip() for line in text.splitlines() if line.strip()] or ["no reason"]
    return lines[0].partition("error: ")[2].rstrip(".") or lines[0].rstrip(".")
