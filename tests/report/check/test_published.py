"""The regression check: silent when nothing moved, loud when something did."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_fakes import TINY_TABLE, only_tables, record

from mklbench import cli, resources
from mklbench.algorithms import svm
from mklbench.commands.check import check as run_check
from mklbench.commands.check import record as record_algorithms
from mklbench.commands.reproduce import reproduce
from mklbench.errors import DataError, InputError
from mklbench.experiments import provenance
from mklbench.experiments.cell import Cell
from mklbench.experiments.records import RecordFile
from mklbench.experiments.sealing import sealed
from mklbench.experiments.store import Store
from mklbench.report.check import algorithms, published
from mklbench.report.check.comparison import compare_splits
from mklbench.report.check.config import Tolerance, load_check
from mklbench.resources import recorded_results

CHECK = """\
splits: 1
tolerances: {accuracy: 0, objective: 1.0e-6, reason: the same code}
cells:
  - {table: tiny, row: minmax, column: one, protocol: fixed}
  - table: tiny
    row: none
    column: ten
    protocol: fixed
    splits: 2
    tolerances: {accuracy: 1, reason: unscaled}
"""

Record = dict[str, Any]


def recorded_now(
    monkeypatch: pytest.MonkeyPatch, directory: Path, table: str, check_text: str
) -> Path:
    """Return the results of a tiny table, recorded by this code just now, with its check."""
    only_tables(monkeypatch, directory, tiny=table)
    check_file = directory / "check.yaml"
    check_file.write_text(check_text, encoding="utf-8")
    monkeypatch.setattr("mklbench.commands.check.load_check", lambda: load_check(check_file))
    monkeypatch.setattr(algorithms, "unlisted", lambda config: [])
    results = directory / "results"
    assert reproduce(["tiny"], store=Store(directory / "s"), results_dir=str(results)) == 0
    published.record(load_check(check_file), results)
    return results


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A tiny table and its check."""
    return recorded_now(monkeypatch, tmp_path, TINY_TABLE, CHECK)


