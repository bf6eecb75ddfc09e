"""The check of every cell that other sources measured: what it runs, finds, keeps and says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_cell
from report_fakes import edit_lines, only_tables, record

from mklbench import cli
from mklbench.algorithms import svm
from mklbench.commands.check import check_all
from mklbench.commands.reproduce import reproduce
from mklbench.errors import InputError
from mklbench.experiments import search
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.inline import Inline
from mklbench.experiments.record import Selection
from mklbench.experiments.store import Store
from mklbench.libsvm import SVM
from mklbench.report.analysis.confirmed import FILE_NAME, Confirmed
from mklbench.report.check import rerun
from mklbench.report.loading import load_table

Line = dict[str, Any]
Edit = Callable[[Callable[[Line], Line | None]], None]

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


def checked(results: Path, **options: Any) -> int:
    return check_all(results_dir=str(results), **options)


def confirmations(results: Path) -> dict[str, Any]:
    return json.loads((results / "records" / FILE_NAME).read_text(encoding="utf-8"))


def objective_moved(item: Line) -> Line:
    """Move one number of one cell."""
    if item["search"] == "fixed" and item["C"] == 10 and item["data"] == "twonorm":
        item["objective"] *= 1.05
    return item


def rerun_all(results: Path) -> list[rerun.Rerun]:
    """What is to be run again of the tiny table."""
    return rerun.reruns([load_table("tiny")], results / "records", Confirmed(results / "records"))


class TestRunning:
    def test_confirms_one_split_of_each_cell_and_no_second_time(
        self, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert checked(recorded) == 0
        printed = capsys.readouterr().out
        assert "one split of 6 is to be run again: about " in printed
        assert "The check passed: 6 same." in printed
        found = confirmations(recorded)
        assert len(found) == 6
        assert {item["outcome"] for item in found.values()} == {"within"}
        monkeypatch.setattr(Inline, "run", None)
        assert checked(recorded) == 0
        assert "6 of them are confirmed.\n" in capsys.readouterr().out

    def test_takes_the_cheapest_split_of_each_and_the_cheapest_cell_first(
        self, recorded: Path, edit_records: Edit
    ) -> None:
        seconds = {"fixed": 1, "cv": 3}
        edit_records(
            lambda item: {
                **item, "search_seconds": 0.0,
                "fit_seconds": (2 - item["split"]) * seconds[item["search"]],
            }
        )  # fmt: skip
        listed = rerun_all(recorded)
        assert [item.record.split for item in listed] == [1] * 6
        assert [item.record.search for item in listed] == ["fixed"] * 4 + ["cv"] * 2

    @pytest.mark.parametrize("pace", [0.2, 1.0, 3.0])
    def test_ends_in_time_whatever_the_speed_of_the_machine(self, pace: float) -> None:
        now = [0.0]
        cell = tiny_cell()
        listed = [
            rerun.Rerun("", cell, record(at, fit_seconds=0.01 * 1.02**at), {}, None)
            for at in range(500)
        ]
        run = []
        for batch in rerun.batches(listed, 2, 600.0, lambda: now[0]):
            run += [item.record.split for item in batch]
            now[0] += 2.0 + pace * sum(item.seconds + 0.1 for item in batch) / 2
        assert run == list(range(len(run)))
        assert 540.0 < now[0] < 600.0

    def test_leaves_alone_what_the_sources_at_hand_measured(
        self, recorded: Path, edit_records: Edit, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sources = tiny_cell().sources
        edit_records(lambda i: {**i, "sources": sources} if i["search"] == "fixed" else i)
        assert checked(recorded) == 0
        assert "one split of 2 is to be run again" in capsys.readouterr().out

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
        assert "1 of them are confirmed; one split of 5" in capsys.readouterr().out
        assert len(confirmations(recorded)) == 6

    def test_uses_the_recorded_selections_where_splits_share_them(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        only_tables(monkeypatch, tmp_path, shared=SHARED)
        results = tmp_path / "results"
        reproduce(["shared"], store=Store(tmp_path / "s"), results_dir=str(results))
        edit_lines(results / "records" / "shared.jsonl", lambda item: {**item, "sources": None})
        monkeypatch.setattr("mklbench.experiments.execution.steps.run_selection", None)
        assert checked(results) == 0
        assert len(confirmations(results)) == 1

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
        assert "3 same, 3 not checked" in printed
        assert len(confirmations(recorded)) == 3

    def test_a_limit_leaves_the_rest_for_the_next_time(
        self, recorded: Path, edit_records: Edit, capsys: pytest.CaptureFixture[str]
    ) -> None:
        edit_records(lambda i: {**i, "fit_seconds": 1.0 if i["search"] == "fixed" else 1e6})
        assert checked(recorded, minutes=1.0) == 0
        assert "4 same, 2 not checked" in capsys.readouterr().out


class TestAnotherChoice:
    @pytest.mark.parametrize(("lower", "code"), [(0.0, 0), (0.2, 1)])
    def test_of_a_near_tie_is_compared_where_it_was_recorded(
        self,
        recorded: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        lower: float,
        code: int,
    ) -> None:
        """The search takes another C now, with the score of the recorded one or a lower one."""

        def select(*arguments: Any) -> Selection:
            found = search.select(*arguments)
            if found.accuracy is None:  # at the recorded choice there is nothing to search
                return found
            return Selection({"algo.C": 11.0 - found.params["algo.C"]}, found.accuracy - lower)

        monkeypatch.setattr("mklbench.experiments.evaluation.select", select)
        searched = [item for item in rerun_all(recorded) if item.record.params]
        monkeypatch.setattr(rerun, "reruns", lambda *_: searched)
        assert checked(recorded) == code
        printed = capsys.readouterr().out
        assert ("2 same" if code == 0 else "2 MOVED") in printed
        details = [item["detail"] for item in confirmations(recorded).values()]
        assert all(detail.startswith("cross-validation takes algo.C=") for detail in details)
        assert all(("is as good" in detail) == (code == 0) for detail in details)


class TestMoved:
    def test_number_fails_the_check_until_it_is_mended(
        self, recorded: Path, edit_records: Edit, capsys: pytest.CaptureFixture[str]
    ) -> None:
        records = (recorded / "records" / "tiny.jsonl").read_bytes()
        assert checked(recorded) == 0
        edit_records(objective_moved)
        capsys.readouterr()
        assert checked(recorded) == 1
        printed = capsys.readouterr()
        assert "one split of 1 is to be run again" in printed.out
        assert "tiny, minmax ten fixed MOVED: objective " in printed.err
        assert "MOVED: tiny, minmax ten fixed: objective " in printed.out
        assert "The check failed: 5 same, 1 MOVED." in printed.out
        text = table(recorded)
        assert "**sources**\n  - not recorded: all 6 cells\n" in text
        assert "and the same within its stopping rule: 5 of 6 cells: " in text
        assert "which gave other numbers than are shown here: 1 of 6 cells" in text
        assert checked(recorded) == 1
        (recorded / "records" / "tiny.jsonl").write_bytes(records)
        assert checked(recorded) == 0

    def test_number_with_a_new_version_or_other_sources(
        self,
        recorded: Path,
        monkeypatch: pytest.MonkeyPatch,
        redeclare: Callable[..., None],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert checked(recorded) == 0
        with monkeypatch.context() as patch:
            edited = {"algorithm": "x", "kernel": "y", "runner": "z"}
            patch.setattr(Cell, "sources", property(lambda self: edited))
            assert checked(recorded) == 0
        assert "one split of 6 is to be run again" in capsys.readouterr().out
        redeclare(svm, "VERSION", svm.VERSION + 1)
        assert checked(recorded) == 0
        assert "nothing to check" in capsys.readouterr().out

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
