"""The interior point of the local model beside Clarabel and PIQP, on the programmes `mkl` meets.

They are taken down as `mkl` solves the first split of each set. The clock of each solver starts at
the arrays Q and X, and all have the same stopping rule, that of `mkl` or a sharp one; how near they
come is the value at their alpha, put within the bounds, beside the highest value found.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import process_time
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.output import missing, publish, table
from benchmarks.problems import first_split
from benchmarks.timing import Result
from mklbench.algorithms import mkl
from mklbench.errors import DataError
from mklbench.kernels import simplemkl_bank
from mklbench.optim import interior_point
from mklbench.optim.interior_point import Iterate, Programme

Array = NDArray[np.float64]
# Given (programme, start, tol) it returns alpha and the iterations.
Solver = Callable[[Programme, Iterate, float], tuple[Array, int]]

_SETS = ("liver", "ionosphere", "pima", "wpbc", "sonar")
_CS = (1.0, 100.0)
_REPEATS = 5
_SHARP = 1e-9


@dataclass(frozen=True)
class Captured:
    """A programme, and how it was to be solved."""

    programme: Programme
    start: Iterate
    tol: float


@dataclass(frozen=True)
class Solved:
    """How a solver did on one programme: seconds of the processor, the value, the imbalance."""

    iterations: int
    seconds: float
    value: float
    imbalance: float


def run() -> list[Result]:
    """Measure, print and write the table; return how much faster the own method is."""
    absent: list[str] = []
    captured = list(_captured(absent))
    sharp = [replace(one, tol=_SHARP) for one in captured]
    solvers = _solvers()
    measured = [
        {name: [_solved(solve, one) for one in some] for name, solve in solvers.items()}
        for some in (captured, sharp)
    ]
    rows = [
        row
        for rule, some in zip(("of mkl", f"{_SHARP:g}"), measured, strict=True)
        for row in _rows(rule, some)
    ]
    publish("programmes.md", "Interior points", _table(captured, rows), *missing(absent))
    return [
        Result(
            f"interior point: {name} / own, {len(captured)} programmes of mkl",
            f"{_ratio(others, measured[0]['own']):.1f}",
            "",
            None,
        )
        for name, others in measured[0].items()
        if name != "own"
    ]


def _captured(absent: list[str]) -> Iterator[Captured]:
    for name in _SETS:
        try:
            split = first_split(name)
        except DataError:
            absent.append(name)
            continue
        for C in _CS:
            with _listening() as found:
                mkl.solve(simplemkl_bank(split.X), split.y, C)
            yield from found


@contextmanager
def _listening() -> Iterator[list[Captured]]:
    """Take down what the interior point is asked."""
    found: list[Captured] = []
    own = interior_point.maximise

    def listening(programme: Programme, start: Iterate, tol: float) -> Iterate:
        found.append(Captured(programme, start, tol))
        return own(programme, start, tol)

    with mock.patch.object(interior_point, "maximise", listening):
        yield found


def _solvers() -> dict[str, Solver]:
    """Return the solvers there are: PIQP is no dependency of the program."""
    solvers: dict[str, Solver] = {"own": _own, "Clarabel": _clarabel}
    try:
        import piqp  # noqa: F401
    except ImportError:
        return solvers
    return solvers | {"PIQP": _piqp}


def _own(programme: Programme, start: Iterate, tol: float) -> tuple[Array, int]:
    iterations = 0
    system = interior_point._NewtonSystem

    def counting(*arguments: object) -> object:
        nonlocal iterations
        iterations += 1
        return system(*arguments)  # type: ignore[arg-type]

    with mock.patch.object(interior_point, "_NewtonSystem", counting):
        return interior_point.maximise(programme, start, tol).alpha, iterations


def _clarabel(programme: Programme, start: Iterate, tol: float) -> tuple[Array, int]:
    import clarabel
    from scipy import sparse

    n, w = programme.X.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.direct_solve_method = "qdldl"  # of one thread
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    quadratic = np.zeros((n + 1, n + 1))
    quadratic[:n, :n], quadratic[n, n] = np.triu(programme.Q), 1.0
    rows = np.zeros((1 + w + 2 * n, n + 1))
    rows[0, :n], rows[1 : 1 + w, :n], rows[1 : 1 + w, n] = programme.y, programme.X.T, -1.0
    rows[1 + w : 1 + w + n, :n], rows[1 + w + n :, :n] = -np.eye(n), np.eye(n)
    right = np.concatenate([[programme.balance], -programme.offset, np.zeros(n), programme.upper])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(w + 2 * n)]
    costs = np.append(-programme.p, 0.0)
    solved = clarabel.DefaultSolver(
        sparse.csc_matrix(quadratic), costs, sparse.csc_matrix(rows), right, cones, settings
    ).solve()
    return np.array(solved.x[:n]), solved.iterations


def _piqp(programme: Programme, start: Iterate, tol: float) -> tuple[Array, int]:
    import piqp

    n, w = programme.X.shape
    quadratic = np.zeros((n + 1, n + 1))
    quadratic[:n, :n], quadratic[n, n] = programme.Q, 1.0
    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = tol
    solver.setup(
        quadratic,
        np.append(-programme.p, 0.0),
        np.append(programme.y, 0.0)[None],
        np.array([programme.balance]),
        np.column_stack([programme.X.T, np.full(w, -1.0)]),
        None,
        -programme.offset,
        np.append(np.zeros(n), -np.inf),
        np.append(programme.upper, np.inf),
    )
    solver.solve()
    return solver.result.x[:n], solver.result.info.iter


def _solved(solve: Solver, one: Captured) -> Solved:
    alpha, iterations = solve(one.programme, one.start, one.tol)
    seconds = []
    for _ in range(_REPEATS):
        started = process_time()
        solve(one.programme, one.start, one.tol)
        seconds.append(process_time() - started)
    p = one.programme
    inside = np.clip(alpha, 0.0, p.upper)
    tau = float((p.offset + p.X.T @ inside).max())
    value = float(p.p @ inside - 0.5 * inside @ p.Q @ inside) - 0.5 * tau**2
    imbalance = abs(float(p.y @ inside) - p.balance) / float(inside.sum())
    return Solved(iterations, statistics.median(seconds), value, imbalance)


def _ratio(others: list[Solved], own: list[Solved]) -> float:
    return statistics.median(a.seconds / b.seconds for a, b in zip(others, own, strict=True))


def _rows(rule: str, measured: dict[str, list[Solved]]) -> Iterator[tuple[str, ...]]:
    best = [max(one.value for one in some) for some in zip(*measured.values(), strict=True)]
    for name, solved in measured.items():
        below = [(top - one.value) / abs(top) for top, one in zip(best, solved, strict=True)]
        yield (
            rule,
            name,
            f"{statistics.median(one.iterations for one in solved):g}",
            f"{statistics.median(below):.0e} / {max(below):.0e}",
            f"{max(one.imbalance for one in solved):.0e}",
            f"{statistics.median(one.seconds for one in solved) * 1e3:.2f}",
            f"{sum(one.seconds for one in solved) * 1e3:.0f}",
            f"{_ratio(solved, measured['own']):.1f}",
        )


def _table(captured: list[Captured], rows: list[tuple[str, ...]]) -> str:
    headers = (
        "stop", "solver", "iterations, median", "below the highest value, median / worst",
        "y'alpha off, worst", "ms, median", "ms, all", "time / own, median",
    )  # fmt: skip
    n, w = ([one.programme.X.shape[i] for one in captured] for i in (0, 1))
    legend = (
        f"The {len(captured)} quadratic programmes that `mkl` meets on the first splits of "
        f"{', '.join(_SETS)} with C = {' and '.join(f'{C:g}' for C in _CS)}, of "
        f"{min(n, default=0)} to {max(n, default=0)} alpha and {min(w, default=0)} to "
        f"{max(w, default=0)} kernels; seconds of the processor, medians of {_REPEATS}. The own "
        f"method alone starts from the last point."
    )
    return f"{legend}\n\n{table(rows, headers, n_labels=2)}"