def edit_records(recorded: Path, change: Callable[[Record], Record | None]) -> None:
    """Apply `change` to every recorded split; None drops it."""
    for path in (recorded / "records" / "tiny.jsonl", recorded / "check.jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines()
        changed = [change(json.loads(line)) for line in lines]
        text = "".join(sealed(item) for item in changed if item is not None)
        path.write_text(text, encoding="utf-8")


def check(recorded: Path) -> int:
    return run_check(results_dir=str(recorded))


class TestAnotherChoice:
    """On another machine rounding may turn a choice; then that of the record is compared."""

    TABLE = TINY_TABLE.replace("  - {name: ten,", (
        "  - {name: chosen, label: chosen, metrics: [accuracy],\n"
        "     overrides: [search=cv, 'search.grid.algo.C=[1.0,10.0]']}\n  - {name: ten,"
    ))  # fmt: skip
    CHECK = (
        "splits: 2\ntolerances: {accuracy: 0, objective: 1.0e-6, reason: the same code}\n"
        "cells:\n  - {table: tiny, row: minmax, column: chosen, protocol: fixed}\n"
    )

    @pytest.fixture
    def turned(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        """Records of a machine of its own, where the search took the other C on every split."""
        directory = recorded_now(monkeypatch, tmp_path, self.TABLE, self.CHECK)
        path = directory / "records" / "tiny.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        fixed = {
            (line["split"], line["C"]): line for line in lines
            if line["data"] == "twonorm" and line["search"] == "fixed"
        }  # fmt: skip

        def other(item: Record) -> Record:
            if item["search"] != "cv":
                return item
            C = 11.0 - item["params"]["algo.C"]
            numbers = {name: fixed[item["split"], C][name] for name in ("accuracy", "objective")}
            there = {**item["provenance"], "blas_kernels": "Elsewhere"}
            return {**item, **numbers, "C": C, "params": {"algo.C": C}, "provenance": there}

        edit_records(directory, other)
        return directory

    def test_is_compared_where_it_was_recorded(
        self, turned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run_check(results_dir=str(turned))
        (line,) = (
            line for line in capsys.readouterr().out.splitlines() if "minmax chosen fixed" in line
        )
        assert "same" in line
        assert "splits compared: 2, at algo.C=" in line
        assert "as recorded, where the search takes algo.C=" in line
        assert "BLAS kernels for Elsewhere" in line

    def test_a_number_that_moved_there_fails(
        self, turned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        edit_records(turned, lambda item: {**item, "objective": item["objective"] * (1 + 1e-5)})
        assert check(turned) == 1
        assert "relative change 1.0e-05" in capsys.readouterr().out

    def test_on_the_machine_of_the_record_it_has_moved(
        self, turned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        edit_records(turned, lambda item: {**item, "provenance": {
            **item["provenance"], "blas_kernels": provenance.blas_kernels(),
        }})  # fmt: skip
        assert check(turned) == 1
        assert "tiny, minmax chosen fixed" in capsys.readouterr().out


def test_nothing_moved(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(recorded) == 0
    printed = capsys.readouterr().out
    assert "The check passed: 3 same." in printed
    assert "tiny, minmax one fixed" in printed
    assert "tiny, verdicts" in printed


def test_moved_accuracy_fails_and_names_the_split(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def two_samples_off(item: Record) -> Record:
        if item["C"] == 10 and item["split"] == 1:
            item["accuracy"] -= 2 / item["n_test"]
        return item

    edit_records(recorded, two_samples_off)
    assert check(recorded) == 1
    printed = capsys.readouterr().out
    assert "tiny, none ten fixed\n  split 1: accuracy" in printed
    assert "(2 test samples)" in printed


def test_moved_objective_fails(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit_records(recorded, lambda item: {**item, "objective": item["objective"] * (1 + 1e-5)})
    assert check(recorded) == 1
    assert "relative change 1.0e-05" in capsys.readouterr().out


def test_moved_verdict_fails(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded / "tables" / "tiny.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    judged = lines[1].split(",")
    assert judged[3] == "accuracy"
    judged[10] = "close" if judged[10] == "match" else "match"
    path.write_text("\n".join([lines[0], ",".join(judged), *lines[2:]]), encoding="utf-8")
    assert check(recorded) == 1
    assert f"recorded {judged[10]}" in capsys.readouterr().out


def test_splits_that_are_not_recorded_fail(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit_records(recorded, lambda item: None if item["split"] == 1 else item)
    assert check(recorded) == 1
    assert "1 of 2 splits are recorded" in capsys.readouterr().out


def test_cell_that_fails_now_fails_the_check(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @functools.wraps(svm.solve)
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(svm, "solve", broken)
    assert check(recorded) == 1
    assert "broken on purpose" in capsys.readouterr().out


def without_data(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, is_absent: Callable[[Cell], bool]
) -> None:
    """Take data away, but let their digest be known, as it is for every set that is downloaded."""
    lines = (recorded / "records" / "tiny.jsonl").read_text(encoding="utf-8").splitlines()
    digests = {item["data"]: item["data_digest"] for item in map(json.loads, lines)}
    original = Cell.dataset

    def dataset(cell: Cell) -> object:
        if is_absent(cell):
            raise DataError(f"data={cell.data} is nowhere to be had.")
        return original(cell)

    monkeypatch.setattr(Cell, "data_digest", property(lambda cell: digests[cell.data]))
    monkeypatch.setattr(Cell, "dataset", dataset)


def test_absent_data_are_named_and_the_rest_is_checked(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_data(recorded, monkeypatch, lambda cell: cell.data == "ringnorm")
    assert check(recorded) == 0
    printed = capsys.readouterr().out
    assert "tiny, none ten fixed\n  data=ringnorm is nowhere to be had." in printed
    assert "The check passed: 2 same, 1 not checked." in printed


def test_nothing_checked_is_a_failure(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_data(recorded, monkeypatch, lambda cell: True)
    assert check(recorded) == 1
    assert "no cell could be run again" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["check.jsonl", "records/tiny.jsonl", "tables/tiny.csv"])
def test_nothing_recorded_is_an_input_error(recorded: Path, missing: str) -> None:
    (recorded / missing).unlink()
    with pytest.raises(InputError, match="There is nothing to check against"):
        check(recorded)


def test_an_installed_program_compares_the_runs_without_the_tables_records(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (recorded / "records" / "tiny.jsonl").unlink()
    monkeypatch.setattr(resources, "checkout", lambda: None)
    assert check(recorded) == 0
    assert "The check passed: 2 same, 1 not checked." in capsys.readouterr().out


def test_only_known_tables_can_be_checked(recorded: Path) -> None:
    with pytest.raises(InputError, match="table to check=tinny is not known: did you mean tiny"):
        run_check(["tinny"], results_dir=str(recorded))


def test_tolerances_are_inclusive() -> None:
    before = {0: record(0, accuracy=0.80, n_test=50, objective=10.0)}
    now = [record(0, accuracy=0.82, n_test=50, objective=10.001)]
    assert compare_splits(now, before, Tolerance(1, 1.01e-4, "")) == []
    assert len(compare_splits(now, before, Tolerance(0, 1e-5, ""))) == 2


def test_objective_that_vanished_is_a_move() -> None:
    before = {0: record(0, objective=10.0)}
    now = [record(0, objective=None)]
    assert "objective None, recorded 10.0" in compare_splits(now, before, Tolerance(0, 1.0, ""))[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("column: ten", "column: tn", "is not known: did you mean none ten fixed"),
        ("splits: 1", "splits: 0", "splits=0 must be a whole number"),
        ("reason: unscaled", "why: unscaled", "reason=None must be a text"),
        ("accuracy: 1,", "accuracy: -1,", "accuracy=-1 must be a number, 0 or more"),
        ("    splits: 2", "    split: 2", "key=split is not known: did you mean splits"),
    ],
)
def test_wrong_check_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, message: str
) -> None:
    only_tables(monkeypatch, tmp_path, tiny=TINY_TABLE)
    assert old in CHECK
    path = tmp_path / "check.yaml"
    path.write_text(CHECK.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_check(path)


def test_shipped_check_runs_every_data_set() -> None:
    chosen: set[str] = set()
    for cell in load_check().cells:
        chosen |= set(cell.slot.overrides)
    # Not a set that the user names, and not photographs, which take minutes to describe.
    wanted = {
        f"data={name}"
        for name, path in resources.choices("data").items()
        if (config := resources.read_yaml(path)).get("format") != "images"
        and not config.keys() & {"path", "id"}
    }
    assert wanted <= chosen


def test_shipped_check_compares_with_the_records_of_the_tables() -> None:
    of_tables = set()
    for path in (recorded_results() / "records").glob("*.jsonl"):
        of_tables |= set(path.read_bytes().splitlines())
    kept = published.records_of(recorded_results()).read_bytes().splitlines()
    assert set(kept) <= of_tables, "run mklbench check --record"


def test_shipped_check_runs_every_algorithm() -> None:
    path = algorithms.records_of(recorded_results())
    for name in algorithms.unlisted(load_check()):
        assert path.is_file(), f"algo={name} is not recorded: run mklbench check --record"
        assert 0 not in RecordFile(path).read(algorithms.cell_of(name)).missing, name


class TestNewAlgorithms:
    """An algorithm that no table has is recorded by a command."""

    @pytest.fixture
    def recorded(self, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(algorithms, "unlisted", lambda config: ["svm", "uniform"])
        return recorded

    def test_must_be_recorded(self, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert check(recorded) == 1
        printed = capsys.readouterr().out
        assert "algorithms, uniform\n  it is in no cell of check.yaml" in printed
        assert "run mklbench check --record" in printed

    def test_are_recorded_once_and_checked(
        self, recorded: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        command = ["check", "--record", "--recorded", str(recorded)]
        assert cli.main(command) == 0
        assert capsys.readouterr().out.endswith("algorithms.jsonl: svm, uniform\n")
        kept = algorithms.records_of(recorded).read_bytes()
        assert cli.main(command) == 0
        assert capsys.readouterr().out.endswith("There is nothing else to do.\n")
        assert algorithms.records_of(recorded).read_bytes() == kept
        assert check(recorded) == 0
        assert "The check passed: 5 same." in capsys.readouterr().out

    def test_a_moved_number_fails(self, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
        record_algorithms(results_dir=str(recorded))
        path = algorithms.records_of(recorded)
        items = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(sealed({**i, "objective": 2 * i["objective"]}) for i in items))
        assert check(recorded) == 1
        assert "algorithms, svm\n  split 0: objective" in capsys.readouterr().out

    def test_a_new_version_is_recorded_anew(
        self, recorded: Path, redeclare: Callable[..., None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        record_algorithms(results_dir=str(recorded))
        redeclare(svm, "VERSION", svm.VERSION + 1)
        capsys.readouterr()
        record_algorithms(results_dir=str(recorded))
        assert capsys.readouterr().out.endswith("algorithms.jsonl: svm\n")
        assert len(algorithms.records_of(recorded).read_text().splitlines()) == 2

    def test_what_fails_is_not_recorded(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        @functools.wraps(svm.solve)
        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("broken on purpose")

        monkeypatch.setattr(svm, "solve", broken)
        with pytest.raises(InputError, match=r"algo=svm cannot be recorded: .*broken on purpose"):
            record_algorithms(results_dir=str(recorded))
        assert not algorithms.records_of(recorded).exists()

    def test_it_is_for_no_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["check", "--record", "--all"]) == 2
        assert "--record writes all that the check compares with" in capsys.readouterr().err
