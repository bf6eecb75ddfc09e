"""Every solver of MKL and the yardstick on the reference problems: calls, time, memory.

Every figure is of one solve from the start that stops at the gap in question (``tol``); kernels
are given as a `PrecomputedBank`, whose making is not counted; BLAS has one thread. A solve that
takes longer than `LIMIT_SECONDS` is ended, and the smaller gaps are not tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks import reference, solving
from benchmarks.output import missing, publish, table, write_csv
from benchmarks.processes import limited
from benchmarks.solving import GAPS, YARDSTICK, Solved, stored_problems
from benchmarks.timing import Result

LIMIT_SECONDS = 60.0


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


def run() -> list[Result]:
    """Measure, print and write the table. There is no target."""
    absent: list[str] = []
    rows = list(_rows(absent))
    title = "Exact solvers on the reference problems"
    publish("solvers.md", title, _table(rows), *missing(absent))
    write_csv("solvers.csv", _records(rows))
    return []


def _rows(absent: list[str]) -> Iterator[Row]:
    for name, kernels, size in stored_problems(reference.NAMES, absent):
        for solver in solving.names():
            solved: dict[float, Solved | None] = dict.fromkeys(GAPS)
            memory = None
            work = limited(solving.solve_to_gaps, solver, kernels, seconds=LIMIT_SECONDS)
            for gap, one, peak in work:
                solved[gap] = one if one.converged else None
                memory = peak
            yield Row(name, size, solver, solved, memory)


def _table(rows: Sequence[Row]) -> str:
    gaps = ", ".join(f"{gap:.0e}".replace("e-0", "e-") for gap in GAPS)
    runs = []
    for row in rows:
        solves = row.solved.values()
        last = row.last
        optimum = reference.optimum(row.problem)
        runs.append(
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
        f"Kernels given. One solve a gap, from the start and with that `tol` (up to five where it "
        f"is short; the median); `-`: not reached in {LIMIT_SECONDS:.0f} s, or the solver found no "
        f"way to go on. Share inside LIBSVM and J are of the smallest gap reached; memory is the "
        f"growth of the peak over a process that has the kernels. `{YARDSTICK}` is "
        f"`benchmarks/newton_prototype.py`."
    )
    return f"{legend}\n\n{table(runs, headers, n_labels=3)}"


def _records(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {
            "problem": row.problem,
            "n_samples": row.size[1],
            "n_kernels": row.size[0],
            "solver": row.solver,
            "memory_megabytes": row.memory,
            "tol": gap,
            "reached": one is not None,
            **({} if one is None else asdict(one)),
        }
        for row in rows
        for gap, one in row.solved.items()
    ]
