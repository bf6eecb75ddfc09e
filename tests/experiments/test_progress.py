"""What is said of a run while it goes on: of a step inside a search, and of what has failed."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from experiment_fakes import fake_cell, tiny_cell

from mklbench.experiments import search
from mklbench.experiments.evaluation import run_selection, unfinished
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.progress import Bar, Lines, countdown, progress
from mklbench.experiments.store import Store

SEARCH = ("search=cv", "search.grid.algo.C=[1,2]", "search.folds=2")


def test_a_search_tells_of_each_of_its_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(search, "listener", lambda *fits: told.append(fits))
    run_selection(tiny_cell(*SEARCH), 0)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_long_search_says_in_lines_how_far_it_is(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mklbench.experiments.progress._INTERVAL", 0.2)
    cell = fake_cell(tmp_path, *SEARCH, "algo.seconds=0.4", "split.n_splits=2")
    said = io.StringIO()
    run_cells([cell], Store(tmp_path / "store"), jobs=jobs, progress=Lines(said))
    lines = said.getvalue().splitlines()
    assert lines[0] == "1 run, 2 splits"
    inside = [line for line in lines if "of 4 fits of the search" in line]
    assert inside
    assert all(line.startswith(f"{cell.label} split ") for line in inside)
    assert lines[-1].startswith(f"{cell.label} done: 2 splits")


def test_a_line_inside_a_search_comes_now_and_then_only() -> None:
    said, now = io.StringIO(), 0.0
    lines = Lines(said)
    lines._clock = lambda: now
    step = Step(tiny_cell(), 3)
    lines.start([step], 4)
    for second in range(1, 25):
        now = float(second)
        lines.step_advanced(step, second, 50)
    assert said.getvalue().splitlines() == [
        "1 run, 4 splits, 3 of them done before",
        "svm-gaussian-twonorm split 3: 10 of 50 fits of the search (3 of 4 splits)",
        "svm-gaussian-twonorm split 3: 20 of 50 fits of the search (3 of 4 splits)",
    ]


def test_a_bar_says_it_in_its_description() -> None:
    bar = Bar(io.StringIO())
    step = Step(tiny_cell(), 3)
    bar.start([step], 4)
    bar.step_advanced(step, 7, 25)
    described = bar._bar.tasks[0].description
    bar.stop()
    assert described == "svm-gaussian-twonorm split 3: 7 of 25 fits of the search"


def test_a_countdown_says_what_was_done_and_how_long_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mklbench.experiments.progress._COUNTDOWN_INTERVAL", 0.0)
    said = io.StringIO()
    with countdown(3000.0, said) as say:
        say("3 splits agree with their records")
    expected = r"3 splits agree with their records; about (50|4\d) min \d+ s left\n"
    assert re.fullmatch(expected, said.getvalue())


def test_what_has_failed_names_the_file_with_its_traceback(tmp_path: Path) -> None:
    cell, store = fake_cell(tmp_path, "algo.behaviour=raise"), Store(tmp_path / "store")
    said = io.StringIO()
    run_cells([cell], store, progress=progress("lines", said, store))
    path = store.traceback_path(cell, 0)
    assert f"(traceback: {path})" in said.getvalue()
    assert path.read_text().startswith("Traceback (most recent call last):")


def test_what_has_no_traceback_names_none(tmp_path: Path) -> None:
    cell, store, said = tiny_cell(), Store(tmp_path / "store"), io.StringIO()
    lines = Lines(said, store)
    lines.start([Step(cell, 0)], 4)
    record = unfinished(cell, 0, "timeout", "stopped")
    store.write(cell, record)
    lines.step_ended(Step(cell, 0), record)
    assert said.getvalue().splitlines()[-1] == f"{cell.label} split 0 timeout: stopped"
