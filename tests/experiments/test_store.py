"""Records on disk: whole or absent, never lost, never a reason to crash."""

from __future__ import annotations

import json
import lzma
import os
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_fakes import tiny_run
from narrowing import present

from mklbench.errors import InputError
from mklbench.experiments.evaluation import run_selection, run_split, unfinished
from mklbench.experiments.files import DamagedRecordWarning, with_checksum
from mklbench.experiments.record import Ended, Record, Selection
from mklbench.experiments.records import (
    Layers,
    RecordFile,
    export_records,
    read_records,
    record_path,
)
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, copy_records
from mklbench.resources import write_atomically


@pytest.fixture(scope="module")
def run() -> Run:
    return tiny_run("split.n_splits=3")


@pytest.fixture(scope="module")
def done(run: Run) -> list[Record]:
    return [run_split(run, split) for split in range(3)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "store")


def test_a_record_is_read_as_it_was_written(store: Store, run: Run, done: list[Record]) -> None:
    store.write(run, done[1])
    assert store.record(run, 1) == done[1]
    assert store.read(run).records == [done[1]]
    assert store.read(run).missing == [0, 2]
    described = json.loads((store.directory(run) / "cell.json").read_text())
    assert described["config"] == run.config.as_dict()
    assert described["key"] == run.key


def test_an_infinite_option_is_described_as_text(store: Store) -> None:
    infinite = tiny_run("algo=vskl", "kernel=feature_gaussians", "algo.q=inf")
    store.write(infinite, run_split(infinite, 0))
    described = json.loads((store.directory(infinite) / "cell.json").read_text())
    assert described["config"]["algo"]["q"] == "Infinity"
    assert present(store.record(infinite, 0)).is_done


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ([], "missing"),
        (["done"], "incomplete"),
        (["done", "done", "done"], "done"),
        (["done", "failed", "done"], "failed"),
        (["done", "timeout"], "timeout"),
        (["timeout", "failed"], "failed"),
    ],
)
def test_a_run_is_done_only_if_every_split_is(
    store: Store, run: Run, done: list[Record], ends: list[Ended], status: str
) -> None:
    for split, end in enumerate(ends):
        bad = unfinished(run, split, end, "for the test")
        store.write(run, done[split] if end == "done" else bad)
    assert store.read(run).status == status


def test_a_finished_split_is_never_replaced(store: Store, run: Run, done: list[Record]) -> None:
    store.write(run, done[0])
    store.write(run, unfinished(run, 0, "failed", "later"))
    store.write(run, replace(done[0], accuracy=0.0))
    assert store.record(run, 0) == done[0]


@pytest.mark.parametrize("place", ["/proc/nowhere", "{tmp}/file/store", "{tmp}/file"])
def test_a_store_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, run: Run, done: list[Record], place: str
) -> None:
    (tmp_path / "file").write_text("")
    store = Store(place.format(tmp=tmp_path))
    for act in (lambda: store.check(writable=True), lambda: store.write(run, done[0])):
        with pytest.raises(InputError, match=r"^results_dir=[^\n]*\.$"):
            act()


