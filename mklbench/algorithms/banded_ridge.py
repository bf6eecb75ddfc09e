"""Banded ridge regression: one ridge a group of kernels, by random search (Dupre la Tour 2022).

T. Dupre la Tour, M. Eickenberg, A. Nunez-Elizalde, J. Gallant, "Feature-space selection with banded
ridge regression", NeuroImage 264, 2022, which is the package himalaya. With a weight gamma_g of
each group of kernels, on the simplex, and K_g the mean of its kernels, it is kernel ridge
regression (`mklbench.algorithms.krr`) on the combination:

    minimise over f   ||f||^2 + 1/lam sum_i (y_i - f(x_i))^2,   f in the space of sum_g gamma_g K_g,

so that group g has the ridge lam / gamma_g of its own. The weights and lam are those of the least
squared error on held-out folds of the training samples, over draws of weights: first all equal, and
then from Dirichlet distributions of concentration 0.1, where most weights are near 0, and 1, evenly
on the simplex, in turn.

One eigendecomposition K = U diag(s) U' serves all folds and all lam of a draw. With
G = U diag(1 / (s + lam)) U', the residuals of the samples F by the regression on all others are

    y_F - f(x_F) = G_FF^-1 (G y)_F.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from mklbench import grids
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.groups import GroupLists, check_grouping, groups_of
from mklbench.optim.machines import folds_of, reported, train_ridges
from mklbench.optim.ridge import singular
from mklbench.optim.svm_value import check_bank
from mklbench.solution import Solution
from mklbench.validation import check_count, check_positive_or_none, check_targets

VERSION = 1

REGRESSION = True
# Draws that are nearly as good may change places.
CONVEX = False


_CONCENTRATIONS = (0.1, 1.0)
# The lam that are tried, in units of the mean diagonal of the uniform combination.
_RIDGES = np.geomspace(1e-4, 1e4, 17)


def solve(
    bank: Bank,
    y: ArrayLike,
    lam: float | None = None,
    *,
    n_draws: int = 100,
    groups: str | GroupLists = "singletons",
    folds: int = 5,
    seed: int = 0,
) -> Solution:
    """Choose the weights of groups of kernels, and lambda, by random search and cross-validation.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Real targets, or labels in {-1, +1}.
    lam : float or None, default=None
        The ridge lambda > 0; None: chosen with the weights, from 1e-4 to 1e4 times the mean
        diagonal of the uniform combination.
    n_draws : int, default=100
        How many weights are tried, the equal ones among them.
    groups : str or GroupLists, default="singletons"
        The kernels that share a weight: "singletons" for none, "bank" for the groups of the bank,
        "features" for those on one feature; or lists of kernel indices.
    folds : int, default=5
        Number of folds, >= 2; fewer where the smaller class has fewer samples, as each class has
        its share of a fold.
    seed : int, default=0
        Of the draws, and of the shuffle before samples are dealt to folds.

    Returns
    -------
    Solution
        The ridge regression at the weights and the lambda chosen, with its `objective` and `gap`:
        that the weights are the best is not certified. The entry of `history` also has lambda
        ("lam") and the mean squared error on the held-out samples ("held_out_loss").

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    check_positive_or_none("lam", lam)
    check_count("n_draws", n_draws)
    check_count("folds", folds, minimum=2)
    check_count("seed", seed, minimum=0)
    check_grouping(groups)
    targets = check_targets(y)
    bank = check_bank("banded_ridge", bank, len(targets))
    chosen = groups_of(bank, groups)
    shares = draws(len(chosen), n_draws, seed) / chosen.sizes
    lams = [lam] if lam is not None else grids.unit_of(bank) * _RIDGES
    held_out = [held for _, held in folds_of("banded_ridge", targets, folds, seed)]
    K = bank.combine(bank.uniform_weights())
    errors = np.array(
        [
            held_out_errors(bank.combine(chosen.spread(s), K), targets, lams, held_out)
            for s in shares
        ]
    )
    draw, at = np.unravel_index(errors.argmin(), errors.shape)
    weights, ridge = chosen.spread(shares[draw]), float(lams[at])
    solution = train_ridges(bank, targets, [ridge], None, weights)[0]
    loss = float(errors[draw, at]) / len(targets)
    return reported(solution, solution.objective, lam=ridge, held_out_loss=loss)


def draws(n_groups: int, n_draws: int, seed: int) -> Array:
    """Return weights (n_draws, n_groups) on the simplex: equal ones, and then random ones."""
    rng = np.random.default_rng(seed)
    found = [np.full(n_groups, 1.0 / n_groups)]
    for k in range(n_draws - 1):
        concentration = _CONCENTRATIONS[k % len(_CONCENTRATIONS)]
        found.append(rng.dirichlet(np.full(n_groups, concentration)))
    return np.array(found)


def held_out_errors(
    K: Array, y: Array, lams: Sequence[float] | Array, held_out: Sequence[NDArray[np.intp]]
) -> Array:
    """Return the sums of squared errors on held-out samples, all folds together, (number of lams,).

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A Gram matrix.
    y : ndarray of shape (n,)
        Targets.
    lams : sequence of float
        Ridges > 0.
    held_out : sequence of ndarray of int
        The samples of each fold.

    Raises
    ------
    InputError
        `SingularError` if K + lam I is singular to working precision.
    """
    values, U = eigh(K, driver="evd")
    least = float(np.min(lams))
    if least <= len(K) * np.finfo(float).eps * values[-1]:
        raise singular(least, float(values[-1]), len(K))
    values = np.maximum(values, 0.0)
    projected = U.T @ y
    errors = np.zeros(len(lams))
    for rows in held_out:
        own = U[rows]
        for at, lam in enumerate(lams):
            V = own / (values + lam)
            left_out = np.linalg.solve(V @ own.T, V @ projected)
            errors[at] += float(left_out @ left_out)
    return errors
