"""Grids of C and of the ridge lambda in units of the kernel, and the search along them.

Kernels that are ten times as large need a tenth of C and ten times the lambda for the same machine.
With k the mean diagonal of the uniform combination of the training kernels a grid in units of the
kernel has C = c / k and lambda = k / c, c in decades. Around the best of these `search` goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mklbench.kernels import Bank, KernelOperator

Entry = dict[str, Any]

# What stands for a grid in units of the kernel, and the c that it begins with.
AUTO = "auto"
DECADES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
# Of the values beside the best one, and of those beyond an end of the grid.
_HALF, _DECADE = math.sqrt(10.0), 10.0
# So many values are tried beyond an end at most, each only if the one before was the best so far.
_BEYOND = 2


def first_values(values: Any) -> list[Any]:
    """Return the values of a grid that are tried in any case: the c in place of "auto"."""
    return list(DECADES) if values == AUTO else list(values)


def unit_of(operator: KernelOperator) -> float:
    """Return the mean diagonal of the uniform combination of the kernels; 1 where that is 0."""
    if isinstance(operator, Bank):
        mean = float(operator.traces().mean()) / operator.n_samples
    else:
        mean = float(operator.gram(operator.uniform_weights()).diagonal().mean())
    return mean if mean > 0 else 1.0


def resolved(option: str, c: float, unit: float) -> float:
    """Return the value of an option, C or a ridge, for a `c` in units of the kernel.

    It has three digits, so that it can be read and given again.
    """
    return float(f"{unit / c if option == 'lam' else c / unit:.3g}")


def search(
    entries: Sequence[Entry],
    losses_of: Callable[[Sequence[Entry]], Sequence[float]],
    rank: Callable[[Entry], tuple[float, ...]],
    axes: Sequence[str] = (),
) -> tuple[Entry, float, list[str]]:
    """Return the entry of least loss, its loss, and the axes at an end of what was tried.

    Along each of the `axes` the grid goes on by a decade, twice at most, where its end is the best,
    and then the two half-decades beside the best are tried. Another entry takes the place of one
    before only if its loss is less.

    Parameters
    ----------
    entries : sequence of dict
        The grid.
    losses_of : callable
        Returns the losses of entries.
    rank : callable
        Of entries of equal loss in the grid the one is taken for which this is least.
    axes : sequence of str
        The keys of entries that are in units of the kernel.
    """
    losses = losses_of(entries)
    first = min(range(len(entries)), key=lambda i: (losses[i], *rank(entries[i]), i))
    best, least = entries[first], losses[first]
    at_end = []
    for axis in axes:
        tried = {entry[axis] for entry in entries}
        best, least = _refined(axis, tried, best, least, losses_of)
        if best[axis] in (min(tried), max(tried)):
            at_end.append(axis)
    return best, least, at_end


def _refined(
    axis: str,
    tried: set[float],
    best: Entry,
    least: float,
    losses_of: Callable[[Sequence[Entry]], Sequence[float]],
) -> tuple[Entry, float]:
    """Return the best entry along an axis and its loss; what is tried is added to `tried`."""

    def step(*factors: float) -> None:
        nonlocal best, least
        more = [{**best, axis: best[axis] * factor} for factor in factors]
        tried.update(entry[axis] for entry in more)
        found = [(best, least), *zip(more, losses_of(more), strict=True)]
        best, least = min(found, key=lambda pair: pair[1])

    for end, factor in ((min, 1.0 / _DECADE), (max, _DECADE)):
        for _ in range(_BEYOND):
            if best[axis] == end(tried):
                step(factor)
    step(1.0 / _HALF, _HALF)
    return best, least


def at_ends(grid: Mapping[str, Any], params: Mapping[str, Any]) -> list[str]:
    """Return the keys of a grid of given values whose choice is its smallest or largest value.

    0 is no such end, as nothing that is searched goes on below it; nor is a value alone.
    """
    found = []
    for path, values in grid.items():
        numbers = [] if values == AUTO else values
        ends = {min(numbers), max(numbers)} if are_numbers(numbers) else set()
        if len(ends) == 2 and params.get(path) in ends - {0}:
            found.append(path)
    return found


def are_numbers(values: Sequence[Any]) -> bool:
    """Tell whether there is a value, and each is a number."""
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )
