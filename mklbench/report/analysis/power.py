"""What a comparison could have seen: the differences that its tests would have found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from mklbench.report.analysis.significance import LEVEL

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
