"""Solvers of several problems at once, written once: the function of one problem is made of theirs.

An algorithm writes one function with the parameters of its `solve`. It checks them, does what all
problems share, and returns a function from several values of one option to their solutions. Under
`one_of` that is `solve`, and `path_of` makes of it the `solve_path` of `mklbench.contract`.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from mklbench.solution import Solution
from mklbench.validation import check_count, check_not_empty

Iterate = TypeVar("Iterate")
P = ParamSpec("P")

# From several values of an option to the solution of each.
Several = Callable[[Sequence[Any]], list[Solution]]


def one_of(option: str) -> Callable[[Callable[P, Several]], Callable[P, Solution]]:
    """Make a `solve` of a function that returns what solves for several values of `option`."""

    def made(begin: Callable[P, Several]) -> Callable[P, Solution]:
        @functools.wraps(begin)
        def solve(*args: P.args, **options: P.kwargs) -> Solution:
            given = inspect.signature(begin).bind(*args, **options)
            given.apply_defaults()
            (solution,) = begin(*args, **options)([given.arguments[option]])
            return solution

        return solve

    return made


def path_of(solve: Callable[..., Solution], option: str) -> Callable[..., list[Solution]]:
    """Make ``solve_path(operator, y, values, ...)`` of what `one_of` has made."""
    begin = inspect.unwrap(solve)

    def solve_path(operator: Any, y: Any, values: Any, *args: Any, **options: Any) -> Any:
        """Return what `solve` returns for each value of the option, at the price of one."""
        check_not_empty(option, values)
        return begin(operator, y, *args, **{**options, option: values[0]})(values)

    return solve_path


def iterations_of(
    points: Iterable[tuple[Iterate, bool]],
    max_iter: int,
    solution: Callable[[Iterate, bool], Solution],
) -> Several:
    """Return what ends one descent after several numbers of iterations, None for no such end.

    The SVM calls and the seconds of a solution are those until then.

    Parameters
    ----------
    points : iterable of tuple of Iterate, bool
        The iterates, the start first, each with whether the descent ends there by itself.
    max_iter : int
        The limit on the iterations.
    solution : callable
        Makes the solution of the iterate that has just come from `points`; its second
        argument says whether an end that was asked for has been reached.
    """

    def solutions(iterations: Sequence[int | None]) -> list[Solution]:
        ends = [math.inf if k is None else check_count("iterations", k, 0) for k in iterations]
        found: dict[float, Solution] = {}
        for number, (point, has_ended) in enumerate(points):
            is_last = has_ended or number == max_iter or number == max(ends)
            for end in {end for end in ends if end == number or (is_last and end > number)}:
                found[end] = solution(point, end == number)
            if is_last:
                break
        return [found[end] for end in ends]

    return solutions
