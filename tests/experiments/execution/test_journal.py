"""What a driver and its jobs write is read back as it was; what is damaged is passed over."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_fakes import tiny_cell

from mklbench import resources
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.journal import Batch, Journal, Left, Report, reporting
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store, StoreError

SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2]")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(Store(tmp_path / "store"))


def batch(submitted: float = 1.0, n_jobs: int = 2) -> Batch:
    cells = tiny_cell(), tiny_cell(*SHARED)
    steps = Step(cells[0], 2), Step(cells[1], 1, selects=True), Step(cells[1], 0)
    chunks = [Chunk(steps, 12.5, 2, 4), Chunk((Step(cells[0], 3),), 0.5, 1, 3)]
    return replace(Batch.of("slurm", "here", chunks[:n_jobs]), submitted=submitted)


def test_a_batch_is_read_as_it_was_written(journal: Journal) -> None:
    written = batch()
    journal.write_batch(written)
    (read,) = journal.batches()
    assert read.name == written.name
    assert read == journal.batch(written.name)
    assert read.ids == ()
    assert [job.id for job in read.jobs] == ["", ""]
    journal.write_batch(written.with_ids(["7_0", "7_1"]))
    read = journal.batch(written.name)
    assert [(job.name, job.id, job.seconds, job.memory, job.minutes) for job in read.jobs] == [
        (f"{written.name}-0", "7_0", 12.5, 2, 4),
        (f"{written.name}-1", "7_1", 0.5, 1, 3),
    ]
    assert [job.steps for job in read.jobs] == [job.steps for job in written.jobs]
    steps = read.steps(0)
    assert [(step.cell.key, step.split, step.selects) for step in steps] == list(read.jobs[0].steps)
    assert steps[0].cell.config == tiny_cell().config


def test_a_job_finds_the_modules_of_the_users_own_configs(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(resources, "_own_modules", [])
    resources.look_for_modules(tmp_path)
    journal.write_batch(written := batch())
    resources._own_modules.clear()  # as on another machine
    sys.path.remove(str(tmp_path))
    read = journal.batch(written.name)
    assert read.modules == (str(tmp_path),)
    read.steps(0)
    assert sys.path[-1] == str(tmp_path)


def test_batches_are_listed_by_time_and_have_names_of_their_own(journal: Journal) -> None:
    written = [batch(submitted) for submitted in (3.0, 1.0, 2.0)]
    for one in written:
        journal.write_batch(one)
    assert [one.submitted for one in journal.batches()] == [1.0, 2.0, 3.0]
    assert len({one.name for one in written}) == 3


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"name": "x"}', "\0", '{"chunks": 3}'])
def test_a_damaged_file_is_passed_over(journal: Journal, content: str) -> None:
    whole, damaged = batch(1.0), batch(2.0)
    for one in (whole, damaged):
        journal.write_batch(one)
    (journal.path / f"{damaged.name}.batch").write_text(content)
    (journal.path / f"{damaged.name}-0.report").write_text(content)
    assert [one.name for one in journal.batches()] == [whole.name]
    assert journal.report(damaged.jobs[0]) is None
    with pytest.raises(FileNotFoundError):
        journal.batch(damaged.name)


def test_there_is_nothing(journal: Journal) -> None:
    assert journal.batches() == []
    assert journal.report(batch().jobs[0]) is None
    with pytest.raises(FileNotFoundError):
        journal.batch("mklbench-0")


def test_a_job_reports_that_it_runs_and_what_it_leaves(journal: Journal) -> None:
    written = batch()
    journal.write_batch(written)
    left = Left(1, "OUT_OF_MEMORY", "too large")
    with reporting(journal, written.jobs[0], "a processor") as listed:
        begun = journal.report(written.jobs[0])
        listed.append(left)
    report = journal.report(written.jobs[0])
    assert isinstance(begun, Report)
    assert isinstance(report, Report)
    assert (begun.ended, begun.left) == (None, ())
    assert report.left == (left,)
    assert (report.cpu, report.pid, report.started) == ("a processor", begun.pid, begun.started)
    assert report.ended is not None
    assert report.ended >= report.started
    assert journal.report(written.jobs[1]) is None


def test_a_job_that_dies_has_not_ended(journal: Journal) -> None:
    written = batch()
    journal.write_batch(written)
    with pytest.raises(KeyboardInterrupt), reporting(journal, written.jobs[0], ""):
        raise KeyboardInterrupt
    report = journal.report(written.jobs[0])
    assert isinstance(report, Report)
    assert report.ended is None


def test_nothing_is_left_of_a_batch_that_is_forgotten(journal: Journal) -> None:
    first, second = batch(), batch()
    for one in (first, second):
        journal.write_batch(one)
    with reporting(journal, first.jobs[0], ""):
        journal.remove(first)  # and the job ends later
    assert [path.name for path in journal.path.iterdir()] == [f"{second.name}.batch"]
    journal.remove(second)
    assert not journal.path.exists()
    journal.remove(second)


def test_logs_stay(journal: Journal) -> None:
    written = batch()
    journal.write_batch(written)
    journal.logs.mkdir()
    journal.remove(written)
    assert [path.name for path in journal.path.iterdir()] == ["logs"]


def test_a_store_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(StoreError, match=r"results_dir=.*store cannot be written"):
        Journal(Store(tmp_path / "store")).write_batch(batch())
