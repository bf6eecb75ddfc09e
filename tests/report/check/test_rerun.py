"""`mklbench reproduce --minutes`: which recorded splits are run again, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from experiment_fakes import tiny_run
from report_fakes import record

from mklbench import cli, resources
from mklbench.experiments.records import CLOCKS, RecordFile
from mklbench.report.analysis.places import RunFinder
from mklbench.report.check.rerun import Rerun, batches, confirm, recorded_splits
from mklbench.report.loading import load_table

Line = dict[str, Any]
Edit = Callable[[Callable[[Line], Line | None]], None]
Confirm = Callable[[], int]

N_SPLITS = 12


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "reproduced"


@pytest.fixture
def again(recorded: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> Confirm:
    """What runs the tiny table again, with more than enough time."""
    monkeypatch.setattr(resources, "recorded_results", lambda: recorded)
    return partial(confirm, ["tiny"], minutes=10.0, results_dir=str(out))


def timed(item: Line, seconds: float) -> Line:
    """A record of a split that took so many seconds."""
    return item | dict.fromkeys(CLOCKS, 0.0) | {"fit_seconds": float(seconds)}


def fresh(out: Path) -> dict[Path, int]:
    """The fresh splits in the store, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in (out / "store").rglob("split-*.json")}


def test_a_split_of_every_position_comes_first_from_the_cheapest(
    recorded: Path, edit_records: Edit
) -> None:
    seconds = {"fixed": 1, "cv": 3}
    edit_records(lambda item: timed(item, (2 - item["split"]) * seconds[item["search"]]))
    finder = RunFinder(RecordFile(recorded / "records" / "tiny.jsonl"))
    waiting, _ = recorded_splits([(load_table("tiny"), finder)])
    assert [item.seconds for item in waiting] == [1, 1, 1, 1, 3, 3, 2, 2, 2, 2, 6, 6]
    assert len({item.run.key for item in waiting[:6]}) == 6


def test_positions_are_confirmed_and_what_was_run_is_not_run_again(
    again: Confirm, recorded: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = {path: path.read_bytes() for path in recorded.rglob("*.*")}
    assert again() == 0
    assert {path: path.read_bytes() for path in recorded.rglob("*.*")} == records
    said = f"{N_SPLITS} splits were run again: 6 runs are confirmed here, and 0 moved."
    assert said in capsys.readouterr().out
    before = fresh(out)
    assert len(before) == N_SPLITS
    assert again() == 0
    assert fresh(out) == before


def test_what_has_moved_is_counted_and_listed_with_both_values(
    again: Confirm, edit_records: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    def moved(item: Line) -> Line:
        is_one = (item["data"], item["C"], item["search"], item["split"])
        lower = 0.5 if is_one == ("twonorm", 10, "fixed", 1) else 0.0
        return {**item, "accuracy": item["accuracy"] - lower}

    edit_records(moved)
    assert again() == 1
    printed = capsys.readouterr().out
    assert "5 runs are confirmed here, and 1 moved." in printed
    assert "MOVED: tiny, minmax ten fixed, split 1: accuracy " in printed
    assert "%, recorded " in printed


def test_a_split_of_another_revision_is_run_again(
    again: Confirm, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert again() == 0
    before = fresh(out)
    monkeypatch.setattr("mklbench.report.check.rerun.git_revision", lambda: "0" * 40)
    assert again() == 0
    assert len(fresh(out)) == 2 * len(before)


@pytest.mark.parametrize("pace", [0.2, 1.0, 3.0])
def test_ends_in_time_whatever_the_speed_of_the_machine(pace: float) -> None:
    now = [0.0]
    listed = [Rerun("", tiny_run(), record(at, fit_seconds=0.01 * 1.02**at)) for at in range(500)]
    run = []
    for batch in batches(listed, 2, 600.0, lambda: now[0]):
        run += [item.record.split for item in batch]
        now[0] += 2.0 + pace * sum(item.seconds + 0.1 for item in batch) / 2
    assert run == list(range(len(run)))
    assert 300.0 < now[0] < 600.0


def test_data_that_cannot_be_had_are_named_in_one_line(
    again: Confirm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "mklbench.report.check.rerun.is_at_hand", lambda config: config["name"] != "ringnorm"
    )
    assert again() == 0
    printed = capsys.readouterr().out
    assert "at hand (mklbench data fetch NAME): ringnorm.\n" in printed
    assert "3 runs are confirmed here" in printed


def test_a_limit_is_for_whole_tables_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--minutes", "5", "--row", "sonar"]) == 2
    assert "--minutes 5 repeats whole tables on this machine: leave out positions" in (
        capsys.readouterr().err
    )
