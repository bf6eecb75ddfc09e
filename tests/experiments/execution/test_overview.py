"""A store is listed as it is read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from generated_store import ONE_IN, generate

from mklbench.experiments.checksum import DamagedRecordWarning
from mklbench.experiments.execution.lock import Locks
from mklbench.experiments.execution.overview import overview
from mklbench.experiments.execution.pending import lock_path
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

N_SPLITS = ONE_IN + 5

Made = tuple[Store, list[Run]]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return generate(tmp_path_factory.mktemp("generated") / "store", 4, N_SPLITS)


@pytest.fixture
def made(generated: Made, tmp_path: Path) -> Made:
    """The generated store again, to be changed, made long ago."""
    store, runs = generated
    shutil.copytree(store.path, tmp_path / "store")
    for number, run in enumerate(runs):
        os.utime(tmp_path / "store" / run.directory_name, (1e9 + 100 * number,) * 2)
    return Store(tmp_path / "store"), runs


def test_a_store_is_listed_as_its_runs_are_read(generated: Made) -> None:
    store, runs = generated
    by_name = sorted(runs, key=lambda run: run.directory_name)
    read = [store.read(run) for run in by_name]
    assert [len(one.records) for one in read] == [N_SPLITS - 2] * 4
    assert list(store.all_records()) == [record for one in read for record in one.records]
    for run, one, found in zip(by_name, read, overview(store), strict=True):
        assert found.directory == store.directory(run)
        assert found.n_splits == N_SPLITS
        assert found.done == [record.split for record in one.done]
        assert found.failed == {r.split: r for r in one.records if not r.is_done}
        assert found.n_waiting == 2
        assert sorted(found.failed) == [1, ONE_IN + 1]


@pytest.mark.parametrize("place", [3, 500, -70, -3])
def test_a_damaged_record_is_never_counted_as_done(made: Made, place: int) -> None:
    store, runs = made
    path = store.record_path(runs[1], 7)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.warns(DamagedRecordWarning, match="split-007.json is damaged"):
        found = overview(store)
    (changed,) = [run for run in found if run.directory == store.directory(runs[1])]
    assert 7 not in changed.done
    assert changed.n_waiting == 3


def test_locks_and_runs_that_come_and_go_are_seen(made: Made) -> None:
    store, runs = made
    step = Step(runs[0], 2)
    place = runs[0].directory_name

    def running() -> list[str]:
        found = {run.directory.name: run for run in overview(store)}
        return list(found[place].running)

    assert running() == []
    with Locks() as locks:
        own = lock_path(store, step)
        assert locks.take(own)
        assert running() == ["split-002"]
        shutil.rmtree(store.directory(runs[1]))
        assert running() == ["split-002"]
        assert len(overview(store)) == 3
