"""The check of every cell that other sources measured: what it runs, finds, keeps and says."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_cell
from report_fakes import TINY_TABLE, only_tables

from mklbench import cli
from mklbench.algorithms import svm
from mklbench.commands.check import check_all
from mklbench.commands.reproduce import reproduce
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.inline import Inline
from mklbench.experiments.sealing import sealed
from mklbench.experiments.store import Store
from mklbench.libsvm import SVM
from mklbench.report.analysis.confirmed import FILE_NAME, Confirmed
from mklbench.report.check import rerun
from mklbench.report.check.config import load_check
from mklbench.report.loading import load_table

Line = dict[str, Any]

CONFIG = load_check()

SHARED = """\
title: "Hyperparameters that the splits share"
citation: "Nobody, nowhere."
common: [split.n_splits=3, algo=svm, search=first_splits, search.splits=2, search.folds=2]
rows:
  - {name: twonorm, label: Twonorm, overrides: [data=twonorm, data.n_samples=60]}
columns:
  - {name: svm, label: SVM, overrides: [kernel=gaussian], metrics: [accuracy]}
protocols:
  - {name: shared, label: shared, overrides: ["search.grid.algo.C=[1,10]"]}
"""


@pytest.fixture(autouse=True)
def shipped_tolerances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tolerances of the program, also where the tables that it names are hidden."""
    monkeypatch.setattr("mklbench.commands.check.load_check", lambda: CONFIG)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny table of four cells, recorded just now by sources that are not named."""
    directory = tmp_path_factory.mktemp("measured")
    results = directory / "results"
    with pytest.MonkeyPatch.context() as patch:
        only_tables(patch, directory, tiny=TINY_TABLE)
        reproduce(["tiny"], store=Store(directory / "s"), results_dir=str(results))
    edit_records(results, without_sources)
    return results


@pytest.fixture
def recorded(measured: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of it."""
    only_tables(monkeypatch, tmp_path, tiny=TINY_TABLE)
    return Path(shutil.copytree(measured, tmp_path / "results"))


def without_sources(item: Line) -> Line:
    return {**item, "sources": None}


def edit_records(results: Path, change: Callable[[Line], Line], table: str = "tiny") -> list[Line]:
    """Apply `change` to every recorded split, and return the records."""
    path = results / "records" / f"{table}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    changed = [change(json.loads(line)) for line in lines]
    path.write_text("".join(sealed(item) for item in changed), encoding="utf-8")
    return changed


def checked(results: Path, **options: Any) -> int:
    return check_all(results_dir=str(results), **options)


def confirmations(results: Path) -> dict[str, Any]:
    return json.loads((results / "records" / FILE_NAME).read_text(encoding="utf-8"))


def objective_moved(item: Line) -> Line:
    """Move one number of one cell by less than the ordinary check would notice."""
    if item["C"] == 10 and item["data"] == "twonorm":
        item["objective"] *= 1 + 1e-6
    return item


