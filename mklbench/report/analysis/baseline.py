"""How the numbers of a table stand against its baseline, such as the plain SVM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mklbench.report.table.metrics import Metric
from mklbench.report.table.verdict import Published, Sample, standard_error_of_difference

N_STANDARD_ERRORS = 2.0
ROUNDING = 1e-9  # published numbers are decimals: 24.2 - 23.2 has to count as 1.0


class Standing(StrEnum):
    """What a difference from the baseline amounts to; a small one has no standing."""

    BETTER = "much better"
    WORSE = "much worse"


@dataclass(frozen=True)
class Difference:
    """A number minus another one; `standard_error` is None where there is no spread."""

    value: float
    standard_error: float | None


def paired_difference(first: Mapping[int, float], second: Mapping[int, float]) -> Difference | None:
    """Return the mean of first minus second over the splits that both have; None if there are none.

    All columns of a row have the same splits, and the standard error of paired differences leaves
    out what makes a split hard for both.

    Parameters
    ----------
    first, second : mapping of int to float
        A number by split.
    """
    common = sorted(first.keys() & second.keys())
    sample = Sample.of([first[split] - second[split] for split in common])
    if sample is None:
        return None
    error = None if sample.std is None else sample.std / math.sqrt(sample.n)
    return Difference(sample.mean, error)


def published_difference(first: Published, second: Published, n_splits: int) -> Difference:
    """Return first minus second, two published means over `n_splits` splits each.

    Only the spread of each is printed, so they are taken as independent, which makes the standard
    error of means over common splits rather too large.
    """
    error = None
    if first.std is not None and second.std is not None:
        error = standard_error_of_difference(first.std, n_splits, second.std, n_splits)
    return Difference(first.mean - second.mean, error)


def standing(difference: Difference | None, margin: float, metric: Metric) -> Standing | None:
    """Judge a number of `metric` minus that of the baseline.

    Returns
    -------
    None unless the difference is known, more than `N_STANDARD_ERRORS` standard errors and at least
    `margin`.
    """
    if difference is None or difference.standard_error is None:
        return None
    size = abs(difference.value)
    if size <= N_STANDARD_ERRORS * difference.standard_error or size < margin - ROUNDING:
        return None
    return Standing.BETTER if (difference.value < 0) == metric.lower_is_better else Standing.WORSE
