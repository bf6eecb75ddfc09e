"""The program's worker processes beside the pools of loky and Pebble, on steps of a real cell.

Asked for: a killed step costs one step, a timeout interrupts, no worker outlives its parent, and
little time a step beside that of the step itself. The pools are asked as their manuals say.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.output import publish, table
from benchmarks.timing import Result
from mklbench.algorithms import svm
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.steps import Step, take
from mklbench.experiments.execution.worker_process import Task, WorkerProcess
from mklbench.experiments.store import Store
from mklbench.kernels import KernelOperator
from mklbench.solution import Solution

_STEPS = 40
_LIMIT = 10.0  # seconds a step may take where there is a timeout
_LONG = 60.0
_KILLED, _ENDLESS = 13.0, 17.0  # values of C: what becomes of a step

# Takes steps in one worker, each within the limit if there is one; yields as they end.
Pool = Callable[[Sequence[Step], Store, float | None], Iterator[None]]


def solve(operator: KernelOperator, y: np.ndarray, C: float, svm_tol: float) -> Solution:
    """Be an algorithm that dies or does not end at certain C, and else is an SVM."""
    if C == _KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    if C == _ENDLESS:
        time.sleep(_LONG)
    return svm.solve(operator, y, C, svm_tol=svm_tol)


def run() -> list[Result]:
    """Measure, print and write the table; return what the program's own workers add to a step."""
    rows, added = [], {}
    for name, pool in _pools().items():
        started, added[name] = _overhead(pool)
        ended, left = _after_a_kill(pool)
        timed, seconds = _after_a_timeout(pool)
        rows.append(
            (
                name,
                f"{started:.2f}",
                f"{added[name] * 1e3:.1f}",
                f"{ended} of {left}",
                f"{timed} of {left}, after {seconds:.1f} s",
                "yes" if _outlives(name) else "no",
            )
        )
    headers = (
        "workers", "s to the first step", "ms added to a step", "steps done beside one killed",
        f"beside one without end, limit {_LIMIT:g} s", "worker outlives a killed parent",
    )  # fmt: skip
    legend = (
        f"One worker, steps of an SVM on 60 samples, written to a store; {_STEPS} of them for what "
        "is added to a step that the program takes itself. loky has no timeout for a step: "
        "its pool is given up, and with it what was submitted."
    )
    publish("workers.md", "Worker processes", f"{legend}\n\n{table(rows, headers, n_labels=1)}")
    own = added.pop("own")
    others = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in added.items())
    return [
        Result("added to a step by a worker process", f"{own * 1e3:.1f} ms ({others})", "", None)
    ]


def _pools() -> dict[str, Pool]:
    """Return the pools there are: loky and Pebble are no dependencies of the program."""
    pools: dict[str, Pool] = {"own": _own}
    with contextlib.suppress(ImportError):
        import loky  # noqa: F401

        pools["loky"] = _loky
    with contextlib.suppress(ImportError):
        import pebble  # noqa: F401

        pools["Pebble"] = _pebble
    return pools


def _own(steps: Sequence[Step], store: Store, limit: float | None) -> Iterator[None]:
    worker: WorkerProcess | None = None
    try:
        for step in steps:
            worker = worker or WorkerProcess()
            worker.give(Task(step), store)
            answer = _answer(worker, limit if worker.ready else None)
            if answer is not None and "ready" in answer:  # the start does not count
                worker.ready = True
                answer = _answer(worker, limit)
            if answer is None:
                worker.kill()
                worker = None
            yield
    finally:
        if worker is not None:
            worker.kill()


def _answer(worker: WorkerProcess, limit: float | None) -> dict[str, Any] | None:
    """Return the next answer of a worker, or None if it is too late or has died."""
    return worker.answer() if wait([worker.fileno()], limit) else None


def _loky(steps: Sequence[Step], store: Store, limit: float | None) -> Iterator[None]:
    import loky

    pool = loky.ProcessPoolExecutor(1)
    try:
        for future in [pool.submit(_taken, *_plain(step, store)) for step in steps]:
            try:
                future.result(timeout=limit)
            except TimeoutError:
                return
            except loky.BrokenProcessPool:
                pass
            yield
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _pebble(steps: Sequence[Step], store: Store, limit: float | None) -> Iterator[None]:
    import pebble

    with pebble.ProcessPool(1, context=get_context("spawn")) as pool:
        futures = [pool.schedule(_taken, _plain(step, store), timeout=limit) for step in steps]
        for future in futures:
            with contextlib.suppress(pebble.ProcessExpired, TimeoutError):
                future.result()
            yield


def _plain(step: Step, store: Store) -> tuple[dict[str, Any], int, str]:
    return step.cell.config, step.split, str(store.path)


def _taken(config: dict[str, Any], split: int, store: str) -> None:
    take(Step(Cell(config), split), Store(Path(store)))


def _steps(n: int, C: float = 1.0) -> list[Step]:
    overrides = ["algo=svm", "data=twonorm", "data.n_samples=60", f"split.n_splits={n}"]
    config = Cell.from_overrides(overrides).config
    algo = config["algo"] | {"_target_": "benchmarks.workers.solve", "C": C}
    return [Step(Cell(config | {"algo": algo}), split) for split in range(n)]


def _overhead(pool: Pool) -> tuple[float, float]:
    """Return the seconds until the first step is done, and what is added to each other one."""
    steps = _steps(_STEPS + 1)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        ended = [time.perf_counter() - started for _ in pool(steps, Store(Path(folder)), None)]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        take(steps[0], store)
        started = time.perf_counter()
        for step in steps[1:]:
            take(step, store)
        alone = time.perf_counter() - started
    return ended[0], (ended[-1] - ended[0] - alone) / _STEPS


def _after_a_kill(pool: Pool) -> tuple[int, int]:
    """Return how many of the other steps are done if one kills its worker, and how many are."""
    return _done_beside(pool, _KILLED, None)


def _after_a_timeout(pool: Pool) -> tuple[int, float]:
    """Return how many of the other steps are done if one does not end, and after what time."""
    started = time.perf_counter()
    done, _ = _done_beside(pool, _ENDLESS, _LIMIT)
    return done, time.perf_counter() - started


def _done_beside(pool: Pool, C: float, limit: float | None) -> tuple[int, int]:
    others = _steps(6)
    steps = [*others[:2], *_steps(1, C), *others[2:]]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for _ in pool(steps, store, limit):
            pass
        return len(store.read(others[0].cell).done), len(others)


def _outlives(name: str) -> bool:
    """Tell whether the worker of a pool goes on two seconds after its parent is killed."""
    command = [sys.executable, "-m", "benchmarks.workers", name]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    parent.stdout.readline()  # it has begun
    time.sleep(2.0)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    parent.kill()
    parent.wait()
    time.sleep(2.0)
    left = [child for child in children if Path(f"/proc/{child}").exists()]
    for child in left:
        os.kill(int(child), signal.SIGKILL)
    return bool(left)


def _hang(name: str) -> None:
    """Take a step and then one without end, and say when."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in _pools()[name]([*_steps(1), *_steps(1, _ENDLESS)], Store(Path(folder)), None):
            print("begun", flush=True)


if __name__ == "__main__":
    _hang(sys.argv[1])
