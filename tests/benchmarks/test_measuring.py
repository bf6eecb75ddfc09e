"""The benchmarks: limits of time and memory, and the command."""

from __future__ import annotations

import importlib
import sys
import time

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks.processes import Send, forget_peak, limited, peak_megabytes


def send_then_hang(send: Send, count: int) -> None:
    for number in range(count):
        send(number)
    time.sleep(600)


@pytest.mark.slow
def test_what_was_sent_before_the_limit_stands() -> None:
    assert list(limited(send_then_hang, 3, seconds=20.0)) == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a system whose peak can be reset")
def test_the_peak_counts_what_has_been_freed() -> None:
    forget_peak()
    before = peak_megabytes()
    block = np.ones(2**25)  # 256 MB
    del block
    assert 200 < peak_megabytes() - before < 300


def test_every_part_can_be_run() -> None:
    for part in (*command.PARTS, *command.LONG_PARTS):
        assert callable(importlib.import_module(f"benchmarks.{part}").run)


def test_what_is_no_part_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "sovlers"])
    with pytest.raises(SystemExit) as exited:
        command.main()
    assert exited.value.code == 2
    assert "sovlers is no benchmark: choose from" in capsys.readouterr().err
