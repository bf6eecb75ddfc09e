"""How long the outstanding work is said to take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from experiment_fakes import tiny_run

from mklbench.experiments.evaluation import unfinished
from mklbench.experiments.record import Record
from mklbench.experiments.records import RecordFile, export_records
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store
from mklbench.report.analysis.estimate import Work, describe_work, outstanding_work


def finished(run: Run, split: int, **changes: Any) -> Record:
    """A record that says it took 1 + 2 + 3 seconds, and its search 10."""
    seconds = {"kernel_seconds": 1.0, "fit_seconds": 2.0, "predict_seconds": 3.0}
    results = {"objective": 1.0, "gap": 0.0, "accuracy": 0.5, "search_seconds": 10.0}
    made = unfinished(run, split, "done", "")
    return replace(made, **{**results, **seconds, **changes})


def shared(*seconds: float) -> list[dict[str, Any]]:
    return [
        {"split": split, "params": {"algo.C": 1}, "accuracy": 0.5, "seconds": taken}
        for split, taken in enumerate(seconds)
    ]


def record_file(path: Path, run: Run, *records: Record) -> RecordFile:
    """Export records as those of another machine."""
    other = Store(path / "other")
    for record in records:
        other.write(run, record)
    export_records([run], other, path / "records.jsonl")
    return RecordFile(path / "records.jsonl")


def estimate(run: Run, store: Store, *recorded: RecordFile) -> Work:
    (work,) = outstanding_work([run, run], store, recorded)
    return work


def test_a_search_of_its_own_belongs_to_each_split(store: Store) -> None:
    run = tiny_run("search=cv")
    store.write(run, finished(run, 0))
    store.write(run, finished(run, 1, search_seconds=20.0))
    work = estimate(run, store)
    assert (work.n_missing, work.n_selections, work.seconds) == (2, 0, 2 * (6 + 15))


SHARED = ("search=first_splits", "search.splits=2")


def test_a_shared_search_is_done_once_the_store_has_a_split(store: Store) -> None:
    run = tiny_run(*SHARED)
    store.write(run, finished(run, 0, selections=shared(10.0, 30.0)))
    work = estimate(run, store)
    assert (work.n_missing, work.n_selections, work.seconds) == (3, 0, 3 * 6)


def test_a_shared_search_is_counted_once_a_run(store: Store, tmp_path: Path) -> None:
    run = tiny_run(*SHARED)
    recorded = record_file(tmp_path, run, finished(run, 3, selections=shared(10.0, 30.0)))
    work = estimate(run, store, recorded)
    assert (work.n_missing, work.n_selections, work.seconds) == (4, 2, 4 * 6 + 2 * 20)
    assert "2/2" in describe_work([work])
    store.write_selection(run, 0, recorded.read(run).selections[0])
    work = estimate(run, store, recorded)
    assert (work.n_selections, work.seconds) == (1, 4 * 6 + 20)


def test_selections_nobody_has_timed_leave_the_time_unknown(store: Store, tmp_path: Path) -> None:
    alone = tiny_run(*SHARED, "search.splits=null")
    recorded = record_file(tmp_path, alone, finished(alone, 0))
    assert estimate(tiny_run(*SHARED), store, recorded).seconds is None


def test_several_jobs_share_the_time() -> None:
    work = [Work(tiny_run(), 4, 60.0), Work(tiny_run("algo.C=2"), 4, 20.0)]
    assert "about 0:01:20 on one core or 40 s on 2." in describe_work(work, jobs=2)
