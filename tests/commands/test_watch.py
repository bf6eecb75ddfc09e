"""`mklbench status --watch`: what a store says of itself, again and again, on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from experiment_fakes import tiny_run
from generated_store import generate

from mklbench import cli
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.store import Store

HEIGHT, WIDTH = 14, 90


def _environment() -> dict[str, str]:
    """Return this environment without what overrules the size of a terminal, as test runners do."""
    kept = {name: text for name, text in os.environ.items() if name not in ("LINES", "COLUMNS")}
    return kept | {"PYTHONPATH": str(Path(__file__).parents[2])}


class Screen:
    """A terminal of a few lines, with a program in it."""

    def __init__(self, arguments: list[str], directory: Path, term: str = "xterm") -> None:
        self._terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mklbench", *arguments],
            cwd=directory,
            env=_environment() | {"TERM": term},
            stdout=end,
            stderr=end,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        os.close(end)
        self.shown = ""

    def read_until(self, text: str, seconds: float = 60.0) -> None:
        """Read what is shown until `text` is; fail if it does not come."""
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if not select.select([self._terminal], [], [], 0.2)[0]:
                continue
            try:
                self.shown += os.read(self._terminal, 65536).decode()
            except OSError:  # nobody is at the other end any more
                assert text in self.shown, self.shown

    def frames(self) -> Iterator[list[str]]:
        """Yield the lines of each state that was shown."""
        for frame in re.split(r"store at \d\d:\d\d:\d\d, ", self.shown)[1:]:
            yield re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", frame).splitlines()


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "mklbench: interrupted."),
        pytest.param(signal.SIGTERM, 143, "terminated.", marks=pytest.mark.slow),
    ],
)
def test_what_changes_is_shown_until_the_user_ends_it(
    tmp_path: Path, number: signal.Signals, code: int, said: str
) -> None:
    store = Store(tmp_path / "store")
    run_all([tiny_run()], store)
    screen = Screen(["status", "--watch", "0.2", "--results-dir", "store"], tmp_path)
    screen.read_until("1 run with 4 splits: 4 done, 0 running, 0 failed, 0 waiting.")
    assert "again every 0.2 s; Ctrl-C ends this" in screen.shown
    store.describe(tiny_run("algo.C=2"))
    screen.read_until("2 runs with 8 splits: 4 done, 0 running, 0 failed, 4 waiting.")
    run_all([tiny_run("algo.C=2")], store)
    screen.read_until("2 runs with 8 splits: 8 done, 0 running, 0 failed, 0 waiting.")
    screen.process.send_signal(number)
    assert screen.process.wait(timeout=60) == code
    screen.read_until(said)
    assert screen.shown.rindex("\x1b[?25h") > screen.shown.rindex("\x1b[?25l")  # the cursor is back
    assert "Traceback" not in screen.shown


@pytest.mark.slow
def test_a_small_terminal_shows_the_total_of_a_large_store(tmp_path: Path) -> None:
    generate(tmp_path / "store", 20, 5)
    screen = Screen(["status", "--watch", "0.2", "--results-dir", "store"], tmp_path)
    for _ in range(3):
        screen.shown = ""
        screen.read_until("20 runs with 100 splits: 60 done, 0 running, 20 failed, 20 waiting.")
    screen.process.send_signal(signal.SIGINT)
    assert screen.process.wait(timeout=60) == 130
    for frame in screen.frames():
        assert len(frame) <= HEIGHT


@pytest.mark.parametrize("every", [[], ["5"]])
def test_without_a_terminal_it_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], every: list[str]
) -> None:
    assert cli.main(["status", "--watch", *every, "--results-dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "mklbench: error: --watch is for a terminal, and standard output is none: leave it out, "
        "and the state is printed once.\n"
    )


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "inf"])
def test_seconds_that_are_none_are_refused(
    seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["status", f"--watch={seconds}"]) == 2
    assert f"argument --watch: {seconds} is not a number of seconds" in capsys.readouterr().err
