"""Runs are run once, survive crashes, stop in time, and may be run twice at once."""

from __future__ import annotations

import io
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from experiment_fakes import TINY, fake_configs, fake_run, nobody_is_in, start, tiny_run, wait_until
from narrowing import present

from mklbench.experiments import progress as progress_module
from mklbench.experiments.execution.local import Local
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.progress import Bar, Lines, duration, progress
from mklbench.experiments.record import Record
from mklbench.experiments.records import RunRecords
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store


def modification_times(store: Store, run: Run) -> dict[str, int]:
    return {
        path.name: path.stat().st_mtime_ns for path in store.directory(run).glob("split-*.json")
    }


def statuses(result: RunRecords) -> list[str]:
    return [record.status for record in result.records]


def measured(record: Record) -> tuple[object, ...]:
    return (record.accuracy, record.objective, record.weights, record.svm_calls, record.n_train)


def test_workers_get_the_numbers_of_the_plain_run(store: Store, tmp_path: Path) -> None:
    runs = [tiny_run(), tiny_run("search=cv", "algo=uniform", "kernel=product")]
    here = run_all(runs, store)
    there = run_all(runs, Store(tmp_path / "other"), jobs=2)
    for one, other in zip(here, there, strict=True):
        assert one.status == other.status == "done"
        for mine, theirs in zip(one.records, other.records, strict=True):
            assert (measured(mine), mine.C) == (measured(theirs), theirs.C)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_only_what_is_missing_is_run(store: Store, jobs: int) -> None:
    run = tiny_run()
    run_all([run], store)
    store.record_path(run, 1).unlink()
    store.record_path(run, 3).write_text("{half a rec")
    before = modification_times(store, run)
    (result,) = run_all([run], store, jobs=jobs)
    after = modification_times(store, run)
    assert result.status == "done"
    assert {name for name in after if after[name] != before.get(name)} == {
        "split-001.json",
        "split-003.json",
    }


def test_equal_runs_are_run_once(store: Store) -> None:
    results = run_all([tiny_run(), tiny_run("split.n_splits=2"), tiny_run()], store)
    assert [len(result.records) for result in results] == [4, 2, 4]
    assert len(list(store.path.iterdir())) == 1


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_crash_fails_its_split_and_is_tried_again(
    store: Store, tmp_path: Path, jobs: int
) -> None:
    crash = ["algo.behaviour=raise", f"algo.once='{tmp_path}/crashed'"]
    run, other = fake_run(tmp_path, *crash), tiny_run()
    result, untouched = run_all([run, other], store, jobs=jobs)
    assert result.status == "failed"
    assert sorted(statuses(result)) == ["done", "done", "done", "failed"]
    assert untouched.status == "done"
    before = modification_times(store, run)
    (again,) = run_all([run], store, jobs=jobs)
    assert again.status == "done"
    after = modification_times(store, run)
    assert sum(before[name] != after[name] for name in after) == 1


