"""An algorithm that misbehaves on demand, and small runs for the tests of the experiments."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from mklbench.algorithms import svm
from mklbench.experiments.run import Run
from mklbench.kernels import PrecomputedBank
from mklbench.solution import Solution

VERSION = 1

# Three lines that put the fakes of this module among the configs (`--config-dir`).
FAKE_YAML = """\
name: fake
title: an algorithm that misbehaves on demand
_target_: experiment_fakes.solve
C: 1.0
behaviour: plain
once: null
seconds: 0.0
log: null
"""

# A run that is run in a moment, on a set that needs no download.
TINY = (
    "data=twonorm",
    "data.n_samples=60",
    "kernel=gaussian",
    "split.scaling=minmax",
    "split.n_splits=4",
)


def solve(
    operator: Any,
    y: np.ndarray,
    C: float = 1.0,
    *,
    behaviour: str = "plain",
    once: str | None = None,
    seconds: float = 0.0,
    log: str | None = None,
) -> Any:
    """Train an SVM, or misbehave: always, or only for the first caller that creates file `once`.

    Each call adds a line to the file `log`.
    """
    if log is not None:
        with open(log, "a", encoding="utf-8") as stream:
            stream.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    if once is None or _first(once):
        if behaviour == "raise":
            raise ZeroDivisionError("the fake divided by zero")
        if behaviour == "fill":
            np.empty(2**55)  # more than any address space holds
        if behaviour == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        if behaviour == "hang":
            time.sleep(600)
        if behaviour == "hold":  # as LAPACK does: no other thread of Python's can run meanwhile
            ctypes.PyDLL(None).sleep(600)
        if behaviour in ENDS:
            raise ENDS[behaviour]
    print("a fake that prints must not disturb its worker")
    solution = svm.solve(operator, y, C)
    return replace(solution, gap=np.nan) if behaviour == "lose" else solution


# What an algorithm may raise that ends a program, or looks as if somebody had ended it.
ENDS = {"exit": SystemExit(0), "generator": GeneratorExit(), "keyboard": KeyboardInterrupt()}

Call = tuple[float, np.ndarray, Any, np.ndarray]
# What `solve_from` was called with and what it returned, in order: C, y, start, weights.
CALLS: list[Call] = []


def solve_from(
    operator: Any, y: np.ndarray, C: float = 1.0, *, tol: float = 1e-4, start: Any = None
) -> Any:
    """Train an SVM at weights that differ from call to call, and note the call in `CALLS`."""
    weights = np.full(operator.n_kernels, 1.0 + len(CALLS))
    CALLS.append((C, y, start, weights))
    return svm.solve(operator, y, C, weights=weights)


def solve_found(operator: Any, y: np.ndarray, C: float = 1.0) -> Solution:
    """Train an SVM on kernels of a family as if found: two, or three if the first label is +1."""
    thetas = np.outer([0.5, 0.1, 2.0][: 2 + (y[0] > 0)], np.ones(operator.n_kernels))
    weights = np.array([0.5, 0.0, 0.25])[: len(thetas)]
    K = sum(d * operator.gram(theta) for d, theta in zip(weights, thetas, strict=True))
    solution = svm.solve(PrecomputedBank(K[None]), y, C)
    return replace(solution, weights=weights, thetas=thetas)


def _first(path: str) -> bool:
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def fake_configs(directory: Path) -> Path:
    """Write the fake's YAML below `directory` and return what to pass as --config-dir."""
    configs = directory / "myconfigs"
    (configs / "algo").mkdir(parents=True, exist_ok=True)
    (configs / "algo" / "fake.yaml").write_text(FAKE_YAML)
    return configs


def fake_run(directory: Path, *overrides: str) -> Run:
    """Return a tiny run of the fake algorithm."""
    return Run.from_overrides([*TINY, "algo=fake", *overrides], fake_configs(directory))


@cache
def tiny_run(*overrides: str) -> Run:
    """Return a tiny run of the plain SVM."""
    return Run.from_overrides([*TINY, "algo=svm", *overrides])


def three_classes(path: Path) -> None:
    """Write a CSV file of three classes that are easily told apart."""
    generator = np.random.default_rng(3)
    lines = []
    for label, centre in (("red", 0.0), ("green", 4.0), ("blue", 8.0)):
        rows = generator.normal(centre, 1.0, (20, 2))
        lines += [f"{a:.4f},{b:.4f},{label}" for a, b in rows]
    path.write_text("\n".join(lines) + "\n")


def start(arguments: list[str], directory: Path) -> subprocess.Popen[str]:
    """Start ``mklbench`` as a user would, in `directory`."""
    root, tests = Path(__file__).parents[2], Path(__file__).parent
    return subprocess.Popen(
        [sys.executable, "-m", "mklbench", *arguments],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(tests)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore Ctrl-C, and so would a child of tests that run in one.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def wait_until(condition: Any, seconds: float = 60.0) -> None:
    """Wait for `condition()` to be true; fail if it does not become so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def nobody_is_in(directory: Path) -> None:
    """Wait until no process runs in a directory."""

    def there() -> bool:
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(directory) and process.status() != psutil.STATUS_ZOMBIE:
                    return True
            except psutil.Error:
                continue
        return False

    wait_until(lambda: not there())
