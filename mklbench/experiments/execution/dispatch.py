"""The driver of a run on a cluster: submits jobs, watches them, submits again what is lost.

It keeps nothing to itself: what is done stands in the store, what is on its way in the journal. So
it can be ended at any time, and started again on another machine; it then adopts the jobs that it
finds. That no split is run twice is seen to by the claims, not by the driver.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mklbench.errors import InputError
from mklbench.experiments.execution.chunks import Chunk, pack
from mklbench.experiments.execution.claims import (
    SILENT_AFTER,
    Owner,
    claim_path,
    clear,
    heartbeat,
)
from mklbench.experiments.execution.engine import Engine, JobState, Unreachable, submitted_to
from mklbench.experiments.execution.journal import Batch, Job, Journal, Report
from mklbench.experiments.execution.outstanding import Item, Outstanding
from mklbench.experiments.store import Store

# Seconds between two looks at the store while jobs run.
LOOK = 60.0
# Seconds after which a job that the engine does not know has been lost.
_LOST_AFTER = 60.0
# Seconds without an answer of the engine after which the driver gives up.
_UNREACHABLE_FOR = 900.0
# Of a job that has ended so the process may still run: the engine has only lost sight of it.
_OUT_OF_SIGHT = ("LOST", "NODE_FAIL")
# How often it is asked, once all is done, whether the last jobs have ended by themselves.
_LAST_POLLS = 3
# Characters of a worker's last words that go into a record.
_LAST_WORDS = 1000


@dataclass(frozen=True)
class Options:
    """How steps are handed to a cluster.

    Attributes
    ----------
    minutes : float
        That a job is to take.
    retries : int
        How often a step that was begun in vain is submitted again.
    memory : float
        GiB that each job asks for at least.
    """

    minutes: float = 30.0
    retries: int = 2
    memory: float = 0.0


class Driver:
    """Has the steps of one run taken by the jobs of an engine.

    Parameters
    ----------
    engine : Engine
        Where.
    outstanding : Outstanding
        The steps.
    options : Options
        How.
    cells : collection of str
        Keys of the cells of the run, also of those that are done.
    clock : callable, default=time.monotonic
        Seconds.
    """

    def __init__(
        self,
        engine: Engine,
        outstanding: Outstanding,
        options: Options,
        cells: Collection[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._outstanding, self._options = engine, outstanding, options
        self._cells, self._clock = set(cells), clock
        self._store: Store = outstanding.store
        self._journal = Journal(self._store)
        self._batches: dict[str, Batch] = {}  # of this engine, also those that have ended
        self._in_flight: dict[str, Job] = {}
        self._unknown_since: dict[str, float] = {}
        self._told_logs: set[str] = set()  # ids of jobs whose logs are named in records
        # By claim the last heartbeat, and when it was new.
        self._beats: dict[Path, tuple[tuple[Owner, int], float]] = {}

    @property
    def in_flight(self) -> list[Job]:
        """The jobs of this run that have been submitted and not ended."""
        return [job for job in self._in_flight.values() if self._is_own(self._batches[job.batch])]

    def adopt(self) -> None:
        """Take over the jobs that an earlier driver has submitted.

        Jobs of another run on the same store are waited for where they have steps of this one.
        """
        for batch in submitted_to(self._engine, self._journal):
            if not self._is_own(batch) and not any(map(self._outstanding.of_job, batch.jobs)):
                continue
            self._batches[batch.name] = batch
            for job in batch.jobs:
                self._in_flight[job.name] = job
                self._outstanding.hand_over(job)
        with suppress(Unreachable):  # it may answer later
            self._hear()

    def submit(self) -> None:
        """Submit what can be begun, as far as the engine has room.

        Raises
        ------
        InputError
            If the engine does not take it.
        """
        room = self._engine.room - len(self._in_flight)
        demands = self._outstanding.demands(self._clock()) if room > 0 else []
        if not demands:
            return
        chunks = pack(
            demands,
            self._engine.slots,
            60.0 * self._options.minutes,
            self._engine.start_seconds,
            self._options.memory,
            self._engine.jobs_to_come,
        )
        self._submit_batch(list(islice(chunks, room)))

    def run(self) -> None:
        """Go on until every step has ended."""
        self.adopt()
        looked = heard = self._clock()
        while self._outstanding:
            try:
                self.submit()
                self._engine.wait(self._engine.poll_seconds)
                self._hear()
                heard = self._clock()
            except Unreachable:
                if self._clock() - heard > _UNREACHABLE_FOR:
                    raise
                self._engine.wait(self._engine.poll_seconds)
            if self._clock() - looked >= LOOK:
                looked = self._clock()
                self._outstanding.look()
                self._free_silent()
        with suppress(Unreachable):  # all is done; what the journal still has is ended next time
            self._finish()

    def cancel(self) -> None:
        """End the jobs of this run that are still queued or running."""
        names = {job.batch for job in self.in_flight}
        if names:
            self._engine.cancel([self._batches[name] for name in names])

    def _submit_batch(self, chunks: Sequence[Chunk]) -> None:
        batch = Batch.of(self._engine.name, self._engine.place, chunks)
        self._journal.write_batch(batch)  # first, so that no job is unknown
        try:
            ids = self._engine.submit(batch, self._journal)
        except BaseException:
            self._journal.remove(batch)
            raise
        batch = batch.with_ids(ids)
        self._journal.write_batch(batch)
        self._batches[batch.name] = batch
        for job in batch.jobs:
            self._in_flight[job.name] = job
            self._outstanding.hand_over(job)

    def _hear(self) -> None:
        """Ask what has become of the jobs."""
        in_flight = list(self._in_flight.values())
        batches = [self._batches[name] for name in {job.batch for job in in_flight}]
        if not batches:
            return
        try:
            states = self._engine.states(batches, self._journal)
        except InputError:  # they are cancelled, and nobody has to find them again
            for batch in batches:
                self._engine.forget(batch, self._journal, ())
                self._journal.remove(batch)
            raise
        for job in in_flight:
            state = states.get(job.name, JobState("unknown"))
            if state.phase == "unknown":
                if not self._is_lost(job):
                    continue
                state = JobState("ended", "LOST")
            else:
                self._unknown_since.pop(job.name, None)
            if state.phase == "ended":
                del self._in_flight[job.name]
                self._has_ended(job, state)

    def _is_lost(self, job: Job) -> bool:
        """Tell whether a job that the engine does not know has ended, or will never begin."""
        report = self._journal.report(job)
        if report is not None and report.ended is not None:
            return True
        since = self._unknown_since.setdefault(job.name, self._clock())
        if self._clock() - since <= _LOST_AFTER:
            return False
        # It may have been forgotten and go on; what it has in hand is freed once it is silent.
        return not any(map(self._claimed_by(report), self._outstanding.of_job(job).values()))

    def _has_ended(self, job: Job, state: JobState) -> None:
        """See what a job has done, and put the rest back."""
        before = self._outstanding.of_job(job)
        self._outstanding.look(before.values())
        rest = self._outstanding.of_job(job)
        if not rest:
            return
        report = self._journal.report(job)
        blamed = self._blamed(rest, report, state)
        was_submitted = bool(job.id) or report is not None
        if not blamed and len(rest) == len(before) and was_submitted and not self._put_off(rest):
            # It has done nothing: a node that is not fit, or nobody knows.
            blamed = dict.fromkeys(rest, (state.reason or "FAILED", ""))
        for position, item in rest.items():
            item.job = ""
            if position in blamed:
                self._blame(item, *blamed[position], job, state, report)

    def _blamed(
        self, rest: dict[int, Item], report: Report | None, state: JobState
    ) -> dict[int, tuple[str, str]]:
        """Return by position which steps a job has begun in vain, and why."""
        if report is None:
            return {}
        if report.ended is not None:
            return {left.position: (left.why, left.message) for left in report.left}
        is_claimed = self._claimed_by(report)
        held = {position: item for position, item in rest.items() if is_claimed(item)}
        if state.reason in _OUT_OF_SIGHT:
            self._put_off(held)
        else:  # its owner is gone: nobody has to wait for it
            for item in held.values():
                clear(claim_path(self._store, item.step))
        return dict.fromkeys(held, (state.reason, ""))

    def _claimed_by(self, report: Report | None) -> Callable[[Item], bool]:
        """Return what tells whether a job has claimed a step, as far as it is known."""

        def is_claimed(item: Item) -> bool:
            held = heartbeat(claim_path(self._store, item.step))
            if report is None or held is None:
                return False
            return (held[0].host, held[0].pid) == (report.node, report.pid)

        return is_claimed

    def _put_off(self, rest: dict[int, Item]) -> bool:
        """Let steps that others have in hand wait until the next look; tell if there are any."""
        held = [item for item in rest.values() if heartbeat(claim_path(self._store, item.step))]
        for item in held:
            item.not_before = self._clock() + LOOK
        return bool(held)

    def _blame(
        self, item: Item, why: str, message: str, job: Job, state: JobState, report: Report | None
    ) -> None:
        """Count a failure of a step; record it if it was the last."""
        if why == "INPUT":
            self._outstanding.refuse(item.step.cell, message)
            return
        item.failures += 1
        # Of a job that Slurm ends at its time limit, the job itself knows only that it has to end.
        whys = why, state.reason
        if any(word.startswith("OUT_OF_ME") for word in whys):
            item.times_memory = 2.0
        if any(word.startswith("TIMEOUT") for word in whys):
            item.times_seconds = 2.0
        if item.failures <= self._options.retries:
            return
        reason = state.reason if state.reason not in ("", "COMPLETED") else why
        node = state.node or (report.node if report else "")
        where = f" on node {node}" if node else ""
        said = f": {message[-_LAST_WORDS:]}" if message else ""
        attempts = "1 attempt" if item.failures == 1 else f"{item.failures} attempts"
        log = self._engine.log(job.id, self._journal)
        self._told_logs.add(job.id)
        self._outstanding.fail(
            item,
            f"{reason}{where}, {self._engine.name} job {job.id}, after {attempts}"
            f"{said}; log: {log}",
        )

    def _free_silent(self) -> None:
        """Free what is claimed by who gives no sign of life, for others to take."""
        claims = {claim_path(self._store, item.step): item for item in self._outstanding.claimed()}
        self._beats = {path: seen for path, seen in self._beats.items() if path in claims}
        for path, item in claims.items():
            if not self._is_silent(path):
                if not item.job:  # somebody else has it in hand
                    item.not_before = self._clock() + LOOK
                continue
            job = self._in_flight.get(item.job)
            if job is not None and self._claimed_by(self._journal.report(job))(item):
                for its in self._outstanding.of_job(job).values():
                    its.job = ""
            clear(path)  # nobody else has to watch it again

    def _is_silent(self, path: Path) -> bool:
        """Tell whether a claim has been without a heartbeat for so long as to mean nothing."""
        beat = heartbeat(path)
        if beat is None:
            return False
        if beat[0].is_running() is False:  # on this machine that can be seen
            return True
        last, since = self._beats.setdefault(path, (beat, self._clock()))
        if last != beat:
            self._beats[path] = beat, self._clock()
            return False
        return self._clock() - since >= SILENT_AFTER

    def _finish(self) -> None:
        """Wait for jobs that are about to end, end those that were overtaken, and forget all."""
        for _ in range(_LAST_POLLS):
            if not self.in_flight:
                break
            self._engine.wait(self._engine.poll_seconds)
            self._hear()
        self.cancel()
        for batch in filter(self._is_own, self._batches.values()):
            self._engine.forget(batch, self._journal, self._told_logs)
            self._journal.remove(batch)

    def _is_own(self, batch: Batch) -> bool:
        """Tell whether all that a batch is for is of this run: another may wait for the rest."""
        return bool(batch.cells) and self._cells.issuperset(batch.cells)
