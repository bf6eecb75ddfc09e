"""What was handed to a cluster, written beside the records: ``STORE/jobs``.

A batch, one file, is what a driver submits at once: chunks of steps, each for one job. A job writes
a report of its own: where it runs, and at its end which steps it leaves and why. Both are written
whole or not at all. So a driver that is started again, on whatever machine, knows what is on its
way, and nobody has to ask the engine what a job was for.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mklbench import resources
from mklbench.claims import Owner
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.files import write_atomically
from mklbench.experiments.store import Store, cannot_be_written


@dataclass(frozen=True)
class Left:
    """A step that a job has begun and not ended.

    Attributes
    ----------
    position : int
        Its number in the job.
    why : str
        In the engines' words: "OUT_OF_MEMORY", "TIMEOUT", "FAILED"; "INPUT" for what the user has
        to mend.
    message : str
        What there is to say beyond that.
    """

    position: int
    why: str
    message: str = ""


@dataclass(frozen=True)
class Report:
    """What a job says of itself.

    Attributes
    ----------
    node, cpu : str
        The machine, as its claims name it, and its processor.
    pid : int
        The process on it.
    started : float
        Seconds since 1970, by the clock of the node.
    ended : float or None
        The same; None of a job that runs, or ended without a word.
    left : tuple of Left
        The steps that were begun in vain. Of others, only the store tells whether they were begun.
    """

    node: str
    cpu: str
    pid: int
    started: float
    ended: float | None = None
    left: tuple[Left, ...] = ()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Report:
        """Return the report that was written as JSON."""
        return cls(**{**content, "left": tuple(Left(**item) for item in content["left"])})


@dataclass(frozen=True)
class Job:
    """One job of a batch, as it was submitted.

    Attributes
    ----------
    batch : str
        Name of the batch.
    number : int
        Its number in the batch, from 0.
    id : str
        What the engine calls it; empty while the engine has not said.
    steps : tuple of (str, int, bool)
        Key of the cell, split, and whether it is a selection.
    seconds : float
        How long it is expected to take.
    memory, minutes : int
        GiB and time limit that were asked for.
    """

    batch: str
    number: int
    id: str
    steps: tuple[tuple[str, int, bool], ...]
    seconds: float
    memory: int
    minutes: int

    @property
    def name(self) -> str:
        """Name of the job, unique in its store."""
        return f"{self.batch}-{self.number}"


@dataclass(frozen=True)
class Batch:
    """What a driver has submitted, or is about to.

    Attributes
    ----------
    name : str
        Unique; the engine has it as the name of the jobs.
    engine : str
        "slurm" or "dask".
    place : str
        Which of these: the name of a cluster, or the address of a scheduler.
    submitted : float
        Seconds since 1970, by the clock of the driver.
    chunks : tuple of dict
        Of each job, the fields of `Job` from `steps` on.
    cells : dict of str to dict
        Configs by key.
    data : tuple of dict
        Data configs to be loaded before, so that all jobs find what is downloaded or derived.
    ids : tuple of str
        What the engine calls the jobs; empty until it has said.
    modules : tuple of str
        Directories of the user's own configs in which Python finds what these name.
    """

    name: str
    engine: str
    place: str
    submitted: float
    chunks: tuple[dict[str, Any], ...]
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)
    data: tuple[dict[str, Any], ...] = ()
    ids: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, engine: str, place: str, chunks: Sequence[Chunk], data: Sequence[Any] = ()
    ) -> Batch:
        """Return a new batch of chunks, or of one job that only loads data."""
        cells = {step.cell.key: step.cell.config for chunk in chunks for step in chunk.steps}
        name = f"mklbench-{uuid.uuid4().hex[:10]}"
        return cls(
            name,
            engine,
            place,
            time.time(),
            tuple(map(_as_json, chunks)),
            cells,
            tuple(data),
            modules=tuple(resources.own_modules()),
        )

    def with_ids(self, ids: Sequence[str]) -> Batch:
        """Return the batch with what the engine calls its jobs."""
        return replace(self, ids=tuple(ids))

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs, in order."""
        ids = self.ids or ("",) * len(self.chunks)
        return tuple(
            Job(self.name, number, ids[number], **{**chunk, "steps": _places(chunk["steps"])})
            for number, chunk in enumerate(self.chunks)
        )

    def steps(self, number: int) -> list[Step]:
        """Return the steps of a job, which alone needs the cells, and what these name."""
        resources.find_modules_in(self.modules)
        cells = {key: Cell(config) for key, config in self.cells.items()}
        places = self.jobs[number].steps
        return [Step(cells[key], split, selects) for key, split, selects in places]


