"""Lower bounds on learning at most k kernel weights of the simplex, with a squared norm of them.

The problem of Bertsimas et al. 2025 (`mklbench.algorithms.smkl`) is

    minimise  J(d) + lam ||d||^2   over d >= 0, sum d = 1, with at most k entries other than 0,

and J(d) is a maximum over alpha of s - 1/2 q'd, with s = sum alpha and q_m = a' K_m a, a = alpha o
y. Each alpha that is feasible is therefore a cut, J(d) >= s - 1/2 q'd, and so is a mixture of cuts.
Under one cut the best d is known, as the constraint is a projection (`best_weights`), which makes a
bound of any cut, however it was found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def best_weights(forms: Array, lam: float, cardinality: int) -> Array:
    """Return the d (M,) that minimises lam ||d||^2 - 1/2 q'd with at most k entries other than 0.

    It is the projection of q / (4 lam): its k largest entries, projected onto the simplex
    (Kyrillidis, Becker, Cevher & Koch 2013, Algorithm 1).

    Parameters
    ----------
    forms : ndarray of shape (M,)
        q.
    lam : float
        > 0.
    cardinality : int
        k >= 1.
    """
    kept = np.argsort(-forms, kind="stable")[:cardinality]
    # The largest entry is taken off first, as a small lam makes all of them huge.
    below = (forms[kept] - forms[kept[0]]) / (4.0 * lam)
    shares = (1.0 - np.cumsum(below)) / np.arange(1, len(kept) + 1)
    last = np.flatnonzero(below + shares > 0.0)[-1]
    weights = np.zeros_like(forms)
    weights[kept] = np.maximum(below + shares[last], 0.0)
    return weights


def cut_bound(total: float, forms: Array, lam: float, cardinality: int) -> float:
    """Return the least of s - 1/2 q'd + lam ||d||^2 over these d, which no objective is below.

    Parameters
    ----------
    total : float
        s of a feasible alpha, or of a mixture of some.
    forms : ndarray of shape (M,)
        q of the same.
    lam : float
        > 0.
    cardinality : int
        k >= 1.
    """
    weights = best_weights(forms, lam, cardinality)
    return float(total - 0.5 * forms @ weights + lam * weights @ weights)
