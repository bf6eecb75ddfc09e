"""Descents that may be ended early: the solutions after several numbers of iterations of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mklbench.solution import Solution
from mklbench.validation import check_count, check_not_empty

Iterate = TypeVar("Iterate")


def ends(iterations: Sequence[int | None]) -> Sequence[float]:
    """Return the numbers of iterations after which to end; infinity for None.

    Raises
    ------
    InputError
        If there are none, or one is no whole number >= 0.
    """
    return check_not_empty(
        "iterations",
        [math.inf if k is None else float(check_count("iterations", k, 0)) for k in iterations],
    )


def path(
    points: Iterable[tuple[Iterate, bool]],
    ends: Sequence[float],
    max_iter: int,
    solution: Callable[[Iterate, bool], Solution],
) -> list[Solution]:
    """Return the solutions of a descent at each of the `ends`.

    Parameters
    ----------
    points : iterable of tuple of Iterate, bool
        The iterates, the start first, each with whether the descent ends there by itself.
    ends : sequence of float
        Numbers of iterations, as `ends` returns them.
    max_iter : int
        The limit on the iterations.
    solution : callable
        Makes the solution of the iterate that has just come from `points`; its second
        argument says whether an end that was asked for has been reached.
    """
    found: dict[float, Solution] = {}
    for number, (point, has_ended) in enumerate(points):
        is_last = has_ended or number == max_iter or number == max(ends)
        for end in {end for end in ends if end == number or (is_last and end > number)}:
            found[end] = solution(point, end == number)
        if is_last:
            break
    return [found[end] for end in ends]