def test_a_solution_that_is_not_finite_fails_its_split(store: Store, tmp_path: Path) -> None:
    (result,) = run_all([fake_run(tmp_path, "algo.behaviour=lose", "split.n_splits=1")], store)
    assert result.status == "failed"
    said = r"NotFiniteError: the solution has gap=nan, so it is none: [^.]+ \(experiment_fakes"
    assert re.match(said, present(result.records[0].error))


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("segfault", "the worker process died (SIGSEGV"),
        pytest.param("die", "the worker process died (SIGKILL", marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_dies_costs_one_split(
    store: Store, tmp_path: Path, behaviour: str, said: str
) -> None:
    crash = [f"algo.behaviour={behaviour}", f"algo.once='{tmp_path}/died'"]
    run, other = fake_run(tmp_path, *crash), tiny_run()
    result, untouched = run_all([run, other], store, jobs=2)
    (failed,) = [record for record in result.records if record.status == "failed"]
    assert present(failed.error).startswith(said)
    assert sorted(statuses(result)) == ["done", "done", "done", "failed"]
    assert untouched.status == "done"
    if behaviour == "segfault":  # where it happened is kept
        assert "experiment_fakes.py" in present(failed.traceback)


def test_a_timeout_costs_one_split(store: Store, tmp_path: Path) -> None:
    hanging = fake_run(tmp_path, "algo.behaviour=hang", f"algo.once='{tmp_path}/hung'")
    other = tiny_run()
    result, untouched = run_all([hanging, other], store, jobs=1, timeout=5.0)
    assert sorted(statuses(result)) == ["done", "done", "done", "timeout"]
    assert untouched.status == "done"
    (late,) = [record for record in result.records if record.status == "timeout"]
    assert "5 s" in present(late.error)
    (again,) = run_all([hanging], store, timeout=60)
    assert again.status == "done"


def test_data_that_cannot_be_had_stop_their_run_only(store: Store) -> None:
    from mklbench.experiments.run import Run

    absent = Run.from_overrides(["algo=svm", "data=csv", "data.path=/nowhere.csv"])
    bad, good = run_all([absent, tiny_run()], store)
    assert "data.path=/nowhere.csv" in present(bad.error)
    assert good.status == "done"


# Hyperparameters chosen on two splits for all four, which takes two fits for each choice.
SHARED = ["search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2]"]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_selections_are_made_once_for_all_splits(store: Store, jobs: int) -> None:
    run = tiny_run(*SHARED)
    (result,) = run_all([run], store, jobs=jobs)
    assert result.status == "done"
    assert {record.C for record in result.records} == {2}
    assert len({repr(record.selections) for record in result.records}) == 1
    names = sorted(path.name for path in store.directory(run).iterdir())
    selections = ["selection-000.json", "selection-001.json"]
    assert names == ["cell.json", *selections, *(f"split-{split:03d}.json" for split in range(4))]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_selection_that_crashes_fails_its_run_and_is_tried_again(
    store: Store, tmp_path: Path, jobs: int
) -> None:
    crash = ["algo.behaviour=raise", f"algo.once='{tmp_path}/crashed'"]
    run, other = fake_run(tmp_path, *SHARED, *crash), tiny_run()
    log = io.StringIO()
    result, untouched = run_all([run, other], store, jobs=jobs, progress=Lines(log))
    assert (result.status, untouched.status) == ("failed", "done")
    (failed,) = result.records  # no split was run with half of the selections
    said = "model selection on split [01]: ZeroDivisionError: the fake divided by zero "
    assert re.match(said, present(failed.error))
    assert "experiment_fakes.py" in present(failed.traceback)
    assert present(failed.error) in log.getvalue()
    (again,) = run_all([run], store, jobs=jobs)
    assert again.status == "done"


def test_a_job_begins_no_step_after_its_time(store: Store, tmp_path: Path) -> None:
    """Its time counts from its own beginning, however short each step is."""
    run = fake_run(tmp_path, "algo.seconds=0.3", "split.n_splits=12")
    steps = [Step(run, split) for split in range(run.n_splits)]
    Local(job="job", seconds=0.7).run(steps, store, progress_module.Progress())
    assert 1 <= len(store.read(run).done) <= 4


SLOW = ["run", *TINY, "algo=fake", "algo.seconds=0.3", "split.n_splits=30", "results_dir=store"]


def slow_run(tmp_path: Path, *options: str) -> tuple[subprocess.Popen[str], Store, Run]:
    """Start a run that takes a while and wait for its first finished split."""
    configs = fake_configs(tmp_path)
    store = Store(tmp_path / "store")
    run = fake_run(tmp_path, "algo.seconds=0.3", "split.n_splits=30")
    process = start([*SLOW, "--config-dir", str(configs), *options], tmp_path)
    wait_until(lambda: len(store.read(run).records) >= 2 or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process, store, run


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, jobs: int) -> None:
    process, store, run = slow_run(tmp_path, f"jobs={jobs}")
    process.kill()
    process.communicate()
    nobody_is_in(tmp_path)
    before = modification_times(store, run)
    assert 2 <= len(before) < 30
    assert store.read(run).status == "incomplete"
    shorter = fake_run(tmp_path, "algo.seconds=0.3", f"split.n_splits={len(before) + 2}")
    (result,) = run_all([shorter], store)
    assert result.status == "done"
    after = modification_times(store, run)
    assert {name: after[name] for name in before} == before


def test_lines_tell_of_each_run_and_of_each_failure(store: Store, tmp_path: Path) -> None:
    log = io.StringIO()
    crash = ["algo.behaviour=raise", f"algo.once='{tmp_path}/crashed'"]
    run_all([fake_run(tmp_path, *crash), tiny_run()], store, progress=Lines(log))
    lines = log.getvalue().splitlines()
    assert lines[0] == "2 runs, 8 splits"
    assert "split 0 failed: ZeroDivisionError: the fake divided by zero" in lines[1]
    assert lines[-2].startswith("fake-gaussian-twonorm failed: 3 splits, accuracy ")
    assert "(4 of 8 splits, about " in lines[-2]
    assert lines[-1].startswith("svm-gaussian-twonorm done: 4 splits, accuracy ")


def test_lines_tell_of_a_long_run_between(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module.Lines, "_interval", 0.0)
    log = io.StringIO()
    run_all([tiny_run()], store, progress=Lines(log))
    assert "svm-gaussian-twonorm (2 of 4 splits, about " in log.getvalue()


def test_the_bar_is_for_terminals(store: Store) -> None:
    log = io.StringIO()
    run_all([tiny_run()], store, progress=Bar(log))
    assert "svm-gaussian-twonorm done" in log.getvalue()
    assert isinstance(progress("auto", log), Lines)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4213, "0.42 s"), (59.4, "59 s"), (200, "0:03:20"), (7500, "2:05:00")]
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.slow
def test_a_worker_that_is_ended_leaves_nothing_half_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, sync = os.getpid(), os.fsync

    def slow(descriptor: int) -> None:
        time.sleep(0 if os.getpid() == runner else 600)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    run = fake_run(tmp_path, "split.n_splits=1")
    (result,) = run_all([run], store, timeout=1.0)
    assert result.status == "timeout"
    names = sorted(path.name for path in store.directory(run).iterdir())
    assert names == ["cell.json", "split-000.json"]
