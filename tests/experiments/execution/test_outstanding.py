"""What can be submitted, what is under way, and what has ended, as the store says."""

from __future__ import annotations

from pathlib import Path

import pytest
from execution_fakes import of, write

from benchmarks.simulated_cluster import SimulatedCell
from mklbench.experiments.execution.chunks import GIB, Chunk
from mklbench.experiments.execution.claims import Claims
from mklbench.experiments.execution.journal import Batch, Job
from mklbench.experiments.execution.outstanding import Item, Outstanding
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store

PLAIN = SimulatedCell(0, 3, 1.0, 1.0)
SHARED = SimulatedCell(1, 3, 1.0, 1.0, n_selections=2)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def job(number: int, *steps: Step) -> Job:
    return Batch.of("fake", "here", [Chunk(steps, 1.0, 1, 1)] * (number + 1)).jobs[number]


def item(outstanding: Outstanding, step: Step) -> Item:
    return next(one for one in outstanding if one.step == step)


def demanded(outstanding: Outstanding, now: float = 0.0) -> list[Step]:
    return [demand.step for demand in outstanding.demands(now)]


def test_splits_wait_for_all_selections_of_their_cell(store: Store) -> None:
    outstanding, _ = of(store, SHARED, PLAIN)
    selections = [Step(SHARED, split, selects=True) for split in range(2)]
    splits = [Step(SHARED, split) for split in range(3)]
    plain = [Step(PLAIN, split) for split in range(3)]
    assert demanded(outstanding) == selections + plain
    write(store, selections[0])
    assert outstanding.look() == 1
    assert demanded(outstanding) == [selections[1], *plain]
    write(store, selections[1])
    assert outstanding.look() == 1
    assert demanded(outstanding) == splits + plain


def test_what_a_job_has_is_not_submitted_again(store: Store) -> None:
    outstanding, _ = of(store, PLAIN)
    steps = [Step(PLAIN, split) for split in range(3)]
    first, second = job(0, *steps[:2]), job(1, *steps[1:])
    outstanding.hand_over(first)
    assert demanded(outstanding) == steps[2:]
    item(outstanding, steps[1]).job = ""
    outstanding.hand_over(second)
    assert list(outstanding.of_job(first)) == [0]
    assert list(outstanding.of_job(second)) == [0, 1]
    item(outstanding, steps[0]).job = ""
    assert demanded(outstanding) == steps[:1]


def test_a_job_of_steps_that_have_ended_has_none(store: Store) -> None:
    outstanding, _ = of(store, PLAIN)
    assert outstanding.of_job(job(0, Step(SHARED, 0))) == {}
    outstanding.hand_over(job(0, Step(SHARED, 0)))
    assert len(outstanding) == 3


def test_what_is_put_off_waits_for_its_time(store: Store) -> None:
    outstanding, _ = of(store, PLAIN)
    item(outstanding, Step(PLAIN, 1)).not_before = 10.0
    assert demanded(outstanding, 9.0) == [Step(PLAIN, 0), Step(PLAIN, 2)]
    assert demanded(outstanding, 10.0) == [Step(PLAIN, split) for split in range(3)]


def test_needs_are_the_estimates_and_what_was_learned(store: Store) -> None:
    outstanding, _ = of(store, PLAIN)
    short = item(outstanding, Step(PLAIN, 1))
    short.times_memory, short.times_seconds = 2.0, 2.0
    write(store, Step(PLAIN, 0))
    outstanding.look()
    one, other = outstanding.demands(0.0)
    assert (one.seconds, one.bytes, one.times_memory, one.patience) == (2.0, GIB, 2.0, 2.0)
    assert (other.seconds, other.times_memory, other.patience) == (2.0, 1.0, 1.0)


def test_everything_that_ends_is_told_once(store: Store) -> None:
    outstanding, heard = of(store, PLAIN)
    for split in range(3):
        write(store, Step(PLAIN, split))
        assert outstanding.look() == 1
        assert outstanding.look() == 0
    assert [step for step, _ in heard.steps] == [Step(PLAIN, split) for split in range(3)]
    assert all(record is not None and record.is_done for _, record in heard.steps)
    assert heard.cells == [(PLAIN, "done")]
    assert len(outstanding) == 0


def test_only_the_items_given_are_looked_at(store: Store) -> None:
    outstanding, _ = of(store, PLAIN)
    for split in range(3):
        write(store, Step(PLAIN, split))
    assert outstanding.look([item(outstanding, Step(PLAIN, 1))]) == 1
    assert [one.step.split for one in outstanding] == [0, 2]


def test_a_failure_of_before_does_not_end_a_step_but_one_of_now_does(store: Store) -> None:
    write(store, Step(PLAIN, 0), "failed")
    outstanding, heard = of(store, PLAIN)
    assert outstanding.look() == 0
    write(store, Step(PLAIN, 0), "failed")
    assert outstanding.look() == 1
    assert [step.split for step, _ in heard.steps] == [0]


def test_a_selection_that_fails_takes_its_cell_with_it(store: Store) -> None:
    outstanding, heard = of(store, SHARED, PLAIN)
    outstanding.fail(item(outstanding, Step(SHARED, 1, selects=True)), "it failed")
    assert {one.step.cell for one in outstanding} == {PLAIN}
    (step, record), *_ = heard.steps
    assert step == Step(SHARED, 1, selects=True)
    assert record is not None
    assert record.error == "model selection on split 1: it failed"
    assert heard.cells == [(SHARED, "failed")]


def test_a_selection_that_fails_elsewhere_is_seen(store: Store) -> None:
    outstanding, heard = of(store, SHARED)
    write(store, Step(SHARED, 0), "failed")  # where such a failure is told
    outstanding.look()
    assert len(outstanding) == 0
    assert heard.cells == [(SHARED, "failed")]


def test_a_cell_that_is_refused_is_dropped_and_said_in_the_end(store: Store) -> None:
    outstanding, heard = of(store, PLAIN, SHARED)
    outstanding.refuse(PLAIN, "mend it")
    outstanding.refuse(PLAIN, "another sentence")
    assert {one.step.cell for one in outstanding} == {SHARED}
    assert outstanding.errors == {PLAIN.key: "mend it"}
    assert (heard.steps, heard.cells) == ([], [])


def test_steps_that_somebody_has_claimed_are_known(store: Store) -> None:
    outstanding, _ = of(store, PLAIN, SHARED)
    assert outstanding.claimed() == []
    claims = Claims(store)
    taken = [Step(PLAIN, 2), Step(SHARED, 1, selects=True)]
    for step in taken:
        store.describe(step.cell)
        assert claims.take(step)
    assert [one.step for one in outstanding.claimed()] == taken
    for step in taken:
        claims.release(step)
