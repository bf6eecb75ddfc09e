"""What runs in the processes of the solver benchmarks: solvers on the reference problems."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks import newton_prototype, reference
from benchmarks.processes import Send, forget_peak, peak_megabytes
from benchmarks.reference import synthetic_samples
from benchmarks.timing import median_of
from mklbench import certify
from mklbench.algorithms import all_algorithms, vskl
from mklbench.certify import Hinge, PrimalDualPoint
from mklbench.contract import Solver
from mklbench.errors import DataError
from mklbench.kernels import Bank, PrecomputedBank, feature_gaussians
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution

Array = NDArray[np.float64]

YARDSTICK = "yardstick"
GAPS = (1e-2, 1e-3, 1e-4)

# The benchmarks limit the time of a solve, not its iterations.
NO_LIMIT = 10**6

# What a gap that is computed anew may be above the solver's own.
_ROUNDING = 1e-6


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
    """One solve: whether it was converged with a certified gap, calls, time and J."""

    gap: float
    converged: bool
    n_svm_calls: int
    seconds: float
    svm_seconds: float
    objective: float

    @property
    def calls(self) -> str:
        """SVM calls as they are shown: ``-`` where the gap was not reached."""
        return str(self.n_svm_calls) if self.converged else "-"


@dataclass(frozen=True)
class Compared:
    """One round: mkl to the first and the last of `GAPS`, the yardstick to the last, and one
    reading of the stack of Gram matrices (a product with a vector).
    """

    mkl_first: Solved
    mkl: Solved
    yardstick: Solved
    pass_seconds: float


def stored_problems(
    names: Sequence[str], absent: list[str]
) -> Iterator[tuple[str, Kernels, tuple[int, int]]]:
    """Yield for every reference problem its name, what a process needs of it, and (M, n).

    The sets whose data cannot be had are left out and their names added to `absent`.
    """
    for base, group in groupby(names, key=lambda name: name.split("-")[0]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernels.npy"
            for name in group:
                try:
                    problem = reference.load(name)
                except DataError:
                    absent.append(base)
                    break
                if not path.exists():
                    np.save(path, problem.K)
                yield name, Kernels(path, problem.y, problem.C), problem.K.shape[:2]


def mkl_solvers() -> dict[str, Callable[..., Solution]]:
    """Return name -> ``solve`` of the exact solvers of the package, and of VSKL on one group."""
    exact = {name: found.solve for name, found in all_algorithms().items() if found.exact}
    return {**exact, "vskl": partial(vskl.solve, groups="one")}


def names() -> list[str]:
    """Return the solvers of MKL and the yardstick."""
    return [*mkl_solvers(), YARDSTICK]


def solve_to_gaps(send: Send, solver: str, kernels: Kernels) -> None:
    """Send a `Solved` for every gap of `GAPS`, as far as it is reached, then the peak memory.

    Each gap is one solve from the start with that `tol`, without a limit on its iterations. The
    memory, in megabytes, is sent after every solve and counts from when the process has the
    kernels.
    """
    run = _prepared(solver, kernels, kernels.load())
    forget_peak()
    before = peak_megabytes()
    for gap in GAPS:
        solved = median_of(partial(run, gap), lambda one: one.seconds, enough=0.5)
        send((gap, solved, peak_megabytes() - before))
        if not solved.converged:
            break


def compare(send: Send, kernels: Kernels, repeats: int) -> None:
    """Send one `Compared` a repeat; the two solvers and the reading take turns."""
    K = kernels.load()
    mkl, yardstick = (_prepared(name, kernels, K) for name in ("mkl", YARDSTICK))
    rows = K.reshape(-1, K.shape[-1])
    for _ in range(repeats):
        started = perf_counter()
        rows @ kernels.y
        pass_seconds = perf_counter() - started
        solves = mkl(GAPS[0]), mkl(GAPS[-1]), yardstick(GAPS[-1])
        send(Compared(*solves, pass_seconds))


def _prepared(solver: str, kernels: Kernels, K: Array) -> Callable[[float], Solved]:
    """Return tol -> `Solved` of a solver on the Gram matrices `K`, warmed up.

    The gap is computed anew from what a solver returns, outside the clock. The yardstick's is its
    own, to the best lower bound that it has seen.
    """
    _warm_up(solver)
    bank = None if solver == YARDSTICK else PrecomputedBank(K)
    solve: Solver = newton_prototype.solve if bank is None else mkl_solvers()[solver]

    def run(tol: float) -> Solved:
        started = perf_counter()
        found = solve(K if bank is None else bank, kernels.y, kernels.C, tol=tol, max_iter=NO_LIMIT)
        seconds = perf_counter() - started
        gap = found.gap if bank is None else certified(bank, kernels.y, kernels.C, found)
        return Solved(
            gap=gap,
            converged=found.converged and gap <= tol * (1.0 + _ROUNDING),
            n_svm_calls=found.n_svm_calls,
            seconds=seconds,
            svm_seconds=found.svm_seconds,
            objective=found.objective,
        )

    return run


def certified(bank: Bank, y: Array, C: float, found: Solution) -> float:
    """Return the relative gap of a solution, computed anew from its weights and coefficients."""
    point = PrimalDualPoint.on_bank(bank, Hinge(y, C), found)
    return certify.bounds(point, Simplex()).relative_gap


def _warm_up(solver: str) -> None:
    """Load the libraries with a small problem, so that no measurement pays for them."""
    X, y = synthetic_samples()
    bank = feature_gaussians(X[:, :3])
    if solver == YARDSTICK:
        stack = np.array([bank.combine(unit) for unit in np.eye(3)])
        newton_prototype.solve(stack, y, tol=1e-1)
    else:
        mkl_solvers()[solver](bank, y, tol=1e-1)
