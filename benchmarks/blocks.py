"""What an iteration of the joint method costs a row, and what it sends: 10^8 samples on paper.

A block of the benchmark `scale` is asked what an iteration asks, by one thread; seconds are those
of the processor. Dask's part is measured between two worker processes of this machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.output import publish, table
from benchmarks.scale import samples
from benchmarks.timing import Result
from mklbench.certify import Hinge
from mklbench.kernels import feature_gaussians
from mklbench.optim.row_blocks import Rows, terms_of
from mklbench.optim.row_engines import FactorProblem

# Rows that are measured, and how often; what is asked for on paper.
_ROWS, _REPEATS = 200_000, 3
_N, _WORKERS = 10**8, 100
# Iterations of the hardest problem of `scale`, about, and looks at the certificate.
_ITERATIONS, _LOOKS = 50, 5
# Blocks of a worker of one thread, as `mklbench.optim.row_workers` has it.
_A_SLOT = 2
# Questions of an iteration, each of two tasks a block.
_QUESTIONS = 4
# Bytes a second of a network of 10 Gbit/s, which is what machines are taken to have.
_NETWORK = 1.25e9
_NUMBER = 8


@dataclass(frozen=True)
class Costs:
    """Measured on one processor.

    Attributes
    ----------
    rank : int
        R.
    single, double, certificate : float
        Seconds a row: of an iteration in either precision, of a certificate.
    task : float
        Seconds of the scheduler a task.
    between : float
        Bytes a second between two workers on this machine.
    """

    rank: int
    single: float
    double: float
    certificate: float
    task: float
    between: float


def run() -> list[Result]:
    """Measure; write the table of what follows for many workers."""
    costs = measured()
    rows = [
        ["columns of the factors, R", f"{costs.rank}"],
        ["an iteration, single precision", f"{1e6 * costs.single:.2f} us a row"],
        ["an iteration, double precision", f"{1e6 * costs.double:.2f} us a row"],
        ["a certificate", f"{1e6 * costs.certificate:.2f} us a row"],
        ["a task of Dask", f"{1e3 * costs.task:.2f} ms"],
        ["between two workers on this machine", f"{costs.between / 1e9:.2f} GB/s"],
    ]
    on_paper = estimate(costs)
    publish(
        "blocks.md",
        "Blocks of rows",
        f"Measured on {_ROWS:,} rows of 20 features by one thread, in seconds of the processor:",
        table(rows, ("what", "measured"), 1),
        f"What follows for {_N:.0e} samples on {_WORKERS} workers of one thread each, in "
        f"{_ITERATIONS} iterations and {_LOOKS} certificates, with a network of "
        f"{_NETWORK / 1e9:g} GB/s:",
        table([[name, text] for name, text in on_paper], ("what", "on paper"), 1),
    )
    return [Result(f"{_N:.0e} samples, {_WORKERS} workers: {on_paper[-1][0]}", on_paper[-1][1], "",
                   None)]  # fmt: skip


def estimate(costs: Costs) -> list[tuple[str, str]]:
    """Return in words what a fit on many workers takes.

    Parameters
    ----------
    costs : Costs
        Of one.
    """
    own = _N // _WORKERS
    blocks = _A_SLOT * _WORKERS
    square = _NUMBER * costs.rank**2
    computing = own * costs.single
    summing = blocks * square / _NETWORK  # the driver gets all of them
    tasks = _QUESTIONS * blocks * 2.0 * costs.task
    iteration = computing + summing + tasks
    kept = own * costs.rank * 4
    total = _ITERATIONS * iteration + _LOOKS * own * costs.certificate
    return [
        ("rows of a worker", f"{own:,}"),
        ("its rows of B, in single precision", f"{kept / 1e9:.2f} GB"),
        ("its vectors, of 25 numbers a sample", f"{25 * _NUMBER * own / 1e9:.2f} GB"),
        ("an iteration: computing", f"{computing:.1f} s"),
        ("an iteration: sums of R x R to the driver", f"{summing:.2f} s"),
        ("an iteration: tasks", f"{tasks:.1f} s"),
        ("sent by a worker in an iteration", f"{_A_SLOT * square / 1e6:.1f} MB"),
        ("a fit", f"{total / 60:.0f} min"),
    ]  # fmt: skip


def measured() -> Costs:
    """Measure a block of rows, and Dask."""
    X, y = samples(_ROWS, "noisy", 0)
    exact = feature_gaussians(X).row_factors()
    factors = exact.reduced(1e-5)
    terms = terms_of(Hinge(y, np.full(_ROWS, 10.0)))
    problem = FactorProblem(factors, exact, terms, np.float32)
    block = problem.block(slice(0, _ROWS))
    x = np.full(factors.rank, 1e-3)
    block, _ = block.asked("begin", (x, 0.0, 1.0))  # which makes the rows of B
    single, double = (_least(lambda: _iterate(block, x, wide)) for wide in (False, True))  # noqa: B023
    functions = np.full((exact.rank, 2), 1e-3)

    task, between = _dask()
    certificate = _least(lambda: block.asked("both_exactly", (y, functions)))
    return Costs(factors.rank, single / _ROWS, double / _ROWS, certificate / _ROWS, task, between)


def _iterate(block: Rows, x: np.ndarray, double: bool) -> None:
    for question, arguments in (
        ("linearise", (x, 0.0, double)),
        ("correct", (x, 0.0)),
        ("aim", (1.0,)),
        ("correct", (x, 0.0)),
        ("advance", (1e-3, True)),
    ):
        block, _ = block.asked(question, arguments)


def _least(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    found = []
    for _ in range(_REPEATS):
        start = clock()
        work()
        found.append(clock() - start)
    return min(found)


def _dask() -> tuple[float, float]:
    """Return seconds a task, and bytes a second between two workers."""
    from distributed import Client, LocalCluster, wait

    options = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        here, there = client.scheduler_info()["workers"]
        n_tasks, n_numbers = 400, 2**23

        def some() -> None:
            held = client.map(_next, range(n_tasks), pure=False)
            wait(client.map(_next, held, pure=False))

        def moved() -> None:
            made = client.submit(np.ones, n_numbers, workers=[here], pure=False)
            wait(made)
            starts.append(time.perf_counter())
            client.submit(len, made, workers=[there], pure=False).result()
            ends.append(time.perf_counter())

        starts: list[float] = []
        ends: list[float] = []
        some()
        task = _least(some, time.perf_counter) / (2 * n_tasks)
        for _ in range(_REPEATS):
            moved()
        least = min(b - a for a, b in zip(starts, ends, strict=True))
        return task, n_numbers * _NUMBER / least


def _next(number: int) -> int:
    return number + 1
