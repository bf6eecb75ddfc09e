"""Timing two ways of doing the same work side by side."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """One line of the benchmark table.

    `target` says what was asked for; `met` is None for a figure without a target.
    """

    name: str
    measured: str
    target: str
    met: bool | None


# The columns of a table of these.
FIGURES = {"figure": "{.name}", "measured": "{.measured}", "target": "{.target}"}


def alternate(
    first: Callable[[], object],
    second: Callable[[], object],
    repeats: int,
    clock: Callable[[], float] = perf_counter,
) -> tuple[float, float, float]:
    """Return median seconds of both and the median of their ratio, first over second.

    The two run in turn, so that a change of the machine's speed meets both alike. With
    ``time.process_time`` as `clock` they are seconds of the processor, for which it matters less
    what else the machine does.
    """
    first()
    second()
    first_seconds, second_seconds = [], []
    for _ in range(repeats):
        first_seconds.append(_seconds(first, clock))
        second_seconds.append(_seconds(second, clock))
    ratios = [a / b for a, b in zip(first_seconds, second_seconds, strict=True)]
    return (
        statistics.median(first_seconds),
        statistics.median(second_seconds),
        statistics.median(ratios),
    )


def median_of(
    work: Callable[[], T], seconds: Callable[[T], float], enough: float, repeats: int = 5
) -> T:
    """Return the result of median time of some work, which tells its own `seconds`.

    Work that is short is repeated, until all repeats together have taken `enough` seconds.
    """
    results = [work()]
    while len(results) < repeats and sum(map(seconds, results)) < enough:
        results.append(work())
    return sorted(results, key=seconds)[len(results) // 2]


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    started = clock()
    work()
    return clock() - started
