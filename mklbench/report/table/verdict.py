"""The verdict on one measured number beside its published one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

# From here on the square of a number is not safe from overflow.
_LARGE = 1e150


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
        deviations = [value - mean for value in values]
        # Gaps of fits that have run away are in a unit in which their squares can be held.
        unit = 1.0 if max(map(abs, deviations)) < _LARGE else _LARGE
        variance = math.fsum((deviation / unit) ** 2 for deviation in deviations) / (n - 1)
        return cls(mean, unit * math.sqrt(variance), n)


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
        rounding = 0.5 * digit * (1.0 + 1e-9)
        if abs(difference) <= rounding:
            return Verdict.MATCH
        if abs(difference) <= sample + rounding:
            return Verdict.CLOSE
        return Verdict.HIGHER if difference > 0 else Verdict.LOWER
    if published.std is None or measured.std is None:
        return Verdict.NO_SPREAD
    error = standard_error_of_difference(published.std, published_n, measured.std, measured.n)
    if abs(difference) <= 2 * error:
        return Verdict.MATCH
    if abs(difference) <= published.std:
        return Verdict.CLOSE
    return Verdict.HIGHER if difference > 0 else Verdict.LOWER
