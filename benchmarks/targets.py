"""The default solver `mkl` beside what is asked of it, on every set and for C from 1 to 1000.

Asked for are few SVM calls, little time besides them, and speed beside the yardstick
(`benchmarks.newton_prototype`), each measured in turns within one run.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import reference, solving
from benchmarks.output import missing, publish, table_of, write_csv
from benchmarks.processes import limited
from benchmarks.solving import GAPS, Compared, Solved, stored_problems
from benchmarks.timing import Result

_LIMIT_SECONDS = 60.0
_ROUNDS = 5

# Targets of `mkl`: SVM calls to the first and the last gap, time in units of three times its SVM
# calls plus two readings of the kernels, speed beside the yardstick.
_CALLS = {GAPS[0]: 9, GAPS[-1]: 12}
_OVERHEAD = 1.0
_SPEEDUP = 4.0


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
    """Measure, print and write the table; return the targets."""
    absent: list[str] = []
    targets = list(_targets(absent))
    publish("targets.md", "mkl beside its targets", _table(targets), *missing(absent))
    write_csv("targets.csv", targets)
    return _results(targets)


def _targets(absent: list[str]) -> Iterator[Targets]:
    for name, kernels, _ in stored_problems(reference.GRID, absent):
        rounds = list(limited(solving.compare, kernels, _ROUNDS, seconds=_LIMIT_SECONDS))
        if rounds:
            yield Targets.of(name, rounds)


def _table(targets: Sequence[Targets]) -> str:
    columns = {
        "problem": "{0.problem}",
        "calls of mkl to 1e-2 / 1e-4": "{0.mkl_first.calls} / {0.mkl.calls}",
        "of the yardstick to 1e-4": "{0.yardstick.calls}",
        "mkl, s": "{0.seconds:.4f}",
        "its SVM calls, s": "{0.svm_seconds:.4f}",
        "one pass, s": "{0.pass_seconds:.4f}",
        "mkl / (3 SVM + 2 passes)": "{0.overhead:.2f}",
        "yardstick, s": "{0.yardstick_seconds:.4f}",
        "yardstick / mkl": "{0.speedup:.1f}",
    }
    legend = (
        f"`mkl` beside its targets, to a gap of 1e-4: medians over {_ROUNDS} rounds in which mkl, "
        f"the yardstick and one pass (the stack of Gram matrices times a vector) take turns. "
        f"`-`: not reached. Where the yardstick does not reach the gap, its time is that until it "
        f"gives up."
    )
    return f"{legend}\n\n{table_of(targets, columns, n_labels=1)}"


def _results(targets: Sequence[Targets]) -> list[Result]:
    if not targets:
        return []
    results = []
    for gap, limit in _CALLS.items():
        solves = {one.problem: one.mkl_first if gap == GAPS[0] else one.mkl for one in targets}
        worst = max(solves, key=lambda name: (not solves[name].converged, solves[name].n_svm_calls))
        results.append(
            Result(
                f"SVM calls of mkl to gap {gap:g}, most on {len(solves)} problems",
                f"{solves[worst].calls} ({worst})",
                f"<= {limit}",
                all(one.converged and one.n_svm_calls <= limit for one in solves.values()),
            )
        )
    slow = max(targets, key=lambda one: one.overhead)
    near = min(targets, key=lambda one: one.speedup)
    held = sum(one.mkl.converged and one.overhead <= _OVERHEAD for one in targets)
    faster = sum(one.mkl.converged and one.speedup >= _SPEEDUP for one in targets)
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
