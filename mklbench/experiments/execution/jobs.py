"""What a store's journal and the engines say of the jobs that were submitted."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from mklbench import extras
from mklbench.errors import InputError
from mklbench.experiments.execution.engine import Engine, JobState, Phase, Unreachable
from mklbench.experiments.execution.journal import Batch, Job, Journal, Report
from mklbench.experiments.store import Store


@dataclass(frozen=True)
class JobOverview:
    """How far a job is.

    Attributes
    ----------
    id : str
        What the engine calls it; its name while the engine has not said.
    engine : str
        "slurm" or "dask".
    phase : {"queued", "running", "ended", "unknown"}
        "unknown" where the engine does not answer here and the job has not said that it runs.
    reason : str
        Why it is queued, as the engine says.
    node : str
        Where it runs; empty if that is not known.
    seconds : float
        How long it has been queued, or running.
    left : float or None
        Seconds until it is expected to end; None of one that does not run.
    n_steps : int
        Steps that it was given.
    """

    id: str
    engine: str
    phase: Phase
    reason: str
    node: str
    seconds: float
    left: float | None
    n_steps: int


def jobs_overview(store: Store) -> list[JobOverview]:
    """Return the jobs of a store that have not ended, in the order of their submission."""
    journal = Journal(store)
    batches = sorted(journal.batches(), key=lambda batch: (batch.engine, batch.place))
    found = []
    for (engine, place), listed in groupby(batches, key=lambda batch: (batch.engine, batch.place)):
        of_engine = list(listed)
        states = _states(engine, place, of_engine, journal)
        found += [
            _overview(job, batch, states.get(job.name), journal.report(job))
            for batch in of_engine
            for job in batch.jobs
        ]
    return [job for job in found if job.phase != "ended"]


def _overview(job: Job, batch: Batch, state: JobState | None, report: Report | None) -> JobOverview:
    if report is not None and report.ended is not None:
        state = JobState("ended")
    phase: Phase = "unknown" if state is None else state.phase
    if report is not None and phase in ("queued", "unknown"):
        phase = "running"  # Dask does not tell the two apart
    now = time.time()
    running = phase == "running" and report is not None
    since = report.started if running and report else batch.submitted
    seconds = max(now - since, 0.0)
    return JobOverview(
        id=job.id or job.name,
        engine=batch.engine,
        phase=phase,
        reason=state.reason if state is not None and phase == "queued" else "",
        node=(state.node if state else "") or (report.node if report else ""),
        seconds=seconds,
        left=max(job.seconds - seconds, 0.0) if running else None,
        n_steps=len(job.steps),
    )


def _states(
    engine: str, place: str, batches: Iterable[Batch], journal: Journal
) -> dict[str, JobState]:
    """Return what the engine says, as far as it can be asked from here."""
    made = None
    try:
        made = _engine(engine, place)
        return {} if made is None else made.states(list(batches), journal)
    except (InputError, Unreachable):
        return {}
    finally:
        if made is not None:
            made.close()


def _engine(name: str, place: str) -> Engine | None:
    if extras.missing(name, name) is not None:
        return None
    if name == "slurm":
        from mklbench.experiments.execution.slurm import Slurm

        slurm = Slurm({}, array=1, poll_seconds=1.0)
        return slurm if slurm.place == place else None
    from mklbench.experiments.execution.dask import DaskEngine

    return DaskEngine(place, f"executor.address={place}", patience=2.0)