class Journal:
    """The batches and reports in a store.

    Parameters
    ----------
    store : Store
        The store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.path = store.path / "jobs"

    @property
    def logs(self) -> Path:
        """Where the engine writes what jobs print."""
        return self.path / "logs"

    def batches(self) -> list[Batch]:
        """Return the batches there are, by time; what cannot be read is passed over."""
        read = (self._read(path) for path in self.path.glob("mklbench-*.batch"))
        found = [_batch(content) for content in read if content is not None]
        return sorted(
            (one for one in found if one), key=lambda batch: (batch.submitted, batch.name)
        )

    def batch(self, name: str) -> Batch:
        """Return a batch by its name.

        Raises
        ------
        FileNotFoundError
            If there is none.
        """
        content = self._read(self._batch_path(name))
        if content is None or (batch := _batch(content)) is None:
            raise FileNotFoundError(self._batch_path(name))
        return batch

    def write_batch(self, batch: Batch) -> None:
        """Write a batch, before it is submitted, and again when its jobs have ids.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        content = {item: getattr(batch, item) for item in Batch.__dataclass_fields__}
        self._write(self._batch_path(batch.name), content)

    def report(self, job: Job) -> Report | None:
        """Return what a job has said of itself, or None."""
        content = self._read(self._report_path(job.name))
        try:
            return None if content is None else Report.from_json(content)
        except (KeyError, TypeError):
            return None

    def write_report(self, job: Job, report: Report) -> None:
        """Write what a job says of itself, unless its batch has been forgotten meanwhile.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        if self._batch_path(job.batch).exists():
            self._write(self._report_path(job.name), asdict(report))

    def remove(self, batch: Batch) -> None:
        """Forget a batch, all of whose jobs have ended."""
        for job in batch.jobs:
            self._report_path(job.name).unlink(missing_ok=True)
        self._batch_path(batch.name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()  # there may be logs, or other batches

    def _batch_path(self, name: str) -> Path:
        return self.path / f"{name}.batch"

    def _report_path(self, job: str) -> Path:
        return self.path / f"{job}.report"

    def _write(self, path: Path, content: Mapping[str, Any]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(content), durable=False)
        except OSError as error:
            raise cannot_be_written(self._store, error) from error

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            content = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) else None


@contextlib.contextmanager
def reporting(journal: Journal, job: Job, cpu: str) -> Iterator[list[Left]]:
    """Report that a job runs, and at the end what was put into the list that is given."""
    here = Owner.of_this_process()
    report = Report(here.host, cpu, here.pid, time.time())
    journal.write_report(job, report)
    left: list[Left] = []
    yield left
    journal.write_report(job, replace(report, ended=time.time(), left=tuple(left)))


def _as_json(chunk: Chunk) -> dict[str, Any]:
    steps = [(step.cell.key, step.split, step.selects) for step in chunk.steps]
    return {**asdict(replace(chunk, steps=())), "steps": steps}


def _places(steps: Sequence[Sequence[Any]]) -> tuple[tuple[str, int, bool], ...]:
    return tuple((str(key), int(split), bool(selects)) for key, split, selects in steps)


def _batch(content: Mapping[str, Any]) -> Batch | None:
    try:
        lists = {name: tuple(content[name]) for name in ("chunks", "data", "ids")}
        modules = tuple(content.get("modules", ()))  # which batches of before do not have
        return Batch(**{**content, **lists, "modules": modules})
    except (KeyError, TypeError):
        return None
