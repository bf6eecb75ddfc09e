"""The processes of an engine: started with a mark, found by it, ended whatever became of them.

A file of process ids may be out of date, and a process of that number somebody else's. A mark in
the environment is inherited by all that an engine starts, and cannot be mistaken.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

# Holds the folder of the engine, in the environment of its processes.
MARK = "MKLBENCH_TEST_ENGINE"


class EngineError(Exception):
    """An engine did not start or stop; the message says which part, and where its log is."""


def start(
    command: list[str], directory: Path, name: str, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a marked process in a session of its own, which Ctrl-C does not reach."""
    with (directory / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            command,
            env={**os.environ, **variables, MARK: str(directory)},
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def marked(directory: Path) -> list[psutil.Process]:
    """Return the living processes of the engine in this folder."""
    return list(living_with({MARK: str(directory)}))


def living_with(variables: dict[str, str]) -> Iterator[psutil.Process]:
    """Yield the other processes that have all of this in their environment and are no zombies."""
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except psutil.Error:  # it has ended, or is a zombie, or somebody else's
            continue
        if process.pid != os.getpid() and variables.items() <= environment.items():
            yield process


def kill_all(find: Callable[[], list[psutil.Process]], seconds: float = 30) -> None:
    """Kill what `find` returns, until it returns nothing any more.

    By SIGKILL, as that also ends what is stopped or hangs; there is nothing that an engine would
    have to write down before it ends.
    """
    deadline = time.monotonic() + seconds
    while left := find():
        if time.monotonic() > deadline:
            raise EngineError(f"still there after SIGKILL: {', '.join(map(str, left))}")
        for process in left:
            send(process, signal.SIGKILL)
        psutil.wait_procs(left, timeout=1)


def send(process: psutil.Process, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended by now."""
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return


def wait_for(condition: Callable[[], bool], otherwise: str, seconds: float = 60) -> None:
    """Look ten times a second until the condition holds; `otherwise` is said if it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise EngineError(f"{otherwise} within {seconds:g} s")
        time.sleep(0.1)


def free_port() -> int:
    """Return a port of 127.0.0.1 at which nobody listens.

    None of those that the kernel gives to connections: it stays free while an engine is restarted.
    """
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise EngineError("no free port of 127.0.0.1 was found")


@contextmanager
def stopped_with_us(script: Path, directory: Path) -> Iterator[None]:
    """Have `SCRIPT DIRECTORY` end the engine when this process ends, also if it is killed.

    By a process that reads from a pipe, of which only this process has the other end.
    """
    guard = subprocess.Popen(
        [sys.executable, str(script), str(directory)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        guard.communicate()
