"""Tests of whether one method differs from another: on one data set, and over several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
