"""Every step is packed once, the longest first, into jobs of about the length asked for."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simulated_cluster import SimulatedCell
from mklbench.experiments.execution.chunks import GIB, Chunk, Demand, pack
from mklbench.experiments.execution.steps import Step

CELL = SimulatedCell(0, 1000, 1.0, 1.0)


def demand(split: int, seconds: float, gib: float = 0.0, **times: float) -> Demand:
    return Demand(Step(CELL, split), seconds, gib * GIB, **times)


def demands(*seconds: float) -> list[Demand]:
    return [demand(split, each) for split, each in enumerate(seconds)]


needs = st.lists(
    st.tuples(
        st.floats(0.01, 2000.0),
        st.floats(0.0, 40.0),
        st.sampled_from([1.0, 2.0]),
        st.sampled_from([1.0, 2.0]),
    ),
    max_size=60,
).map(
    lambda listed: [
        demand(split, seconds, gib, times_memory=memory, patience=patience)
        for split, (seconds, gib, memory, patience) in enumerate(listed)
    ]
)


@given(needs, st.integers(1, 20), st.floats(1.0, 1800.0), st.floats(0.0, 10.0), st.floats(0, 20))
def test_what_holds_of_all_chunks(
    listed: list[Demand], slots: int, target: float, start: float, least: float
) -> None:
    chunks = list(pack(listed, slots, target, start, least))
    by_step = {one.step: one for one in listed}
    assert Counter(step for chunk in chunks for step in chunk.steps) == Counter(list(by_step))
    for chunk in chunks:
        taken = [by_step[step] for step in chunk.steps]
        assert chunk.seconds == pytest.approx(math.fsum(one.seconds for one in taken))
        assert chunk.seconds <= target + 1e-6 or len(taken) == 1
        assert [one.seconds for one in taken] == sorted((o.seconds for o in taken), reverse=True)
        for one in taken:
            needed = max(one.bytes / GIB, least) * one.times_memory
            assert needed <= chunk.memory < 4 * (needed + 1)
            assert 60 * chunk.minutes >= 2 * one.seconds * one.patience
        assert 60 * chunk.minutes >= 2 * chunk.seconds
    firsts = [by_step[chunk.steps[0]].seconds for chunk in chunks]
    assert firsts == sorted(firsts, reverse=True)


def test_there_is_nothing_to_pack() -> None:
    assert list(pack([], 4, 60.0)) == []


def test_a_long_step_has_a_job_of_its_own() -> None:
    chunks = list(pack(demands(100.0, 3.0, 3.0), 1, 60.0))
    assert [chunk.seconds for chunk in chunks[:1]] == [100.0]


def test_jobs_become_shorter_towards_the_end_but_not_than_their_start_is_worth() -> None:
    lengths = [chunk.seconds for chunk in pack(demands(*[1.0] * 1000), 4, 60.0, start=2.0)]
    assert lengths[0] == 60.0
    assert lengths == sorted(lengths, reverse=True)
    assert 8.0 in lengths
    assert min(lengths[:-1]) == 8.0


def test_a_job_is_never_longer_than_asked_for_though_its_start_takes_long() -> None:
    assert max(chunk.seconds for chunk in pack(demands(*[1.0] * 50), 1, 10.0, start=60.0)) == 10.0


def test_steps_with_different_needs_of_memory_come_apart() -> None:
    listed = [demand(0, 1.0, 1.0), demand(1, 9.0, 9.0), demand(2, 1.0, 1.1)]
    chunks = list(pack(listed, 1, 600.0, start=10.0))
    assert [(chunk.memory, len(chunk.steps)) for chunk in chunks] == [(16, 1), (2, 2)]


def test_what_ran_out_of_memory_is_given_twice_what_it_had() -> None:
    """Also where most of that is not its arrays: the interpreter, or what the user asks for."""

    def asked(least: float, times: float) -> int:
        chunk: Chunk = next(pack([demand(0, 1.0, 0.1, times_memory=times)], 1, 60.0, 0.0, least))
        return chunk.memory

    assert (asked(0, 1.0), asked(0, 2.0)) == (1, 2)
    assert (asked(8, 1.0), asked(8, 2.0)) == (8, 16)


def test_what_ran_out_of_time_is_given_twice_what_it_had() -> None:
    first, second = (next(pack([demand(0, 600.0, patience=p)], 1, 60.0)) for p in (1.0, 2.0))
    assert second.minutes == 2 * first.minutes


@pytest.mark.parametrize("slots", [1, 200])
def test_the_slots_run_empty_at_about_the_same_time(slots: int) -> None:
    """List scheduling of the chunks: the last slot ends at most a least job after the first."""
    ends = [0.0] * slots
    for chunk in pack(demands(*[0.5] * 4000), slots, 600.0, start=0.5):
        soonest = min(range(slots), key=ends.__getitem__)
        ends[soonest] += chunk.seconds
    assert max(ends) - min(ends) <= 2.5
