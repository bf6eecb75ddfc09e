"""Steps in jobs of an engine: how they are packed, and what a job costs that the engine ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from experiment_fakes import fake_cell, tiny_cell
from narrowing import present

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution import estimates
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.remote import Ended, Job, Remote, described, take_steps
from mklbench.experiments.execution.steps import Step, take
from mklbench.experiments.store import Store

# Hyperparameters chosen on two splits for all four.
SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2]")
KILLED = "FAILED", "on node n1, job 7; log: 7.log"


class Engine(Remote):
    """Takes the steps of a job at once, in this process, unless it is told to end the job.

    Parameters
    ----------
    fate : callable
        Given a job and its number, returns how many of its steps are taken, and how it ends.
    """

    slots = room = 3

    def __init__(self, fate: Callable[[Job, int], tuple[int, str]] | None = None) -> None:
        super().__init__("fake", "slots", 1, None, minutes=30, memory=0)
        self._fate = fate or (lambda job, number: (len(job.steps), "COMPLETED"))
        self.jobs: list[Job] = []
        self._running: list[Job] = []

    def prepare(self, cells: Sequence[Cell], store: Store) -> None: ...

    def submit(self, jobs: Sequence[Job], store: Store) -> None:
        self._store = store
        self.jobs += jobs
        self._running += jobs
        assert len(self._running) <= self.room

    def ended(self) -> list[Ended]:
        job = self._running.pop(0)
        n_taken, reason = self._fate(job, self.jobs.index(job))
        refused = {}
        for step in job.steps[:n_taken]:
            try:
                take(step, self._store)
            except InputError as error:
                refused[step.cell.key] = str(error)
        return [Ended(job, reason, KILLED[1], refused)]

    def close(self) -> None:
        self._running = []


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(estimates, "of_program", tuple)
    return Store(tmp_path / "store")


def test_every_step_is_in_one_job_and_selections_come_first(store: Store) -> None:
    cells, engine = [tiny_cell(*SHARED), tiny_cell()], Engine()
    results = run_cells(cells, store, executor=engine)
    assert [result.status for result in results] == ["done", "done"]
    steps = [step for job in engine.jobs for step in job.steps]
    assert len(steps) == len(set(steps)) == 4 + 2 + 4
    selecting = [step.selects for step in steps if step.cell.key == cells[0].key]
    assert selecting == sorted(selecting, reverse=True)


def test_short_steps_come_together_and_long_ones_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds, n_jobs in ((1.0, 1), (10.0, 6), (7200.0, 12)):
        engine = Engine()
        monkeypatch.setattr(estimates, "GUESS", seconds)
        monkeypatch.setattr(estimates, "split_seconds", lambda record, took=seconds: took)
        run_cells([tiny_cell("split.n_splits=12", f"algo.C={seconds}")], store, executor=engine)
        assert len(engine.jobs) == n_jobs
        assert all(60 * job.minutes > seconds * len(job.steps) for job in engine.jobs)


def test_the_first_splits_tell_how_long_the_others_take(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "GUESS", 7200.0)
    monkeypatch.setattr(estimates, "split_seconds", lambda record: 1.0)
    engine = Engine()
    run_cells([tiny_cell("split.n_splits=12")], store, executor=engine)
    assert [len(job.steps) for job in engine.jobs] == [1, 1, 1, 9]


def test_a_killed_job_costs_the_step_that_it_had_begun(store: Store) -> None:
    engine = Engine(lambda job, number: (0, "FAILED") if number == 0 else (9, "COMPLETED"))
    (result,) = run_cells([tiny_cell("split.n_splits=12")], store, executor=engine)
    (failed,) = [record for record in result.records if not record.is_done]
    assert len(engine.jobs[0].steps) > 1  # the others of that job are done by a later one
    assert len(result.records) == 12
    assert failed.error == " ".join(KILLED)
    (again,) = run_cells([tiny_cell("split.n_splits=12")], store, executor=Engine())
    assert again.status == "done"


def test_what_is_cancelled_is_not_submitted_again(store: Store) -> None:
    engine = Engine(lambda job, number: (1, "CANCELLED by 0"))
    (result,) = run_cells([tiny_cell("split.n_splits=12")], store, executor=engine)
    assert len({step for job in engine.jobs for step in job.steps}) == 12
    assert sum(record.is_done for record in result.records) == len(engine.jobs)


def test_a_job_out_of_its_time_is_a_timeout(store: Store) -> None:
    (result,) = run_cells([tiny_cell()], store, executor=Engine(lambda job, _: (0, "TIMEOUT")))
    assert result.status == "timeout"


def test_a_selection_that_fails_ends_its_cell(store: Store) -> None:
    cells = [tiny_cell(*SHARED), tiny_cell()]
    engine = Engine(lambda job, number: (9 * (not job.steps[0].selects), "FAILED"))
    selecting, other = run_cells(cells, store, executor=engine)
    assert (selecting.status, other.status) == ("failed", "done")
    assert "model selection on split" in present(selecting.records[0].error)


def test_a_job_takes_its_steps_in_workers_and_says_what_is_refused(
    store: Store, tmp_path: Path
) -> None:
    cell = fake_cell(tmp_path, "algo.behaviour=die", "split.n_splits=1")
    job = Job((Step(tiny_cell(), 0), Step(cell, 0)), 1, 1)
    steps = described(job)
    steps += [steps[0] | {"key": "0123456789ab"}]
    refused = take_steps(str(store.path), steps, [str(Path(__file__).parents[2] / "support")], "7")
    assert list(refused) == ["0123456789ab"]
    done, died = store.record(tiny_cell(), 0), store.record(cell, 0)
    assert present(done).provenance["job"] == "7"
    assert "the worker process died (SIGKILL" in present(present(died).error)