def test_a_write_that_fails_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        write_atomically(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_text() == "old"


def test_an_export_has_the_same_records(
    store: Store, run: Run, done: list[Record], tmp_path: Path
) -> None:
    other = tiny_run("algo.C=3", "split.n_splits=1")
    for record in reversed(done):
        store.write(run, record)
    assert export_records([run, other], store, tmp_path / "records.jsonl") == 3
    assert read_records(tmp_path / "records.jsonl") == done
    exported = RecordFile(tmp_path / "records.jsonl")
    assert exported.read(run).records == store.read(run).records
    assert exported.read(run).status == "done"
    assert exported.read(other).status == "missing"


def test_records_are_written_packed_without_loss(
    store: Store, run: Run, done: list[Record], tmp_path: Path
) -> None:
    for record in done:
        store.write(run, record)
    packed = tmp_path / "tiny.jsonl.xz"
    assert export_records([run], store, packed) == len(done)
    assert record_path(tmp_path, "tiny") == packed
    assert read_records(packed) == done
    first = packed.read_bytes()
    export_records([run], RecordFile(packed), packed)
    assert packed.read_bytes() == first


def test_packed_records_that_are_damaged_are_one_sentence(
    store: Store, run: Run, done: list[Record], tmp_path: Path
) -> None:
    store.write(run, done[0])
    plain, packed = tmp_path / "tiny.jsonl", tmp_path / "tiny.jsonl.xz"
    export_records([run], store, plain)
    content = bytearray(lzma.compress(plain.read_bytes()))
    for position in (20, len(content) // 2, len(content) - 1):  # head, content, and the end
        packed.write_bytes(
            content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]
        )
        with pytest.raises(InputError, match=f"{packed} is a damaged compressed file"):
            read_records(packed)
    packed.write_bytes(content[:-30])
    with pytest.raises(InputError, match=f"{packed} is a damaged compressed file"):
        read_records(packed)


def test_an_export_that_cannot_be_read_or_written_is_one_sentence(
    store: Store, run: Run, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        RecordFile(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        export_records([run], store, tmp_path / "no" / "directory.jsonl")


@pytest.fixture(scope="module")
def sharing() -> Run:
    """A run of three splits whose hyperparameters are chosen on two."""
    grid = ["search.splits=2", "search.folds=2", "search.grid.algo.C=[1,2]"]
    return tiny_run("split.n_splits=3", "search=first_splits", *grid)


@pytest.fixture(scope="module")
def selections(sharing: Run) -> dict[int, Selection]:
    return {split: run_selection(sharing, split) for split in range(2)}


def test_selections_are_read_as_they_were_written(
    store: Store, sharing: Run, selections: dict[int, Selection]
) -> None:
    store.write_selection(sharing, 1, selections[1])
    assert store.selections(sharing) == {1: selections[1]}
    assert store.read(sharing).missing_selections == [0]
    store.write_selection(sharing, 1, Selection({"algo.C": 7}, 0.0, 1.0))
    assert store.selections(sharing) == {1: selections[1]}  # never replaced
    assert store.read(sharing).status == "missing"


def test_a_record_in_the_place_of_a_selection_is_none(
    store: Store, sharing: Run, selections: dict[int, Selection]
) -> None:
    store.write_selection(sharing, 0, selections[0])
    record = unfinished(sharing, 0, "failed", "it broke")
    store.selection_path(sharing, 0).write_text(with_checksum(record.to_json()))
    with pytest.warns(DamagedRecordWarning, match="it is of another run or split"):
        assert store.selections(sharing) == {}


def test_any_finished_record_carries_the_selections(
    store: Store, sharing: Run, selections: dict[int, Selection], tmp_path: Path
) -> None:
    store.write(sharing, run_split(sharing, 2, selections))
    assert store.selections(sharing) == selections
    export_records([sharing], store, tmp_path / "records.jsonl")
    assert RecordFile(tmp_path / "records.jsonl").read(sharing).selections == selections


def test_finished_records_are_copied_and_nothing_else(
    store: Store, run: Run, done: list[Record], tmp_path: Path
) -> None:
    other = Store(tmp_path / "other")
    other.write(run, replace(done[0], accuracy=0.0))
    other.write(run, done[1])
    other.write(run, unfinished(run, 2, "failed", "for the test"))
    store.write(run, done[0])
    assert copy_records([run, tiny_run("algo.C=3")], other, store) == 1
    assert store.read(run).records == done[:2]
    assert copy_records([run], other, store) == 0


def test_records_of_another_choice_of_hyperparameters_are_not_mixed(
    store: Store, sharing: Run, selections: dict[int, Selection], tmp_path: Path
) -> None:
    other = Store(tmp_path / "other")
    other.write(sharing, run_split(sharing, 0, selections))
    chosen = selections[1].params["algo.C"]
    store.write_selection(sharing, 1, Selection({"algo.C": 3 - chosen}, 0.5, 1.0))
    assert copy_records([sharing], other, store) == 0
    store.selection_path(sharing, 1).unlink()
    assert copy_records([sharing], other, store) == 1


def test_of_several_sources_the_first_with_a_result_counts(
    store: Store, run: Run, done: list[Record], tmp_path: Path
) -> None:
    other = Store(tmp_path / "other")
    store.write(run, done[0])
    store.write(run, unfinished(run, 1, "failed", "here"))
    other.write(run, replace(done[0], accuracy=0.0))
    other.write(run, done[1])
    both = Layers([store, other])
    assert both.read(run).records == done[:2]
    assert both.read(run).missing == [2]
