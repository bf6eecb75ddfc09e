"""Workers of a Dask scheduler are looked at before anything is submitted to them."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_cell

from mklbench.errors import InputError
from mklbench.experiments.execution import probe
from mklbench.experiments.execution.chunks import Chunk
from mklbench.experiments.execution.dask import DaskEngine
from mklbench.experiments.execution.journal import Batch, Journal
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.store import Store

distributed = pytest.importorskip("distributed")

OPTION = "executor.address=tcp://host:8786"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        memory_limit="2GiB",
    ) as made:
        yield made


@pytest.fixture
def engine(cluster: Any) -> Iterator[DaskEngine]:
    made = DaskEngine(cluster.scheduler_address, OPTION)
    yield made
    made.close()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(Store(tmp_path / "results" / "store"))


def answering(**others: str) -> Any:
    """Return an answer to the probe that is ours but for some words."""
    ours = probe.answer
    return lambda directory, token: {**ours(directory, token), **others}


def refused(engine: DaskEngine, journal: Journal) -> str:
    """Return the sentence with which workers are refused; nothing is left behind."""
    with pytest.raises(InputError) as caught:
        engine.check(journal)
    assert not journal.path.parent.parent.exists()
    return str(caught.value)


def test_workers_that_are_fit(engine: DaskEngine, journal: Journal) -> None:
    engine.check(journal)
    assert not journal.path.parent.parent.exists()


def test_another_mklbench(
    engine: DaskEngine, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "answer", answering(mklbench="0.0.1"))
    assert refused(engine, journal).startswith(f"{OPTION} has mklbench 0.0.1 on ")


def test_another_python(
    engine: DaskEngine, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = engine._client.get_versions()
    for worker in versions["workers"].values():
        worker["host"] = {**worker["host"], "python": "3.8.1.final.0"}
    monkeypatch.setattr(engine._client, "get_versions", lambda: versions)
    said = refused(engine, journal)
    assert said.startswith(f"{OPTION} has Python 3.8.1.final.0 on ")
    assert f"here it is {platform.python_version()}" in said


def test_workers_that_do_not_see_the_store(
    engine: DaskEngine, journal: Journal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    ours = probe.answer
    monkeypatch.setattr(probe, "answer", lambda directory, token: ours(elsewhere, token))
    said = refused(engine, journal)
    assert said.startswith(f"results_dir={journal.path.parent} is not what ")
    assert "has there (no such file or directory)" in said
    assert f"the workers of {OPTION} share" in said


def test_workers_whose_files_do_not_come_here(
    engine: DaskEngine, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "answer", lambda directory, token: answering_nothing())
    assert "what it writes does not come here" in refused(engine, journal)


def answering_nothing() -> dict[str, str]:
    """Return what a worker says that writes to a copy of the store."""
    from mklbench._version import __version__

    versions = {"python": platform.python_version(), "mklbench": __version__}
    return {"node": "node7", **versions, "problem": ""}


def test_workers_that_cannot_import_mklbench(
    engine: DaskEngine, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(directory: str, token: str) -> None:
        raise ModuleNotFoundError("No module named 'mklbench'")

    monkeypatch.setattr(probe, "answer", missing)
    assert refused(engine, journal) == (
        f"{OPTION} has workers that cannot import mklbench (No module named 'mklbench'): install "
        "this version of it where they run."
    )


def test_a_scheduler_without_workers(journal: Journal) -> None:
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty:
        engine = DaskEngine(empty.scheduler_address, OPTION)
        try:
            said = refused(engine, journal)
        finally:
            engine.close()
    assert said == f"{OPTION} has no workers: start some with dask worker {engine.place}."


def test_a_job_that_no_worker_has_the_memory_for(engine: DaskEngine, journal: Journal) -> None:
    batch = Batch.of("dask", engine.place, [Chunk((Step(tiny_cell(), 0),), 1.0, 64, 5)])
    with pytest.raises(InputError, match=r"at most 2\.0 GiB, and a job needs 64 GiB"):
        engine.submit(batch, journal)
    assert not engine._client.list_datasets()
