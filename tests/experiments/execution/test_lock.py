"""Of many runners on one store one has a step in hand, also when another has died with it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from experiment_fakes import tiny_run, wait_until

from mklbench.experiments.execution import lock
from mklbench.experiments.execution.lock import Locks, Owner, holder, owner_of
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.execution.steps import Step, lock_path
from mklbench.experiments.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "split-000.lock"


def owned(path: Path) -> Owner:
    """Return this process as an owner."""
    with Locks() as locks:
        assert locks.take(path)
        owner = owner_of(path)
    assert owner is not None
    return owner


def put(path: Path, owner: Owner) -> None:
    os.symlink(json.dumps(asdict(owner)), path)


def test_one_of_two_has_a_lock_until_it_is_released(path: Path) -> None:
    with Locks("slurm 7_1") as ours, Locks() as theirs:
        assert ours.take(path)
        assert not theirs.take(path)
        found = holder(path)
        assert found is not None
        assert (found.pid, found.job) == (os.getpid(), "slurm 7_1")
        ours.release(path)
        assert holder(path) is None
        assert theirs.take(path)
        ours.release(path)  # no longer its own
        assert not ours.take(path)
    assert not list(path.parent.iterdir())


def test_the_lock_of_a_process_that_is_gone_is_taken_over_at_once(path: Path) -> None:
    here = owned(path)
    put(path, replace(here, started=here.started - 1))
    assert holder(path) is None
    with Locks() as locks:
        assert locks.take(path)
        found = owner_of(path)
        assert found is not None
        assert (found.pid, found.started) == (here.pid, here.started)
    assert not list(path.parent.iterdir())


@pytest.mark.parametrize("machine", ["", "elsewhere"])
def test_of_another_machine_only_silence_can_be_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    monkeypatch.setattr(lock, "SILENT_AFTER", 0.3)
    put(path, replace(owned(path), machine=machine, pid=1))
    with Locks() as locks:
        assert not locks.take(path)
        time.sleep(0.2)
        os.utime(path, (0, 0), follow_symlinks=False)  # by whatever clock: it has changed
        assert not locks.take(path)
        time.sleep(0.2)
        assert not locks.take(path)
        time.sleep(0.2)
        assert locks.take(path)


def test_a_heartbeat_is_heard(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT", 0.05)
    with Locks() as locks:
        locks.take(path)
        os.utime(path, (0, 0), follow_symlinks=False)
        wait_until(lambda: path.lstat().st_mtime > 0)


def test_of_many_that_take_over_at_once_one_succeeds(path: Path) -> None:
    gone = replace(owned(path), started=1)
    for _ in range(50):
        put(path, gone)
        barrier, runners = threading.Barrier(4), [Locks() for _ in range(4)]
        taken: list[bool] = []

        def take(
            runner: Locks, barrier: threading.Barrier = barrier, taken: list[bool] = taken
        ) -> None:
            barrier.wait()
            taken.append(runner.take(path))

        threads = [threading.Thread(target=take, args=(runner,)) for runner in runners]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Counter(taken)[True] == 1
        path.unlink()
    assert not list(path.parent.iterdir())


def test_a_runner_waits_for_the_steps_of_others(tmp_path: Path) -> None:
    run, store = tiny_run(), Store(tmp_path / "store")
    store.describe(run)
    with Locks() as others:
        assert others.take(lock_path(store, Step(run, 2)))
        results: list[str] = []
        runner = threading.Thread(
            target=lambda: results.extend(one.status for one in run_all([run], store))
        )
        runner.start()
        wait_until(lambda: len(store.read(run).done) == 3)
        time.sleep(0.6)
        assert runner.is_alive()
    runner.join(60)
    assert results == ["done"]


def test_a_file_where_a_lock_belongs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "split-000.lock"
    path.touch()
    with Locks() as locks, pytest.raises(OSError, match="is no lock"):
        locks.take(path)
