"""What a comparison could have seen: intervals of mean ranks, cliques, detectable differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mklbench.report.analysis.significance import LEVEL, holm, signed_rank_p_value

Array = NDArray[np.float64]

POWER = 0.8
N_RESAMPLES = 10_000


def mean_rank_intervals(ranks: Array, seed: int = 0) -> Array:
    """Return bootstrap intervals of the mean ranks: how far they depend on which sets were taken.

    Parameters
    ----------
    ranks : ndarray of shape (n_sets, n_methods)
        Ranks on each set.
    seed : int, default=0
        Of the resamples of the sets.

    Returns
    -------
    intervals : ndarray of shape (n_methods, 2)
        The 2.5 % and 97.5 % percentiles of the mean rank over the sets resampled.
    """
    n_sets = len(ranks)
    drawn = np.random.default_rng(seed).multinomial(
        n_sets, np.full(n_sets, 1 / n_sets), N_RESAMPLES
    )
    found: Array = np.quantile(drawn @ ranks / n_sets, [LEVEL / 2, 1 - LEVEL / 2], axis=0).T
    return found


def cliques(means: Array, mean_ranks: Sequence[float]) -> list[list[int]]:
    """Return the largest groups of methods that no test tells apart.

    A. Benavoli, G. Corani, F. Mangili, "Should we really use post-hoc tests based on mean-ranks?",
    JMLR 17, 2016: every pair by Wilcoxon's signed-rank test over the sets, with Holm's correction
    for the number of pairs, so that the verdict on two methods does not depend on the others.

    Parameters
    ----------
    means : ndarray of shape (n_sets, n_methods)
        Mean of the metric of each method on each set.
    mean_ranks : sequence of float
        By which the methods are ordered; a group is a run in this order, all of whose pairs are
        alike.

    Returns
    -------
    Positions of the methods of each group, best first; groups of one method are left out.
    """
    order = np.argsort(mean_ranks, kind="stable")
    pairs = list(itertools.combinations(range(len(order)), 2))
    columns = means.T.tolist()
    raw = [signed_rank_p_value(columns[order[i]], columns[order[j]]) for i, j in pairs]
    alike = np.ones((len(order), len(order)), dtype=bool)
    for (i, j), p_value in zip(pairs, holm(raw), strict=True):
        alike[i, j] = alike[j, i] = p_value >= LEVEL
    found: list[list[int]] = []
    end = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and alike[start : stop + 1, start : stop + 1].all():
            stop += 1
        if stop > max(end, start + 1):
            found.append([int(at) for at in order[start:stop]])
        end = max(end, stop)
    return found


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
