"""Whether one method differs from another, on a data set and over several, and what can be seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.05
# Data sets for which every choice of the signs of the differences is looked at.
MOST_EXACT = 13


def corrected_p_value(
    first: Mapping[int, float], second: Mapping[int, float], test_share: float
) -> float:
    """Return the p-value of the corrected resampled t-test that two methods differ on a data set.

    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    Random splits overlap, so the variance of the mean difference over J of them is taken as
    (1/J + test_share) times that of a difference rather than 1/J times.

    Parameters
    ----------
    first, second : mapping of int to float
        A number by split; the splits that both have count.
    test_share : float
        Test samples divided by training samples.

    Returns
    -------
    The two-sided p-value; 1 where all differences are 0 or there are fewer than two.
    """
    from scipy.stats import t

    common = sorted(first.keys() & second.keys())
    differences = np.array([first[split] - second[split] for split in common])
    if len(differences) < 2 or not differences.any():
        return 1.0
    spread = float(differences.std(ddof=1))
    if spread == 0.0:
        return 0.0
    error = spread * math.sqrt(1.0 / len(differences) + test_share)
    return float(2.0 * t.sf(abs(differences.mean()) / error, len(differences) - 1))


def signed_rank_p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test over data sets."""
    from scipy.stats import permutation_test, rankdata, wilcoxon

    differences = np.subtract(first, second)
    if not differences.any():
        return 1.0
    if len(differences) > MOST_EXACT:
        return float(wilcoxon(differences, zero_method="zsplit").pvalue)
    # As `wilcoxon` does where there are ties, which ranks anew under each choice of the signs.
    ranks = rankdata(abs(differences)) * np.sign(differences)
    test = permutation_test(
        (ranks,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    return float(test.pvalue)


def holm(p_values: Sequence[float]) -> Array:
    """Return p-values corrected for their number by S. Holm's sequentially rejective procedure."""
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given)
    steps = given[order] * np.arange(len(given), 0, -1)
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def critical_difference(n_methods: int, n_sets: int, level: float = LEVEL) -> float:
    """Return how far apart two mean ranks have to be to differ by Nemenyi's test.

    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1.0 - level, n_methods, np.inf) / math.sqrt(2.0)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


POWER = 0.8


@cache
def detectable_difference(freedom: int, n_tests: int = 1) -> float:
    """Return the true difference that a two-sided t-test would find with probability 0.8.

    Parameters
    ----------
    freedom : int
        Degrees of freedom of the test, at least 1.
    n_tests : int, default=1
        Tests among which this one has to be found, as the smallest under Holm's correction.

    Returns
    -------
    The difference, in standard errors of the mean difference.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    bound = float(t.isf(LEVEL / n_tests / 2.0, freedom))

    def shortfall(shift: float) -> float:
        return float(nct.sf(bound, freedom, shift)) - POWER

    # One tail alone: at such a power the other one is hit with a probability below 1e-3.
    return float(brentq(shortfall, 0.0, 2.0 * bound + 20.0))


def detectable_over_sets(differences: Sequence[float], n_tests: int = 1) -> float:
    """Return the mean difference over sets that a signed-rank test would find; infinity for one.

    Wilcoxon's test is as good as a t-test on 3 / pi of the sets where differences are normal.

    Parameters
    ----------
    differences : sequence of float
        Mean difference of two methods on each set.
    n_tests : int, default=1
        As for `detectable_difference`.
    """
    n_sets = len(differences)
    if n_sets < 2:
        return math.inf
    error = float(np.std(differences, ddof=1)) / math.sqrt(n_sets * 3.0 / math.pi)
    return error * detectable_difference(n_sets - 1, n_tests)


def upper_end(differences: Sequence[float]) -> float:
    """Return the end of the one-sided 95 % interval of a mean over sets, by Student's t."""
    from scipy.stats import t

    error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    return float(np.mean(differences)) + error * float(t.isf(LEVEL, len(differences) - 1))


def detectable_on_a_set(differences: Sequence[float], test_share: float) -> float:
    """Return the difference on one set that the corrected resampled t-test would find.

    Parameters
    ----------
    differences : sequence of float
        Of two methods on each split.
    test_share : float
        Test samples divided by training samples.
    """
    n_splits = len(differences)
    if n_splits < 2:
        return math.inf
    error = float(np.std(differences, ddof=1)) * math.sqrt(1.0 / n_splits + test_share)
    return error * detectable_difference(n_splits - 1)
