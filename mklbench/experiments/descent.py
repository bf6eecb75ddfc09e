"""The course of a fit in a record: what was noted of its iterations, in a few hundred bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mklbench.iterations import Entry, History

# So many iterations are kept, the first and the last among them.
MOST_ENTRIES = 16

Column = list[float | int | None]

# What is kept of an iteration, by its name in a history: the name in a record, and how many
# significant digits.
_KEPT = {"n_svm_calls": ("svm_calls", 9), "objective": ("objective", 8), "gap": ("gap", 3)}


def compact(histories: Sequence[History]) -> Mapping[str, Column] | None:
    """Return the course of the longest of the problems that were solved.

    Of several classes it is that of the problem with the most iterations, the first of these. Of
    many iterations the early ones are kept and then ever fewer, at equal steps of their logarithm.

    Parameters
    ----------
    histories : sequence of list of dict of str to float
        One a binary problem (`mklbench.solution.Solution.history`).

    Returns
    -------
    ``svm_calls``, ``objective`` and ``gap``, each a list of one number an iteration that was kept,
    None where it is not finite; without the gap where none was noted. None where no problem took
    more than one iteration.
    """
    history = max(histories, key=len, default=[])
    if len(history) < 2:
        return None
    entries = [history[at] for at in _places(len(history))]
    return {
        name: [_rounded(entry, noted, digits) for entry in entries]
        for noted, (name, digits) in _KEPT.items()
        if any(noted in entry for entry in entries)
    }


def _places(n: int) -> list[int]:
    """Return the places of at most `MOST_ENTRIES` of `n` entries, dense where they begin."""
    if n <= MOST_ENTRIES:
        return list(range(n))
    return sorted({round(at) - 1 for at in np.geomspace(1.0, n, MOST_ENTRIES)})


def _rounded(entry: Entry, name: str, digits: int) -> float | int | None:
    value = entry.get(name, math.nan)
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 10**digits else short
