"""The benchmark of executors: what is not there is left out, and what the ratios are of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import execution
from benchmarks.execution import _Engine


def test_an_executor_that_is_not_there_is_left_out_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = _Engine("local", ("executor=local",), 3.0)
    nowhere = _Engine("nowhere", ("executor=nowhere",), 1.0)
    monkeypatch.setattr(execution, "_ENGINES", (nowhere, here))
    engines, left_out = execution._at_hand()
    assert engines == [here]
    (sentence,) = left_out
    assert sentence.startswith("nowhere: executor=nowhere ")


def test_seconds_are_those_from_the_first_record_to_the_last(tmp_path: Path) -> None:
    for run, split, written in (("a", 0, 100.0), ("a", 1, 103.5), ("b", 0, 101.0)):
        (tmp_path / run).mkdir(exist_ok=True)
        path = tmp_path / run / f"split-{split:03d}.json"
        path.touch()
        os.utime(path, (written, written))
    (tmp_path / "a" / "cell.json").touch()
    assert execution._record_seconds(tmp_path) == 3.5
