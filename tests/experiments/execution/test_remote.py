"""Steps in jobs of an engine: who takes what, and what a job costs that the engine ends."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import fake_run, tiny_run
from narrowing import present

from mklbench.errors import InputError
from mklbench.experiments.execution.dask import Dask
from mklbench.experiments.execution.lock import Locks
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.execution.remote import EndedJob, Remote, take_steps
from mklbench.experiments.execution.steps import Step, lock_path
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

# Hyperparameters chosen on two splits for all four.
SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2]")
WHERE = "on node n1, job 7; log: 7.log"

# What a job does, given its number and arguments: how it ends, and what it refuses.
Fate = Callable[["Engine", str, Any], tuple[str, dict[str, str]]]


class Engine(Remote):
    """Does all that a job does when it is asked how it has ended."""

    name, option = "dask", "slots"
    slots = 3

    def __init__(self, store: Store, fate: Fate | None = None) -> None:
        super().__init__(1, None, self.slots, minutes=30, memory=0)
        self.store, self._fate = store, fate or takes_all
        self.submitted: list[str] = []
        self._running: list[tuple[str, Any]] = []
        self.locks = Locks()

    def prepare(self, runs: Sequence[Run], store: Store) -> None: ...

    def submit(self, n_jobs: int, arguments: tuple[Any, ...], gib: int) -> list[str]:
        names = [f"fake {len(self.submitted) + number}" for number in range(n_jobs)]
        self.submitted += names
        self._running += [(name, arguments) for name in names]
        assert len(self._running) <= self.slots
        return names

    def ended(self) -> list[EndedJob]:
        name, arguments = self._running.pop(0)
        reason, refused = self._fate(self, name, arguments)
        return [EndedJob(name, reason, WHERE, refused)]

    def close(self) -> None:
        self._running = []


def takes_all(engine: Engine, name: str, arguments: Any) -> tuple[str, dict[str, str]]:
    return "COMPLETED", take_steps(*arguments, name=name)


def holding(split: int, reason: str, run: Run) -> Fate:
    """Let the first job end with a split in hand, as it is killed."""

    def fate(engine: Engine, name: str, arguments: Any) -> tuple[str, dict[str, str]]:
        if name != "fake 0":
            return takes_all(engine, name, arguments)
        locks = Locks(name)
        assert locks.take(lock_path(engine.store, Step(run, split)))
        return reason, {}

    return fate


def test_jobs_take_selections_and_splits(store: Store) -> None:
    results = run_all([tiny_run(*SHARED), tiny_run()], store, executor=Engine(store))
    assert [result.status for result in results] == ["done", "done"]
    assert not list(store.path.rglob("*.lock"))


@pytest.mark.parametrize(
    ("reason", "status"), [("OUT_OF_MEMORY", "failed"), ("TIMEOUT", "timeout")]
)
def test_a_job_that_is_killed_costs_the_step_in_hand(
    store: Store, reason: str, status: str
) -> None:
    run = tiny_run()
    (result,) = run_all([run], store, executor=Engine(store, holding(2, reason, run)))
    assert [record.status for record in result.records] == ["done", "done", status, "done"]
    assert result.records[2].error == f"{reason} {WHERE}"
    (again,) = run_all([run], store, executor=Engine(store))
    assert again.status == "done"


def test_jobs_that_cannot_begin_end_the_run(store: Store) -> None:
    engine = Engine(store, lambda *_: ("NODE_FAIL", {}))
    (result,) = run_all([tiny_run()], store, executor=engine)
    assert [record.error for record in result.records] == [f"NODE_FAIL {WHERE}"] * 4
    assert len(engine.submitted) == 4


def test_data_that_differ_where_a_job_runs_are_refused(store: Store, tmp_path: Path) -> None:
    run = fake_run(tmp_path)

    def other_data(engine: Engine, name: str, arguments: Any) -> tuple[str, dict[str, str]]:
        place, modules, sent, seconds = arguments
        sent = [(step, "0123456789ab") for step, _ in sent]
        refused = take_steps(place, modules, sent, seconds, name=name)
        return "COMPLETED", dict.fromkeys([run.key], refused["0123456789ab"])

    (result,) = run_all([run], store, executor=Engine(store, other_data))
    assert "is not the same on" in present(result.error)
    assert result.records == []


def test_a_job_begins_no_step_after_its_time(store: Store) -> None:
    run = tiny_run()
    sent = pickle.loads(pickle.dumps([(Step(run, 0), run.key)]))
    assert take_steps(str(store.path), [], sent, -1.0, name="fake 0") == {}
    assert store.read(run).status == "missing"


def test_workers_of_dask_that_do_not_start_are_said_in_a_sentence(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cluster(*_: Any, **options: Any) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", cluster)
    with pytest.raises(InputError, match=r"dask has no workers \(Nanny failed to start\): "):
        Dask().prepare([], store)
