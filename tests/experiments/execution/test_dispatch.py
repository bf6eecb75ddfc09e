"""The driver on an engine that does as it is told: who is blamed, what is tried again, and when."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from execution_fakes import of, write
from narrowing import present

from benchmarks.simulated_cluster import SimulatedCell
from mklbench.claims import Owner
from mklbench.experiments.execution.dispatch import LOOK, Driver, Options
from mklbench.experiments.execution.engine import JobState, Unreachable
from mklbench.experiments.execution.journal import Batch, Job, Journal, Left, Report
from mklbench.experiments.execution.steps import Step, missing_steps
from mklbench.experiments.store import Store

CELL = SimulatedCell(0, 2, 20.0, 20.0)
OTHER = SimulatedCell(1, 2, 20.0, 20.0)
SINGLE = SimulatedCell(2, 1, 20.0, 20.0)
CELLS = {cell.key: cell for cell in (CELL, OTHER, SINGLE)}
COMPLETED = JobState("ended", "COMPLETED", "node7")
RUNNING = JobState("running", "", "node7")
PID = 4711


class Engine:
    """Says of each job what `play` has said when it was submitted, or what `said` has since."""

    name, place = "fake", "here"
    start_seconds, poll_seconds, jobs_to_come = 0.0, 10.0, 2
    slots = room = 1

    def __init__(self, store: Store, play: Callable[[Job], JobState | None]) -> None:
        self.now = 0.0
        self.store, self.play = store, play
        self.submitted: list[Job] = []
        self.said: dict[str, JobState] = {}
        self.away: list[tuple[float, float]] = []
        self.due: list[tuple[float, Callable[[], object]]] = []
        self.cancelled: list[str] = []
        self.kept: set[str] = set()

    def check(self, journal: Journal) -> None: ...

    def submit(self, batch: Batch, journal: Journal) -> tuple[str, ...]:
        self._answer()
        for job in batch.jobs:
            self.submitted.append(job)
            state = self.play(job)
            if state is not None:
                self.said[job.name] = state
        return tuple(f"{len(self.submitted)}_{job.number}" for job in batch.jobs)

    def states(self, batches: Sequence[Batch], journal: Journal) -> dict[str, JobState]:
        self._answer()
        names = [job.name for batch in batches for job in batch.jobs]
        return {name: self.said[name] for name in names if name in self.said}

    def cancel(self, batches: Sequence[Batch]) -> None:
        self._answer()
        self.cancelled += [batch.name for batch in batches]

    def wait(self, seconds: float) -> None:
        self.now += seconds
        assert self.now < 10_000, "the driver goes on for ever"
        due, self.due = self.due, [one for one in self.due if one[0] > self.now]
        for when, action in due:
            if when <= self.now:
                action()

    def log(self, job_id: str, journal: Journal) -> str:
        return f"log-{job_id}"

    def forget(self, batch: Batch, journal: Journal, keep: Collection[str]) -> None:
        self.kept |= set(keep)

    def close(self) -> None: ...

    def _answer(self) -> None:
        if any(begin <= self.now < end for begin, end in self.away):
            raise Unreachable("no answer")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def steps(job: Job) -> list[Step]:
    return [Step(CELLS[key], split, selects) for key, split, selects in job.steps]


def done(store: Store, job: Job) -> JobState:
    for step in steps(job):
        write(store, step)
    report(store, job)
    return COMPLETED


def report(store: Store, job: Job, *left: Left, ended: float | None = 1.0) -> None:
    said = Report("node7", "a processor", PID, 0.0, ended, tuple(left))
    Journal(store).write_report(job, said)


def claim(store: Store, step: Step, pid: int = PID, node: str = "node7") -> Path:
    """Claim a step as a process of another machine does; return the file of its heartbeat."""
    store.describe(step.cell)
    path = store.record_path(step.cell, step.split).with_suffix(".claim")
    path.mkdir()
    own = path / Owner(node, "", pid, 0, 0).new_name()
    own.touch()
    return own


def beat(engine: Engine, own: Path, until: int) -> None:
    """Let who has claimed a step give signs of life, and then release it."""

    def release() -> None:
        own.unlink()
        own.parent.rmdir()

    for when in range(10, until, 10):
        engine.due.append((when, partial(os.utime, own, (when, when))))
    engine.due.append((until, release))


def finish(engine: Engine, job: Job) -> None:
    engine.said[job.name] = done(engine.store, job)


def driver(
    engine: Engine, *cells: SimulatedCell, retries: int = 2, minutes: float = 30.0
) -> Driver:
    outstanding, _ = of(engine.store, *cells)
    keys = {cell.key for cell in cells}
    return Driver(engine, outstanding, Options(minutes, retries), keys, lambda: engine.now)


def run(engine: Engine, *cells: SimulatedCell, retries: int = 2) -> Driver:
    """Run to the end, and see that nothing is left."""
    one = driver(engine, *(cells or (CELL,)), retries=retries)
    one.run()
    assert one.in_flight == []
    assert Journal(engine.store).batches() == []
    assert not list(engine.store.path.rglob("*.report"))
    return one


def in_turn(*plays: Callable[[Job], JobState | None]) -> Callable[[Job], JobState | None]:
    """Return what does one thing with the first job, another with the next, and so on."""
    left = list(plays)
    return lambda job: (left.pop(0) if len(left) > 1 else left[0])(job)


def error(store: Store, split: int = 0) -> str | None:
    return present(store.record(CELL, split)).error


def test_all_is_well(store: Store) -> None:
    engine = Engine(store, lambda job: done(store, job))
    run(engine)
    assert missing_steps(CELL, store) == []
    assert [step for job in engine.submitted for step in steps(job)] == [
        Step(CELL, 0),
        Step(CELL, 1),
    ]
    assert engine.now <= 20.0


def test_what_was_begun_in_vain_is_blamed_and_tried_again(store: Store) -> None:
    """Of a job of two steps the first has failed, the second was not begun: it is innocent."""

    def fail(job: Job) -> JobState:
        report(store, job, Left(0, "FAILED", "the worker process died (SIGSEGV)"))
        return COMPLETED

    engine = Engine(store, fail)
    engine.start_seconds = 60.0  # so that jobs have two steps
    run(engine, retries=0)
    assert error(store) == (
        "FAILED on node node7, fake job 1_0, after 1 attempt: the worker process died (SIGSEGV); "
        "log: log-1_0"
    )
    assert [job.steps for job in engine.submitted] == [
        ((CELL.key, 0, False), (CELL.key, 1, False)),
        ((CELL.key, 1, False),),
    ]
    assert engine.kept == {"1_0", "2_0"}


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_it_is_tried_as_often_as_asked_for(store: Store, retries: int) -> None:
    def fail(job: Job) -> JobState:
        report(store, job, Left(0, "FAILED", "no"))
        return COMPLETED

    engine = Engine(store, fail)
    run(engine, retries=retries)
    assert len(engine.submitted) == 2 * (retries + 1)
    attempts = {0: "1 attempt", 1: "2 attempts", 3: "4 attempts"}[retries]
    assert f"after {attempts}: no" in str(error(store))


def test_a_job_that_was_killed_is_blamed_on_the_step_it_had_in_hand(store: Store) -> None:
    def die(job: Job) -> JobState:
        report(store, job, ended=None)
        claim(store, steps(job)[0])
        return JobState("ended", "PREEMPTED", "node3")

    engine = Engine(store, die)
    engine.start_seconds = 60.0
    run(engine, retries=1)
    assert str(error(store)).startswith("PREEMPTED on node node3, fake job 2_0, after 2 attempts")
    assert [len(job.steps) for job in engine.submitted] == [2, 2, 1, 1]
    assert engine.now < 60.0  # nobody waits for a claim whose owner is gone


def test_memory_is_doubled_once(store: Store) -> None:
    def grow(job: Job) -> JobState:
        report(store, job, Left(0, "OUT_OF_MEMORY", "too large"))
        return COMPLETED

    engine = Engine(store, grow)
    run(engine)
    assert [job.memory for job in engine.submitted[:3]] == [2, 4, 4]
    assert "OUT_OF_MEMORY on node node7" in str(error(store))


@pytest.mark.parametrize(
    ("of_job", "of_engine"), [("TIMEOUT", "COMPLETED"), ("CANCELLED", "TIMEOUT")]
)
def test_time_is_doubled_once(store: Store, of_job: str, of_engine: str) -> None:
    """Also where the job was told to end, and the engine alone knows why."""

    def drag(job: Job) -> JobState:
        report(store, job, Left(0, of_job, "too slow"))
        return JobState("ended", of_engine, "node7")

    engine = Engine(store, drag)
    run(engine)
    assert [job.minutes for job in engine.submitted[:3]] == [5, 10, 10]


def test_what_the_user_has_to_mend_refuses_its_cell(store: Store) -> None:
    def refuse(job: Job) -> JobState:
        if steps(job)[0].cell is OTHER:
            return done(store, job)
        report(store, job, Left(0, "INPUT", "mend it"))
        return COMPLETED

    outstanding, heard = of(store, CELL, OTHER)
    engine = Engine(store, refuse)
    Driver(engine, outstanding, Options(), CELLS, lambda: engine.now).run()
    assert outstanding.errors == {CELL.key: "mend it"}
    assert heard.cells == [(OTHER, "done")]
    assert len(engine.submitted) == 3


def test_a_job_that_did_nothing_is_blamed_on_all_its_steps(store: Store) -> None:
    engine = Engine(store, lambda job: JobState("ended", "BOOT_FAIL", "node7"))
    engine.start_seconds = 60.0
    run(engine, retries=1)
    assert [len(job.steps) for job in engine.submitted] == [2, 2]
    assert "BOOT_FAIL on node node7" in str(error(store, 1))


def test_a_job_that_found_all_its_steps_in_other_hands_is_not_blamed(store: Store) -> None:
    own = claim(store, Step(CELL, 0), pid=1, node="elsewhere")

    def pass_over(job: Job) -> JobState:
        report(store, job)
        return COMPLETED if own.exists() and steps(job)[0].split == 0 else done(store, job)

    engine = Engine(store, pass_over)
    beat(engine, own, until=300)
    run(engine, retries=0)
    assert [record.is_done for record in store.read(CELL).records] == [True, True]
    # It is looked for once a minute, not at each poll.
    assert len(engine.submitted) <= 2 + 300 / 60 + 1


def test_a_dead_runner_is_found_out_by_its_silence(store: Store) -> None:
    """Also if no job lives long enough to see that."""
    own = claim(store, Step(CELL, 0), pid=1, node="elsewhere")

    def pass_over(job: Job) -> JobState:
        report(store, job)
        return COMPLETED if own.exists() and steps(job)[0].split == 0 else done(store, job)

    engine = Engine(store, pass_over)
    run(engine, retries=0)
    assert [record.is_done for record in store.read(CELL).records] == [True, True]
    assert 120 < engine.now < 330


def test_a_step_is_freed_at_the_next_look_where_its_process_has_ended_here(store: Store) -> None:
    """The engine has lost sight of the job before its process had ended."""
    here = Owner.of_this_process()

    def lose(job: Job) -> JobState:
        store.describe(CELL)
        place = store.record_path(CELL, 0).with_suffix(".claim")
        place.mkdir()
        (place / replace(here, started=here.started + 1).new_name()).touch()  # no such process
        Journal(store).write_report(job, Report(here.host, "a processor", here.pid, 0.0))
        return JobState("ended", "LOST")

    engine = Engine(store, in_turn(lose, lambda job: done(store, job)))
    run(engine)
    assert engine.now <= 2 * LOOK


def test_the_steps_of_a_silent_job_are_freed(store: Store) -> None:
    def fall_silent(job: Job) -> JobState:
        report(store, job, ended=None)
        claim(store, steps(job)[0])
        return RUNNING

    engine = Engine(store, in_turn(fall_silent, lambda job: done(store, job)))
    engine.start_seconds, engine.room = 60.0, 2
    driver(engine, CELL).run()
    assert [len(job.steps) for job in engine.submitted] == [2, 2]
    assert [record.is_done for record in store.read(CELL).records] == [True, True]
    assert engine.cancelled == [engine.submitted[0].batch]
    assert 120 < engine.now < 300


def test_a_job_that_gives_signs_of_life_is_left_alone(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)

    def play(job: Job) -> JobState:
        report(store, job, ended=None)
        own = claim(store, steps(job)[0])
        beat(engine, own, until=610)
        engine.due.append((610, partial(finish, engine, job)))
        return RUNNING

    engine.play = play
    engine.start_seconds, engine.room = 60.0, 2
    run(engine)
    assert len(engine.submitted) == 1


@pytest.mark.parametrize("state", [None, JobState("ended", "NODE_FAIL", "node7")])
def test_a_job_that_is_out_of_sight_may_go_on(store: Store, state: JobState | None) -> None:
    """Its claim is not cleared while it beats: nobody else begins the step."""
    begun: list[float] = []

    def play(job: Job) -> JobState | None:
        if begun:
            return COMPLETED if own[0].exists() else done(store, job)
        begun.append(engine.now)
        report(store, job, ended=None)
        own.append(claim(store, steps(job)[0]))
        engine.due.append((400, lambda: write(store, steps(job)[0])))
        beat(engine, own[0], until=400)
        return state

    own: list[Path] = []
    engine = Engine(store, play)
    run(engine, SINGLE, retries=1 if state else 0)
    assert engine.now >= 400
    assert store.is_done(SINGLE, 0)
    assert state is not None or len(engine.submitted) == 1


def test_a_job_that_the_engine_does_not_know_is_lost_after_a_minute(store: Store) -> None:
    engine = Engine(store, in_turn(lambda job: None, lambda job: done(store, job)))
    run(engine)
    assert len(engine.submitted) == 3
    assert 60 < engine.now <= 110


def test_a_job_that_has_reported_its_end_needs_no_engine(store: Store) -> None:
    def play(job: Job) -> None:
        done(store, job)

    engine = Engine(store, play)
    run(engine)
    assert engine.now <= 20.0


def test_an_engine_that_does_not_answer_is_waited_for(store: Store) -> None:
    engine = Engine(store, lambda job: done(store, job))
    engine.away = [(0, 200), (210, 400)]
    run(engine)
    assert 400 <= engine.now < 500


def test_but_not_for_ever(store: Store) -> None:
    engine = Engine(store, lambda job: done(store, job))
    engine.away = [(0, 1e9)]
    with pytest.raises(Unreachable):
        driver(engine, CELL).run()
    assert 900 < engine.now < 1000
    assert Journal(store).batches() == []


def test_an_engine_that_is_away_when_all_is_done_is_no_failure(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)
    engine.room = 2

    def play(job: Job) -> JobState:
        engine.due.append((60, lambda: done(store, job)))
        return RUNNING

    engine.play = play
    engine.away = [(60, 1e9)]
    driver(engine, CELL).run()
    assert missing_steps(CELL, store) == []
    engine.away = []
    driver(engine, CELL).run()  # which ends what was left
    assert len(engine.cancelled) == 1
    assert Journal(store).batches() == []


def test_another_driver_adopts_the_jobs(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)
    engine.room = 2
    first = driver(engine, CELL)
    first.submit()
    assert len(first.in_flight) == len(engine.submitted) == 2
    second = driver(engine, CELL)
    second.adopt()
    second.submit()
    assert [job.id for job in second.in_flight] == ["2_0", "2_1"]
    for job in engine.submitted:
        engine.said[job.name] = done(store, job)
    engine.away = [(0, 50)]  # also at the start it is waited for
    second.run()
    assert len(engine.submitted) == 2
    assert Journal(store).batches() == []


def test_a_batch_whose_ids_were_not_written_is_adopted(store: Store) -> None:
    """The driver was killed between the submission and the journal; or before the submission."""
    engine = Engine(store, lambda job: RUNNING)
    engine.room = 2
    driver(engine, CELL).submit()
    (batch,) = Journal(store).batches()
    Journal(store).write_batch(batch.with_ids(()))
    second = driver(engine, CELL)
    second.adopt()
    assert [job.name for job in second.in_flight] == [job.name for job in batch.jobs]
    for job in engine.submitted:
        engine.said[job.name] = done(store, job)
    second.run()
    assert len(engine.submitted) == 2


def test_a_batch_that_was_never_submitted_is_blamed_on_nobody(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)
    driver(engine, CELL).submit()
    (batch,) = Journal(store).batches()
    Journal(store).write_batch(batch.with_ids(()))
    engine.said.clear()
    engine.play = lambda job: done(store, job)
    run(engine, retries=0)
    assert [record.is_done for record in store.read(CELL).records] == [True, True]


def test_jobs_of_another_run_are_left_alone(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)
    engine.room = 2  # of this run; the other has as much
    other = driver(engine, OTHER)
    other.submit()
    engine.play = lambda job: done(store, job)
    one = driver(engine, CELL)
    one.run()
    assert engine.cancelled == []
    assert {key for batch in Journal(store).batches() for key in batch.cells} == {OTHER.key}


def test_jobs_that_two_runs_wait_for_are_waited_for_and_not_cancelled(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)
    engine.slots = engine.room = 4
    driver(engine, CELL, OTHER).submit()
    n_submitted = len(engine.submitted)
    one = driver(engine, CELL)
    one.adopt()
    assert one.in_flight == []
    own = [job for job in engine.submitted if job.steps[0][0] == CELL.key]
    for job in own:
        engine.due.append((100, partial(finish, engine, job)))
    one.run()
    assert len(engine.submitted) == n_submitted
    assert engine.cancelled == []
    assert len(Journal(store).batches()) == 1


def test_cancelling_ends_the_batches_in_flight(store: Store) -> None:
    engine = Engine(store, lambda job: RUNNING)
    one = driver(engine, CELL)
    one.cancel()
    assert engine.cancelled == []
    one.submit()
    one.cancel()
    assert engine.cancelled == [engine.submitted[0].batch]
