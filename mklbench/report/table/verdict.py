"""The verdict on a measured number beside its published one, and its standing to a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mklbench.report.table.metrics import Metric

N_STANDARD_ERRORS = 2.0
ROUNDING = 1e-9  # published numbers are decimals: 24.2 - 23.2 has to count as 1.0


class Verdict(StrEnum):
    """What the comparison of a measured mean with a published one says.

    The first four judge; the last three say why there is no judgement.
    """

    MATCH = "match"
    CLOSE = "close"
    HIGHER = "differs (higher)"
    LOWER = "differs (lower)"
    NO_SPREAD = "difference only"
    RATIO_ONLY = "ratio only"
    NOT_PUBLISHED = "not published"


JUDGING = (Verdict.MATCH, Verdict.CLOSE, Verdict.HIGHER, Verdict.LOWER)


@dataclass(frozen=True)
class Published:
    """A number as the paper prints it; `std` is None where it prints no spread.

    `decimals` are its digits after the point, where they are not those that its metric has here;
    `is_bold` says that the paper prints it in bold.
    """

    mean: float
    std: float | None = None
    decimals: int | None = None
    is_bold: bool = False


@dataclass(frozen=True)
class Sample:
    """Mean and standard deviation (divisor n - 1) of `n` splits; `std` is None for one split."""

    mean: float
    std: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample | None:
        """Summarise `values`, or return None when there are none."""
        n = len(values)
        if n == 0:
            return None
        mean = math.fsum(values) / n
        if n == 1:
            return cls(mean, None, 1)
        squares = ((value - mean) ** 2 for value in values)
        return cls(mean, math.sqrt(math.fsum(squares) / (n - 1)), n)


def standard_error_of_difference(
    published_std: float, published_n: int, measured_std: float, measured_n: int
) -> float:
    """Standard error of the difference of two means of independent samples."""
    return math.sqrt(published_std**2 / published_n + measured_std**2 / measured_n)


def judge(
    published: Published | None,
    published_n: int,
    measured: Sample,
    step: tuple[float, float] | None = None,
) -> Verdict:
    """Compare a measured mean with a published one.

    Parameters
    ----------
    published : Published or None
        The paper's number, or None where it prints none.
    published_n : int
        Number of splits behind the paper's mean.
    measured : Sample
        The measured sample.
    step : tuple of float, float, or None
        On the paper's own split, which leaves no spread to judge by: the last digit that the paper
        prints, and what one test sample makes.

    Returns
    -------
    `MATCH` when the difference is within two standard errors of the difference, else `CLOSE` when
    it is within one published standard deviation, else `HIGHER` or `LOWER` (measured against
    published). Without a spread on either side nothing can be judged: `NO_SPREAD`. On the paper's
    own split it is a `MATCH` where the printed digits agree, and `CLOSE` within one test sample.

    Notes
    -----
    The splits of one data set overlap, so the standard errors are too small rather than too
    large: a match is a strict statement, a difference a lenient one.
    """
    if published is None:
        return Verdict.NOT_PUBLISHED
    difference = measured.mean - published.mean
    if step is not None:
        digit, sample = step
        matching = 0.5 * digit * (1.0 + 1e-9)
        close = sample + matching
    elif published.std is None or measured.std is None:
        return Verdict.NO_SPREAD
    else:
        error = standard_error_of_difference(published.std, published_n, measured.std, measured.n)
        matching = 2 * error
        close = published.std
    if abs(difference) <= matching:
        return Verdict.MATCH
    if abs(difference) <= close:
        return Verdict.CLOSE
    return Verdict.HIGHER if difference > 0 else Verdict.LOWER


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
