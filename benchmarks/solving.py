"""What runs in the processes of the solver benchmarks: solvers on the reference problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks import newton_prototype
from benchmarks.processes import Send, forget_peak, peak_megabytes
from benchmarks.reference import synthetic_samples
from mklbench.algorithms import exact_solvers
from mklbench.kernels import PrecomputedBank, feature_gaussians
from mklbench.solution import Solution

Array = NDArray[np.float64]

YARDSTICK = "yardstick"
GAPS = (1e-2, 1e-3, 1e-4)

# A short solve is repeated so often, or until all repeats together have taken so long.
_REPEATS = 5
_ENOUGH_SECONDS = 0.5


@dataclass(frozen=True)
class Kernels:
    """A problem as it is passed to a process: the file of its Gram matrices, labels and C."""

    path: Path
    y: Array
    C: float

    def load(self) -> Array:
        """Return the Gram matrices (M, n, n)."""
        return np.load(self.path)


@dataclass(frozen=True)
class Solved:
    """One solve, timed: the seconds are medians over the repeats."""

    gap: float
    converged: bool
    n_svm_calls: int
    seconds: float
    svm_seconds: float
    objective: float


@dataclass(frozen=True)
class Compared:
    """One round: mkl to the first and the last of `GAPS`, the yardstick to the last, and one
    reading of the stack of Gram matrices (a product with a vector).
    """

    mkl_first: Solved
    mkl: Solved
    yardstick: Solved
    pass_seconds: float


def names() -> list[str]:
    """Return the exact solvers of the package and the yardstick."""
    return [*exact_solvers(), YARDSTICK]


def solve_to_gaps(send: Send, solver: str, kernels: Kernels) -> None:
    """Send a `Solved` for every gap of `GAPS`, as far as it is reached, then the peak memory.

    Each gap is one solve from the start with that `tol`. The memory, in megabytes, is sent after
    every solve and counts from when the process has the kernels.
    """
    run = _prepared(solver, kernels)
    forget_peak()
    before = peak_megabytes()
    for gap in GAPS:
        solved = _repeated(run, gap)
        send((gap, solved, peak_megabytes() - before))
        if not solved.converged:
            break


def compare(send: Send, kernels: Kernels, repeats: int) -> None:
    """Send one `Compared` a repeat; the two solvers and the reading take turns."""
    mkl, yardstick = (_prepared(name, kernels) for name in ("mkl", YARDSTICK))
    K = kernels.load()
    rows = K.reshape(-1, K.shape[-1])
    for _ in range(repeats):
        started = perf_counter()
        rows @ kernels.y
        pass_seconds = perf_counter() - started
        solves = [_timed(mkl, GAPS[0]), _timed(mkl, GAPS[-1]), _timed(yardstick, GAPS[-1])]
        send(Compared(*solves, pass_seconds))


def _prepared(solver: str, kernels: Kernels) -> Callable[[float], Solution]:
    """Return tol -> solution of a solver on kernels that are loaded now, warmed up."""
    K = kernels.load()
    if solver == YARDSTICK:
        solve = newton_prototype.solve
        operator = K
    else:
        solve = exact_solvers()[solver]
        operator = PrecomputedBank(K)
    _warm_up(solver)
    return lambda tol: solve(operator, kernels.y, kernels.C, tol=tol)


def _warm_up(solver: str) -> None:
    """Load the libraries with a small problem, so that no measurement pays for them."""
    X, y = synthetic_samples()
    bank = feature_gaussians(X[:, :3])
    if solver == YARDSTICK:
        stack = np.array([bank.combine(unit) for unit in np.eye(3)])
        newton_prototype.solve(stack, y, tol=1e-1)
    else:
        exact_solvers()[solver](bank, y, tol=1e-1)


def _repeated(run: Callable[[float], Solution], tol: float) -> Solved:
    solves = [_timed(run, tol)]
    while len(solves) < _REPEATS and sum(one.seconds for one in solves) < _ENOUGH_SECONDS:
        solves.append(_timed(run, tol))
    return sorted(solves, key=lambda one: one.seconds)[len(solves) // 2]


def _timed(run: Callable[[float], Solution], tol: float) -> Solved:
    """Run once and keep the figures."""
    started = perf_counter()
    solution = run(tol)
    seconds = perf_counter() - started
    return Solved(
        gap=solution.gap,
        converged=solution.converged,
        n_svm_calls=solution.n_svm_calls,
        seconds=seconds,
        svm_seconds=solution.svm_seconds,
        objective=solution.objective,
    )
