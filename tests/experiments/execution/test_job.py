"""A job takes its steps in a child process, and says what it leaves and why."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from experiment_fakes import fake_cell, tiny_cell, wait_until
from narrowing import present

from mklbench.claims import Owner
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution import job
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.claims import claim_path, claiming
from mklbench.experiments.execution.job import run_job
from mklbench.experiments.execution.journal import Batch, Journal, Left, Report
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.steps import Step, missing_steps, take
from mklbench.experiments.execution.worker_process import WorkerProcess
from mklbench.experiments.provenance import cpu_model
from mklbench.experiments.store import Store, StoreError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture(autouse=True)
def _idle_workers() -> Iterator[None]:
    yield
    while job._idle:
        job._idle.pop().kill()


def submitted(store: Store, steps: list[Step], memory: int = 4, minutes: int = 5) -> Batch:
    """Write a batch of one job into the journal of a store."""
    batch = Batch.of("fake", "here", [Chunk(tuple(steps), 1.0, memory, minutes)])
    Journal(store).write_batch(batch)
    return batch


def run(store: Store, batch: Batch, **options: object) -> tuple[Left, ...]:
    """Run the job of a batch; return what it says that it leaves."""
    run_job(str(store.path), batch.name, 0, **options)  # type: ignore[arg-type]
    return report(store, batch).left


def report(store: Store, batch: Batch) -> Report:
    return present(Journal(store).report(batch.jobs[0]))


def done(store: Store, cell: Cell) -> list[int]:
    return [record.split for record in store.read(cell).records if record.is_done]


def everything_is_tidy(store: Store) -> None:
    assert list(store.path.rglob("*.claim")) == []
    assert list(store.path.rglob("*.tmp")) == []


def test_all_steps_are_taken_to_the_same_numbers_as_here(store: Store, tmp_path: Path) -> None:
    cell = tiny_cell()
    assert run(store, submitted(store, missing_steps(cell, store))) == ()
    (expected,) = run_cells([cell], Store(tmp_path / "other"))
    found = store.read(cell).records
    assert [r.accuracy for r in found] == [r.accuracy for r in expected.records]
    assert [r.objective for r in found] == [r.objective for r in expected.records]
    everything_is_tidy(store)


def test_selections_come_before_the_splits_that_need_them(store: Store) -> None:
    cell = tiny_cell("search=cv", "split.n_splits=2")
    steps = missing_steps(cell, store)
    assert run(store, submitted(store, steps)) == ()
    assert done(store, cell) == [0, 1]


@pytest.mark.slow
def test_the_report_says_where_and_when(store: Store) -> None:
    cell = tiny_cell()
    before = time.time()
    batch = submitted(store, [Step(cell, 0)])
    run(store, batch)
    said = report(store, batch)
    here = Owner.of_this_process()
    assert (said.node, said.pid, said.cpu) == (here.host, os.getpid(), cpu_model())
    assert said.node == platform.node()
    assert before <= said.started <= present(said.ended) <= time.time()
    assert said.left == ()


@pytest.mark.slow
def test_the_report_of_a_job_that_runs_has_no_end(store: Store, tmp_path: Path) -> None:
    cell = fake_cell(tmp_path, "algo.seconds=0.2")
    batch = submitted(store, [Step(cell, 0)])
    seen: list[Report | None] = []

    def look() -> str:
        seen.append(Journal(store).report(batch.jobs[0]))
        return ""

    run(store, batch, stop=look)
    assert seen
    assert present(seen[0]).ended is None
    assert report(store, batch).ended is not None


@pytest.mark.slow
def test_what_others_have_done_is_passed_over(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    cell = fake_cell(tmp_path, f"algo.log='{log}'")
    take(Step(cell, 1), store)
    take(Step(cell, 2), store)
    before = store.record_path(cell, 1).read_bytes()
    assert run(store, submitted(store, [Step(cell, split) for split in range(4)])) == ()
    assert done(store, cell) == [0, 1, 2, 3]
    assert store.record_path(cell, 1).read_bytes() == before
    assert len(log.read_text().splitlines()) == 4


@pytest.mark.slow
def test_what_others_have_in_hand_is_left_to_them(store: Store) -> None:
    cell = tiny_cell()
    held = Step(cell, 0)
    with claiming(store) as claims:
        assert claims.take(held)
        assert run(store, submitted(store, [Step(cell, split) for split in range(3)])) == ()
        assert done(store, cell) == [1, 2]
        assert claim_path(store, held).is_dir()


@pytest.mark.slow
def test_what_was_in_hand_is_taken_in_the_end_if_its_runner_is_gone(
    store: Store, tmp_path: Path
) -> None:
    cell = fake_cell(tmp_path, "algo.seconds=0.3")
    held = Step(cell, 0)
    with claiming(store) as claims:
        assert claims.take(held)
        threading.Timer(0.2, claims.release, [held]).start()
        assert run(store, submitted(store, [Step(cell, split) for split in range(4)])) == ()
    assert done(store, cell) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("behaviour", "why", "words"),
    [
        ("die", "OUT_OF_MEMORY", "the worker process died (SIGKILL, perhaps for want of memory)"),
        pytest.param(
            *("segfault", "FAILED", "the worker process died (SIGSEGV) Fatal Python error"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("os_exit", "FAILED", "the worker process died (exit status 0)"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_child_that_dies_costs_one_step(
    behaviour: str, why: str, words: str, store: Store, tmp_path: Path
) -> None:
    cell = fake_cell(tmp_path, f"algo.behaviour={behaviour}", f"algo.once='{tmp_path}/once'")
    steps = [Step(cell, split) for split in (2, 0, 1)]
    (left,) = run(store, submitted(store, steps))
    assert (left.position, left.why) == (0, why)
    assert left.message.startswith(words)
    assert done(store, cell) == [0, 1]
    assert not store.record_path(cell, 2).exists()  # the driver decides what becomes of it
    everything_is_tidy(store)


@pytest.mark.slow
def test_what_an_algorithm_raises_is_a_result(store: Store, tmp_path: Path) -> None:
    cell = fake_cell(tmp_path, "algo.behaviour=raise", f"algo.once='{tmp_path}/once'")
    assert run(store, submitted(store, [Step(cell, 0), Step(cell, 1)])) == ()
    assert [record.status for record in store.read(cell).records] == ["failed", "done"]


def test_a_job_stops_before_its_time_limit_so_that_it_can_say_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_SHARE_BEFORE", 1.0)
    cell = fake_cell(tmp_path, "algo.behaviour=hang", f"algo.once='{tmp_path}/once'")
    monkeypatch.setattr(job, "_SECONDS_BEFORE", 56.0)
    began = time.monotonic()
    steps = [Step(cell, 0), Step(cell, 1)]
    (left,) = run(store, submitted(store, steps, minutes=1))
    message = "its job was at the end of its 1 minutes"
    assert left == Left(0, "TIMEOUT", message)
    assert done(store, cell) == []
    assert 4.0 <= time.monotonic() - began < 30.0
    everything_is_tidy(store)


def test_no_step_is_blamed_that_a_job_had_no_time_to_begin(store: Store) -> None:
    batch = submitted(store, [Step(tiny_cell(), 0)], minutes=0)
    assert run(store, batch) == ()
    assert done(store, tiny_cell()) == []
    assert report(store, batch).ended is not None


def test_a_step_that_takes_too_much_memory_is_ended_and_the_others_go_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = tmp_path / "once"
    sizes = iter([5 << 30])
    monkeypatch.setattr(job, "_resident_bytes", lambda pid: next(sizes, 0) if once.exists() else 0)
    cell = fake_cell(tmp_path, "algo.behaviour=hang", f"algo.once='{tmp_path}/once'")
    (left,) = run(store, submitted(store, [Step(cell, 0), Step(cell, 1)]))
    assert left == Left(0, "OUT_OF_MEMORY", "the step took 5.0 GiB where 4 GiB were asked for")
    assert done(store, cell) == [1]


def test_the_memory_of_a_process_is_what_the_system_says() -> None:
    memory = psutil.Process().memory_info().rss
    assert job._resident_bytes(os.getpid()) == pytest.approx(memory, rel=0.2)
    assert job._resident_bytes(2**22 + 1) == 0


def test_a_job_that_is_told_to_stop_says_by_what(store: Store, tmp_path: Path) -> None:
    cell = fake_cell(tmp_path, "algo.behaviour=hang", f"algo.once='{tmp_path}/once'")
    once = tmp_path / "once"
    batch = submitted(store, [Step(cell, 0), Step(cell, 1)])
    left = run(store, batch, stop=lambda: "CANCELLED" if once.exists() else "")
    assert left == (Left(0, "CANCELLED"),)
    assert done(store, cell) == []
    assert report(store, batch).ended is not None
    everything_is_tidy(store)


@pytest.mark.slow
def test_a_job_that_is_told_to_stop_between_steps_takes_no_other(
    store: Store, tmp_path: Path
) -> None:
    # Each step takes less time than there is between two questions.
    cells = [tiny_cell(f"algo.C={c}", "split.n_splits=20") for c in (1, 2, 3)]
    steps = [Step(cell, split) for cell in cells for split in range(20)]
    batch = submitted(store, steps)
    left = run(store, batch, stop=lambda: "CANCELLED" if store.is_done(cells[0], 0) else "")
    assert left == ()  # nothing was begun in vain
    assert sum(len(done(store, cell)) for cell in cells) < 60


def test_what_the_user_has_to_mend_is_said_once_a_cell(store: Store) -> None:
    cell, other = tiny_cell("split.n_splits=3"), tiny_cell("algo.C=7", "split.n_splits=1")
    bad = Cell({**cell.config, "algo": {**cell.config["algo"], "C": -1.0}})
    steps = [Step(bad, 0), Step(bad, 1), Step(other, 0), Step(bad, 2)]
    (left,) = run(store, submitted(store, steps))
    assert (left.position, left.why) == (0, "INPUT")
    assert left.message.startswith("C=-1")
    assert done(store, other) == [0]
    assert store.read(bad).records == []
    everything_is_tidy(store)


def test_a_store_that_cannot_be_written_ends_the_job(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = tiny_cell()
    batch = submitted(store, [Step(cell, 0), Step(cell, 1)])
    store.path.joinpath(cell.directory_name).mkdir(parents=True)
    real = WorkerProcess.answer

    def full(worker: WorkerProcess) -> dict[str, Any] | None:
        answer = real(worker)
        said = {"store_error": "results_dir=store cannot be written: no space left on device."}
        return said if answer is not None and "ready" not in answer else answer

    monkeypatch.setattr(WorkerProcess, "answer", full)
    with pytest.raises(StoreError, match="no space left"):
        run(store, batch)
    assert list(store.path.rglob("*.claim")) == []


def test_a_job_that_the_journal_does_not_have(store: Store) -> None:
    with pytest.raises(FileNotFoundError):
        run_job(str(store.path), "mklbench-0123456789", 0)
    assert not store.path.exists()


@pytest.mark.slow
def test_the_child_is_kept_for_the_next_job_if_it_is_told_so(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    cell = fake_cell(tmp_path, f"algo.log='{log}'")
    for split in range(2):
        assert run(store, submitted(store, [Step(cell, split)]), keep_worker=True) == ()
    assert run(store, submitted(store, [Step(cell, 2)])) == ()
    processes = log.read_text().splitlines()
    assert len(processes) == 3
    assert len(set(processes)) == 1
    wait_until(lambda: not psutil.pid_exists(int(processes[0])), seconds=5.0)
    assert run(store, submitted(store, [Step(cell, 3)])) == ()
    assert log.read_text().splitlines()[-1] != processes[0]


@pytest.mark.slow
def test_a_kept_child_that_has_died_meanwhile_is_replaced(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    cell = fake_cell(tmp_path, f"algo.log='{log}'")
    run(store, submitted(store, [Step(cell, 0)]), keep_worker=True)
    child = psutil.Process(int(log.read_text()))
    (idle,) = job._idle
    assert idle.pid == child.pid
    child.kill()
    # Not its state: a process is a zombie already while threads of it still come to their end.
    wait_until(lambda: not idle.is_running())
    assert run(store, submitted(store, [Step(cell, 1)]), keep_worker=True) == ()
    assert done(store, cell) == [0, 1]


@pytest.mark.slow
def test_a_child_that_is_stopped_in_a_step_is_not_kept(store: Store, tmp_path: Path) -> None:
    cell = fake_cell(tmp_path, "algo.behaviour=hang", f"algo.once='{tmp_path}/once'")
    once = tmp_path / "once"
    batch = submitted(store, [Step(cell, 0)])
    run(store, batch, stop=lambda: "CANCELLED" if once.exists() else "", keep_worker=True)
    assert job._idle == []


def test_data_are_loaded_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    monkeypatch.setattr(job, "load", loaded.append)
    data = tiny_cell().config["data"]
    batch = Batch.of("fake", "here", [Chunk((), 0.0, 4, 5)], [data])
    Journal(store).write_batch(batch)
    assert run(store, batch) == ()
    assert loaded == [data]


@pytest.mark.slow
def test_a_job_may_run_in_any_thread(store: Store) -> None:
    cell = tiny_cell()
    batch = submitted(store, [Step(cell, 0)])
    thread = threading.Thread(target=run_job, args=(str(store.path), batch.name, 0))
    thread.start()
    thread.join(60)
    assert done(store, cell) == [0]


def test_a_cell_that_is_another_one_on_the_node_is_not_run(store: Store) -> None:
    cell = tiny_cell()
    batch = submitted(store, missing_steps(cell, store))
    changed = {**cell.config, "algo": {**cell.config["algo"], "C": 17.0}}
    other = replace(batch, cells={cell.key: changed})
    Journal(store).write_batch(other)
    (left,) = run(store, other)
    assert (left.position, left.why) == (0, "INPUT")
    assert "start the command again" in left.message
    assert done(store, cell) == done(store, Cell(changed)) == []
    everything_is_tidy(store)
