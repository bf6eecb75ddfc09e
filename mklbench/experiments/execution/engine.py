"""What a cluster has to offer, so that a driver can have steps taken there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mklbench.experiments.execution.journal import Batch, Journal

Phase = Literal["queued", "running", "ended", "unknown"]


@dataclass(frozen=True)
class JobState:
    """What an engine says of a job.

    Attributes
    ----------
    phase : {"queued", "running", "ended", "unknown"}
        "unknown" of what the engine has forgotten, or never heard of.
    reason : str
        In its words: why it is queued, or how it has ended ("COMPLETED", "OUT_OF_MEMORY",
        "CANCELLED by 1000").
    node : str
        Where it runs or ran; empty if the engine does not say.
    ends : str
        When it has to end at the latest, as the engine writes times; empty if it does not say.
    """

    phase: Phase
    reason: str = ""
    node: str = ""
    ends: str = ""


class Unreachable(Exception):
    """The engine does not answer just now; it may later."""


class Engine(Protocol):
    """Slurm, Dask, or what else runs jobs elsewhere."""

    name: str
    # Seconds that a job takes to start, and between two looks at jobs.
    start_seconds: float
    poll_seconds: float
    # Jobs that a slot shall have after the next one (`chunks.pack`).
    jobs_to_come: int

    @property
    def place(self) -> str:
        """Which cluster it is, so that its jobs are known again."""

    @property
    def slots(self) -> int:
        """Jobs that may run at the same time."""

    @property
    def room(self) -> int:
        """Jobs that may be queued or running at the same time."""

    def check(self, journal: Journal) -> None:
        """Raise InputError unless jobs can run there: same versions, same store."""

    def submit(self, batch: Batch, journal: Journal) -> tuple[str, ...]:
        """Submit the jobs of a batch and return what the engine calls them.

        Raises
        ------
        InputError
            If the engine does not take them.
        Unreachable
            If it does not answer.
        """

    def states(self, batches: Sequence[Batch], journal: Journal) -> dict[str, JobState]:
        """Return by the names of jobs what has become of the jobs of batches.

        Raises
        ------
        InputError
            If one of them can never begin.
        Unreachable
            If the engine does not answer.
        """

    def cancel(self, batches: Sequence[Batch]) -> None:
        """End what is queued or running of the jobs of batches."""

    def wait(self, seconds: float) -> None:
        """Return after so many seconds, or as soon as a job has ended."""

    def log(self, job_id: str, journal: Journal) -> str:
        """Say where the log of a job is."""

    def forget(self, batch: Batch, journal: Journal, keep: Collection[str]) -> None:
        """Drop what the engine keeps of a batch whose jobs have ended, but for the logs in `keep`.

        Parameters
        ----------
        batch : Batch
            The batch.
        journal : Journal
            Where logs are.
        keep : collection of str
            The ids of jobs whose logs somebody has been told to read.
        """

    def close(self) -> None:
        """Leave the jobs alone, and end."""


def submitted_to(engine: Engine, journal: Journal) -> list[Batch]:
    """Return the batches in a journal that an engine was given, by time.

    The engine is asked which it is only where there are any.

    Raises
    ------
    Unreachable
        If it does not answer.
    """
    return [
        batch
        for batch in journal.batches()
        if (batch.engine, batch.place) == (engine.name, engine.place)
    ]