def other_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edit what every cell runs through."""
    edited = {"algorithm": "x", "kernel": "y", "runner": "z"}
    monkeypatch.setattr(Cell, "sources", property(lambda self: edited))


class TestRunning:
    def test_confirms_one_split_of_each_cell(
        self, recorded: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert checked(recorded) == 0
        printed = capsys.readouterr().out
        assert "one split of 4 is to be run again: about " in printed
        assert "The check passed: 4 same." in printed
        found = confirmations(recorded)
        assert len(found) == 4
        assert {item["outcome"] for item in found.values()} == {"same"}

    def test_takes_the_cheapest_split_of_each_and_the_cheapest_cell_first(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def slow_first(item: Line) -> Line:
            return {**item, "fit_seconds": (2 - item["split"]) * (3 if item["C"] == 10 else 1)}

        edit_records(recorded, slow_first)
        listed = rerun.reruns(
            [load_table("tiny")], recorded / "records", Confirmed(recorded / "records")
        )
        assert [item.record.split for item in listed] == [1, 1, 1, 1]
        assert [item.record.C for item in listed] == [1, 1, 10, 10]
        with_limit = rerun._batches(listed, 1, deadline=time.monotonic() + 2.5)
        assert [item.record.C for batch in with_limit for item in batch] == [1, 1]

    def test_leaves_alone_what_the_sources_at_hand_measured(
        self, recorded: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def of_now(item: Line) -> Line:
            return {**item, "sources": tiny_cell().sources} if item["C"] == 1 else item

        edit_records(recorded, of_now)
        assert checked(recorded) == 0
        assert "one split of 2 is to be run again" in capsys.readouterr().out

    def test_does_not_run_again_what_is_confirmed(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert checked(recorded) == 0
        monkeypatch.setattr(Inline, "run", None)
        assert checked(recorded) == 0
        assert "4 of them are confirmed.\n" in capsys.readouterr().out

    def test_goes_on_where_it_was_interrupted(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run = Inline.run

        def interrupted(self: Inline, steps: list[Any], *others: Any) -> None:
            run(self, steps[:1], *others)
            raise KeyboardInterrupt

        monkeypatch.setattr(Inline, "run", interrupted)
        with pytest.raises(KeyboardInterrupt, match="the same command goes on"):
            checked(recorded)
        assert len(confirmations(recorded)) == 1
        monkeypatch.setattr(Inline, "run", run)
        capsys.readouterr()
        assert checked(recorded) == 0
        assert "1 of them are confirmed; one split of 3" in capsys.readouterr().out
        assert len(confirmations(recorded)) == 4

    def test_runs_again_when_sources_or_numbers_change(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert checked(recorded) == 0
        edit_records(recorded, objective_moved)
        capsys.readouterr()
        assert checked(recorded) == 1
        assert "one split of 1 is to be run again" in capsys.readouterr().out
        other_sources(monkeypatch)
        assert checked(recorded) == 1
        assert "one split of 4 is to be run again" in capsys.readouterr().out

    def test_uses_the_recorded_selections_where_splits_share_them(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        only_tables(monkeypatch, tmp_path, shared=SHARED)
        results = tmp_path / "results"
        reproduce(["shared"], store=Store(tmp_path / "s"), results_dir=str(results))
        edit_records(results, without_sources, "shared")
        monkeypatch.setattr("mklbench.experiments.execution.steps.run_selection", None)
        assert checked(results) == 0
        assert len(confirmations(results)) == 1

    def test_runs_in_workers(self, recorded: Path) -> None:
        assert checked(recorded, jobs=2) == 0
        assert len(confirmations(recorded)) == 4

    def test_what_cannot_be_run_is_said_and_not_confirmed(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def absent(cell: Cell, splits: object = None, jobs: int = 1) -> None:
            if cell.data == "ringnorm":
                raise InputError("The data are not at hand.")

        monkeypatch.setattr("mklbench.report.check.rerun.check_cell", absent)
        assert checked(recorded) == 0
        printed = capsys.readouterr().out
        assert "not checked: " in printed
        assert "The data are not at hand." in printed
        assert "2 same, 2 not checked" in printed
        assert len(confirmations(recorded)) == 2

    def test_a_limit_leaves_the_rest_for_the_next_time(
        self, recorded: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        edit_records(recorded, lambda item: {**item, "fit_seconds": 1.0 + 99 * (item["C"] == 10)})
        assert checked(recorded, minutes=1.0) == 0
        assert "2 same, 2 not checked" in capsys.readouterr().out


class TestMoved:
    def test_number_fails_the_check_and_is_said_with_old_and_new(
        self, recorded: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        edit_records(recorded, objective_moved)
        assert checked(recorded) == 1
        printed = capsys.readouterr()
        assert "tiny, minmax ten fixed MOVED: objective " in printed.err
        assert "MOVED: tiny, minmax ten fixed: objective " in printed.out
        assert " -> " in printed.out
        assert "The check failed: 3 same, 1 MOVED." in printed.out

    def test_number_is_run_again_until_it_is_mended(self, recorded: Path) -> None:
        records = (recorded / "records" / "tiny.jsonl").read_bytes()
        edit_records(recorded, objective_moved)
        assert checked(recorded) == 1
        assert checked(recorded) == 1
        (recorded / "records" / "tiny.jsonl").write_bytes(records)
        assert checked(recorded) == 0

    def test_number_with_a_new_version_does_not_fail(
        self, recorded: Path, redeclare: Callable[..., None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        edit_records(recorded, objective_moved)
        redeclare(svm, "VERSION", svm.VERSION + 1)
        assert checked(recorded) == 0
        assert "nothing to check" in capsys.readouterr().out

    def test_number_is_said_in_the_table(self, recorded: Path) -> None:
        edit_records(recorded, objective_moved)
        checked(recorded)
        text = table(recorded)
        assert "**sources**\n  - not recorded: all 4 cells\n" in text
        assert "and the same to the digits: 3 of 4 cells: C of one, C of ten (raw)" in text
        assert "which gave other numbers than are shown here: 1 of 4 cells" in text

    def test_failure_fails_the_check(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("broken on purpose")

        monkeypatch.setattr(SVM, "solve", broken)
        assert checked(recorded) == 1
        assert "broken on purpose" in capsys.readouterr().out
        assert not (recorded / "records" / FILE_NAME).exists()


def table(results: Path) -> str:
    """The table as it is printed from the records."""
    from mklbench.experiments.records import RecordFile
    from mklbench.report.analysis.assemble import assemble
    from mklbench.report.analysis.places import CellFinder
    from mklbench.report.formats.md import render

    finder = CellFinder(RecordFile(results / "records" / "tiny.jsonl"))
    return render(assemble(load_table("tiny"), finder), {}, None)


def test_confirmations_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('{"0": {"split": ')
    with pytest.raises(InputError, match=r"confirmed\.json cannot be read .*: delete it"):
        Confirmed(tmp_path)


def test_a_limit_is_for_the_check_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "--minutes", "5"]) == 2
    assert "--minutes 5 is for --all" in capsys.readouterr().err
    assert cli.main(["check", "--all", "--minutes", "-1"]) == 2
