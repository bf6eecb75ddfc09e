"""Every exact solver and the yardstick on the reference problems: calls, time, memory.

Every figure is of one solve from the start that stops at the gap in question (``tol``); kernels
are given as a `PrecomputedBank`, whose making is not counted; BLAS has one thread. A solve that takes longer than
`LIMIT_SECONDS` is ended, and the smaller gaps are not tried.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks import reference, solving
from benchmarks.output import conditions, table, write_csv, write_text
from benchmarks.processes import limited
from benchmarks.solving import GAPS, YARDSTICK, Compared, Kernels, Solved
from benchmarks.timing import Result
from mklbench.errors import DataError

LIMIT_SECONDS = 60.0
_ROUNDS = 5

# Targets of `mkl`: SVM calls to the first and the last gap, time in units of three times its SVM
# calls plus two readings of the kernels, speed beside the yardstick.
_CALLS = {GAPS[0]: 9, GAPS[-1]: 12}
_OVERHEAD = 1.0
_SPEEDUP = 4.0

# SVM calls of the SimpleMKL toolbox in Octave to a gap of 1e-2 on these problems.
_TOOLBOX_CALLS = {
    "synthetic-C10": 1051,
    "liver-C1000": 134,
    "wpbc-C100": 627,
    "ionosphere-C100": 1431,
}


@dataclass(frozen=True)
class Row:
    """One solver on one problem.

    Attributes
    ----------
    size : n_kernels, n_samples.
    solved : by gap, as far as it was reached; else None.
    memory : peak megabytes beyond the kernels.
    """

    problem: str
    size: tuple[int, int]
    solver: str
    solved: dict[float, Solved | None]
    memory: float | None

    @property
    def last(self) -> Solved | None:
        """The solve to the smallest gap that was reached."""
        return next((one for one in reversed(self.solved.values()) if one is not None), None)


@dataclass(frozen=True)
class Targets:
    """`mkl` beside what is asked of it, on one problem: medians over rounds of one run."""

    problem: str
    mkl_first: Solved
    mkl: Solved
    yardstick: Solved
    seconds: float
    svm_seconds: float
    pass_seconds: float
    yardstick_seconds: float
    overhead: float
    speedup: float

    @classmethod
    def of(cls, problem: str, rounds: Sequence[Compared]) -> Targets:
        """Summarise the rounds."""

        def overhead(one: Compared) -> float:
            return one.mkl.seconds / (3.0 * one.mkl.svm_seconds + 2.0 * one.pass_seconds)

        return cls(
            problem,
            rounds[0].mkl_first,
            rounds[0].mkl,
            rounds[0].yardstick,
            statistics.median(one.mkl.seconds for one in rounds),
            statistics.median(one.mkl.svm_seconds for one in rounds),
            statistics.median(one.pass_seconds for one in rounds),
            statistics.median(one.yardstick.seconds for one in rounds),
            statistics.median(overhead(one) for one in rounds),
            statistics.median(one.yardstick.seconds / one.mkl.seconds for one in rounds),
        )


def run() -> list[Result]:
    """Measure, print and write both tables; return the targets."""
    absent: list[str] = []
    rows = list(_solver_rows(reference.NAMES, absent))
    targets = list(_target_rows(reference.GRID, absent))
    text = "\n\n".join([conditions(), _solver_table(rows), _target_table(targets)])
    if absent:
        text += (
            f"\n\nNot measured, as the data are not at hand: {', '.join(dict.fromkeys(absent))}."
        )
    print(text, end="\n\n", flush=True)
    write_text("solvers.md", f"# Exact solvers\n\n{text}\n")
    write_csv("solvers.csv", _solver_records(rows))
    write_csv("targets.csv", _target_records(targets))
    return [*_mkl_results(targets), *_toolbox_results(rows)]


def _problems(names: Sequence[str], absent: list[str]) -> Iterator[tuple[str, Kernels, np.ndarray]]:
    """Yield name, what a process needs of it and its Gram matrices; note the sets that lack."""
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
                yield name, Kernels(path, problem.y, problem.C), problem.K


def _solver_rows(names: Sequence[str], absent: list[str]) -> Iterator[Row]:
    for name, kernels, K in _problems(names, absent):
        for solver in solving.names():
            solved: dict[float, Solved | None] = dict.fromkeys(GAPS)
            memory = None
            work = limited(solving.solve_to_gaps, solver, kernels, seconds=LIMIT_SECONDS)
            for gap, one, peak in work:
                solved[gap] = one if one.converged else None
                memory = peak
            yield Row(name, K.shape[:2], solver, solved, memory)


def _target_rows(names: Sequence[str], absent: list[str]) -> Iterator[Targets]:
    for name, kernels, _ in _problems(names, absent):
        rounds = list(limited(solving.compare, kernels, _ROUNDS, seconds=LIMIT_SECONDS))
        if rounds:
            yield Targets.of(name, rounds)


def _solver_table(rows: Sequence[Row]) -> str:
    gaps = ", ".join(f"{gap:.0e}".replace("e-0", "e-") for gap in GAPS)
    cells = []
    for row in rows:
        solves = row.solved.values()
        last = row.last
        optimum = reference.optimum(row.problem)
        cells.append(
            (
                row.problem,
                f"{row.size[1]} x {row.size[0]}",
                row.solver,
                " / ".join("-" if one is None else str(one.n_svm_calls) for one in solves),
                " / ".join("-" if one is None else f"{one.seconds:.3g}" for one in solves),
                "-" if last is None else f"{last.svm_seconds / last.seconds:.0%}",
                "-" if row.memory is None else f"{row.memory:.1f}",
                "-"
                if last is None or optimum is None
                else f"{last.objective / optimum.value - 1:.0e}",
            )
        )
    headers = (
        "problem", "n x M", "solver", f"SVM calls to {gaps}", f"seconds to {gaps}",
        "inside LIBSVM", "memory, MB", "J / optimum - 1",
    )  # fmt: skip
    legend = (
        f"Kernels given. One solve a gap, from the start and with that `tol` (up to five where it is short; the "
        f"median); `-`: not reached in {LIMIT_SECONDS:.0f} s or by the solver's own limits. Share "
        f"inside LIBSVM and J are of the smallest gap reached; memory is the growth of the peak "
        f"over a process that has the kernels. `{YARDSTICK}` is `benchmarks/newton_prototype.py`."
    )
    return f"{legend}\n\n{table(cells, headers, n_labels=3)}"


def _target_table(targets: Sequence[Targets]) -> str:
    cells = [
        (
            one.problem,
            " / ".join(_calls(solved) for solved in (one.mkl_first, one.mkl)),
            _calls(one.yardstick),
            f"{one.seconds * 1e3:.1f}",
            f"{one.svm_seconds * 1e3:.1f}",
            f"{one.pass_seconds * 1e3:.1f}",
            f"{one.overhead:.2f}",
            f"{one.yardstick_seconds * 1e3:.1f}",
            f"{one.speedup:.1f}" + ("" if one.yardstick.converged else " or more"),
        )
        for one in targets
    ]
    headers = (
        "problem", "calls of mkl to 1e-2 / 1e-4", "of the yardstick to 1e-4", "mkl, ms",
        "its SVM calls, ms", "one pass, ms", "mkl / (3 SVM + 2 passes)", "yardstick, ms",
        "yardstick / mkl",
    )  # fmt: skip
    legend = (
        f"`mkl` beside its targets, to a gap of 1e-4: medians over {_ROUNDS} rounds in which mkl, "
        f"the yardstick and one pass (the stack of Gram matrices times a vector) take turns. "
        f"`-`: not reached. Where the yardstick does not reach the gap, its time is that until it "
        f"gives up."
    )
    return f"{legend}\n\n{table(cells, headers, n_labels=1)}"


def _calls(solved: Solved) -> str:
    return str(solved.n_svm_calls) if solved.converged else "-"


def _solver_records(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {
            "problem": row.problem,
            "n_samples": row.size[1],
            "n_kernels": row.size[0],
            "solver": row.solver,
            "tol": gap,
            "reached": one is not None,
            "gap": one and one.gap,
            "svm_calls": one and one.n_svm_calls,
            "seconds": one and one.seconds,
            "svm_seconds": one and one.svm_seconds,
            "objective": one and one.objective,
            "memory_megabytes": row.memory,
        }
        for row in rows
        for gap, one in row.solved.items()
    ]


def _target_records(targets: Sequence[Targets]) -> list[dict[str, object]]:
    return [
        {
            "problem": one.problem,
            "mkl_calls_to_1e-2": one.mkl_first.n_svm_calls,
            "mkl_reached_1e-2": one.mkl_first.converged,
            "mkl_calls_to_1e-4": one.mkl.n_svm_calls,
            "mkl_reached_1e-4": one.mkl.converged,
            "yardstick_calls_to_1e-4": one.yardstick.n_svm_calls,
            "yardstick_reached_1e-4": one.yardstick.converged,
            "mkl_seconds": one.seconds,
            "mkl_svm_seconds": one.svm_seconds,
            "pass_seconds": one.pass_seconds,
            "yardstick_seconds": one.yardstick_seconds,
            "mkl_over_3_svm_and_2_passes": one.overhead,
            "yardstick_over_mkl": one.speedup,
        }
        for one in targets
    ]


def _mkl_results(targets: Sequence[Targets]) -> list[Result]:
    if not targets:
        return []
    results = []
    for gap, limit in _CALLS.items():
        solves = {one.problem: one.mkl_first if gap == GAPS[0] else one.mkl for one in targets}
        worst = max(solves, key=lambda name: (not solves[name].converged, solves[name].n_svm_calls))
        results.append(
            Result(
                f"SVM calls of mkl to gap {gap:g}, most on {len(solves)} problems",
                f"{_calls(solves[worst])} ({worst})",
                f"<= {limit}",
                all(one.converged and one.n_svm_calls <= limit for one in solves.values()),
            )
        )
    slow = max(targets, key=lambda one: one.overhead)
    near = min(targets, key=lambda one: one.speedup)
    held = sum(one.overhead <= _OVERHEAD for one in targets)
    faster = sum(one.speedup >= _SPEEDUP for one in targets)
    middle = statistics.median(one.overhead for one in targets)
    usual = statistics.median(one.speedup for one in targets)
    return [
        *results,
        Result(
            "time of mkl / (3 x its SVM calls + 2 passes)",
            f"median {middle:.2f}, largest {slow.overhead:.2f} ({slow.problem}), "
            f"held on {held} of {len(targets)}",
            f"<= {_OVERHEAD:g}",
            held == len(targets),
        ),
        Result(
            "time of the yardstick / time of mkl",
            f"median {usual:.1f}, smallest {near.speedup:.1f} ({near.problem}), "
            f"held on {faster} of {len(targets)}",
            f">= {_SPEEDUP:g}",
            faster == len(targets),
        ),
    ]


def _toolbox_results(rows: Sequence[Row]) -> list[Result]:
    results = []
    for row in rows:
        published = _TOOLBOX_CALLS.get(row.problem)
        if row.solver != "simplemkl" or published is None:
            continue
        solved = row.solved[GAPS[0]]
        results.append(
            Result(
                f"SVM calls of SimpleMKL to gap {GAPS[0]:g} / of the authors' toolbox, "
                f"{row.problem}",
                "not reached" if solved is None else str(solved.n_svm_calls),
                f"<= {published}",
                solved is not None and solved.n_svm_calls <= published,
            )
        )
    return results
