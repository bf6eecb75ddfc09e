"""What is said of a run while it goes on."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from experiment_fakes import fake_run

from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.progress import countdown, progress
from mklbench.experiments.store import Store


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
    run, store = fake_run(tmp_path, "algo.behaviour=raise"), Store(tmp_path / "store")
    said = io.StringIO()
    run_all([run], store, progress=progress("lines", said, store))
    path = store.traceback_path(run, 0)
    assert f"(traceback: {path})" in said.getvalue()
    assert path.read_text().startswith("Traceback (most recent call last):")
