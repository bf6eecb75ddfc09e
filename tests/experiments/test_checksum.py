"""Damaged records are found, count as missing and are named; whatever is read, nothing hangs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_run

from mklbench import cli
from mklbench.experiments.evaluation import run_selection, run_split
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.files import (
    DamagedError,
    DamagedRecordWarning,
    verified,
    warn_damaged,
    with_checksum,
)
from mklbench.experiments.record import Record
from mklbench.experiments.records import export_records, read_records, write_sums
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

SHARED = ["search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[1,2]"]


@pytest.fixture(scope="module")
def run() -> Run:
    return tiny_run("split.n_splits=2")


@pytest.fixture(scope="module")
def done(run: Run) -> list[Record]:
    return [run_split(run, split) for split in range(2)]


@pytest.fixture
def exported(store: Store, run: Run, done: list[Record], tmp_path: Path) -> Path:
    """A file of the records of both splits."""
    for record in done:
        store.write(run, record)
    path = tmp_path / "records.jsonl"
    export_records([run], store, path)
    return path


def flipped(data: bytes) -> Iterator[bytes]:
    """Yield `data` with each of its bits flipped in turn."""
    for place in range(len(data)):
        for bit in range(8):
            yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def test_a_record_with_any_bit_flipped_is_rejected_or_the_same(
    run: Run, done: list[Record]
) -> None:
    whole = with_checksum(done[0].to_json()).encode()
    assert verified(whole) == done[0].to_json()
    n_the_same = 0
    for damaged in flipped(whole):
        try:
            record = Record.from_json(verified(damaged))
        except DamagedError:
            continue
        assert record == done[0]
        n_the_same += 1
    # An exponent as E in place of e, and a last digit beyond what a float can hold.
    assert n_the_same < 0.01 * 8 * len(whole)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objective": None}, "it lacks objective"),
        ({"accuracy": None, "rmse": None}, "it lacks rmse"),
        ({"split": 1}, "it is of another run or split"),
        ({"key": "0" * 12}, "it is of another run or split"),
    ],
)
def test_what_is_not_the_result_of_a_split_counts_as_missing(
    store: Store, run: Run, done: list[Record], change: dict[str, Any], said: str
) -> None:
    path = store.record_path(run, 0)
    path.parent.mkdir(parents=True)
    path.write_text(with_checksum(done[0].to_json() | change))
    with pytest.warns(DamagedRecordWarning, match=said):
        assert store.read(run).status == "missing"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def nested(path: Path) -> None:
    path.write_text("[" * 100_000)


def another_file(path: Path) -> None:
    """Write a whole file of the same run."""
    path.write_bytes((path.parent / "selection-000.json").read_bytes())


@pytest.mark.parametrize(
    ("make", "which"),
    [
        (fifo, "split-000.json"),
        (endless_device, "selection-001.json"),
        (nested, "selection-001.json"),
        (another_file, "cell.json"),
        (another_file, "split-000.json"),
    ],
)
def test_whatever_stands_in_the_place_of_a_file_is_named_and_replaced(
    store: Store, make: Callable[[Path], None], which: str
) -> None:
    sharing = tiny_run("split.n_splits=2", *SHARED)
    for split in range(2):
        store.write_selection(sharing, split, run_selection(sharing, split))
    place = store.directory(sharing) / which
    place.unlink(missing_ok=True)
    make(place)
    with pytest.warns(DamagedRecordWarning, match=f"{which} is damaged and counts as missing"):
        (result,) = run_all([sharing], store)
    assert result.status == "done"
    verified(place.read_bytes())
    assert not place.is_symlink()


def test_damaged_lines_are_named_by_their_numbers_and_cost_no_other(
    exported: Path, done: list[Record]
) -> None:
    first, second = exported.read_bytes().splitlines(keepends=True)
    changed = first.replace(b'"accuracy": ', b'"accuracy": 0')
    exported.write_bytes(changed + b"\xff\xfe\n" + second)
    with pytest.warns(DamagedRecordWarning, match="line 1: it is no JSON; 2 lines in all"):
        assert read_records(exported) == [done[1]]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_command_line_names_it_in_one_line_and_runs_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.chdir(tmp_path)
    warn_damaged.cache_clear()  # the path, from here, is the same for each number of jobs
    overrides = ["data=twonorm", "data.n_samples=60", "kernel=gaussian", "algo=svm"]
    run = ["run", *overrides, "split.n_splits=3", "results_dir=store", "out=rows.csv"]
    assert cli.main([*run, "progress=none"]) == 0
    (path,) = tmp_path.glob("store/*/split-001.json")
    whole = path.read_bytes()
    path.write_bytes(re.sub(rb'"accuracy": [^,]*', b'"accuracy": 0.125', whole))
    with pytest.warns(DamagedRecordWarning) as found:
        assert cli.main([*run, "progress=none", f"jobs={jobs}"]) == 0
    assert [str(warning.message) for warning in found] == [
        f"{path.relative_to(tmp_path)} is damaged and counts as missing: "
        "its checksum does not match its content."
    ]
    assert ",0.125," not in Path("rows.csv").read_text()
    assert verified(path.read_bytes())["accuracy"] == verified(whole)["accuracy"]


def test_a_file_that_is_as_it_is_listed_is_not_checked_line_by_line(
    run: Run, done: list[Record], store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    store.write(run, done[0])
    export_records([run], store, path)
    path.write_text(path.read_text().replace('"n_train": ', '"n_train": 1'))
    write_sums(tmp_path)
    assert len(read_records(path)) == 1
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.warns(DamagedRecordWarning, match="checksum"):
        assert read_records(path) == []


@pytest.mark.parametrize("number", ["1e400", "-2.5E+999", "1" + 400 * "0", "NaN"])
def test_a_number_beyond_doubles_is_damage(
    run: Run, done: list[Record], store: Store, number: str
) -> None:
    store.write(run, done[0])
    path = store.record_path(run, 0)
    path.write_text(re.sub(r'"fit_seconds": [^,]*', f'"fit_seconds": {number}', path.read_text()))
    with pytest.warns(DamagedRecordWarning, match="its checksum does not match"):
        assert not store.is_done(run, 0)
