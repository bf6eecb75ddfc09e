"""What a program asks who presses Ctrl-C on a terminal, before it ends."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

ASKING = """
import sys, time
from mklbench import interruption, supervision

def ask():
    print("which?", flush=True)
    print("answered", sys.stdin.readline().strip(), flush=True)

def program():
    with interruption.asking(ask):
        print("running", flush=True)
        time.sleep(600)
    return 0

supervision.supervise(program)
"""
CTRL_C = b"\x03"


class Terminal:
    """A terminal with a program on it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.shown = ""

    def type(self, keys: bytes) -> None:
        os.write(self._descriptor, keys)

    def wait_for(self, text: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if not select.select([self._descriptor], [], [], 0.1)[0]:
                continue
            try:
                self.shown += os.read(self._descriptor, 1000).decode()
            except OSError:  # the program has ended
                assert text in self.shown
                return


@contextmanager
def on_a_terminal(code: str) -> Iterator[tuple[Terminal, subprocess.Popen[bytes]]]:
    ours, its = pty.openpty()
    # The child takes the terminal for its own, so that Ctrl-C reaches every process of it.
    setsid = "import fcntl, os, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", setsid + code], stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    try:
        terminal = Terminal(ours)
        terminal.wait_for("running")
        yield terminal, process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_one_ctrl_c_on_a_terminal_leaves_time_for_an_answer() -> None:
    # It reaches the supervisor and the program, and the supervisor passes its own on.
    with on_a_terminal(ASKING) as (terminal, process):
        terminal.type(CTRL_C)
        terminal.wait_for("which?")
        time.sleep(1.5)  # longer than a program has that does not ask
        assert process.poll() is None
        terminal.type(b"leave\n")
        terminal.wait_for("answered leave")
        terminal.wait_for("interrupted")
        assert process.wait(timeout=60) == 130


def test_a_second_ctrl_c_ends_without_an_answer() -> None:
    with on_a_terminal(ASKING) as (terminal, process):
        terminal.type(CTRL_C)
        terminal.wait_for("which?")
        time.sleep(1.0)
        terminal.type(CTRL_C)
        assert process.wait(timeout=60) == 130
