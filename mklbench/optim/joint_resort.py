"""The joint method where the search for weights on the simplex could not close the gap.

Where samples are equal and their labels are not, and where C is so large that the kernels at hand
separate the others, many alpha solve the SVM, and J has a kink: no SVM shows the way from there,
and its alpha proves little. The joint method has alpha and the weights at once, so that it takes no
notice of either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mklbench.certify import Hinge, Tube
from mklbench.kernels.base import Bank
from mklbench.kernels.gram_factors import gram_factors
from mklbench.optim import joint_search
from mklbench.optim.inner_svm import InnerSVM, Trained
from mklbench.optim.weight_sets import OneSum

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Numbers of all Gram matrices up to which they are taken as factors.
_MOST_NUMBERS = 4e7
_ITERATIONS = 100
# Kernels that join at a time, and how often they do.
_FURTHER_KERNELS, _ROUNDS = 20, 10
# The gap that is aimed at, in units of the one asked for: that of alpha without an expansion of its
# own is a little wider.
_AIM = 0.5
# Of its box, an alpha that is this near to a bound is there, if the gap allows.
_AT_BOUND = 1e-6


def candidates(bank: Bank, svm: InnerSVM, kernels: Indices, tol: float) -> Iterator[Trained]:
    """Yield what the joint method finds, certified: with alpha at their bounds, and as they are.

    It solves the problem of some kernels; then those join that are dearest at its alpha. Nothing
    comes of a one-class SVM, nor where the Gram matrices would take too much room.

    Parameters
    ----------
    bank : Bank
        M kernels on n training samples.
    svm : InnerSVM
        The machine of the bank and the labels or targets.
    kernels : ndarray of int of shape (k,)
        Those to begin with.
    tol : float
        The certified relative gap asked for.
    """
    loss = svm.dual.loss(0.0)
    if not isinstance(loss, Hinge | Tube):
        return
    for _ in range(_ROUNDS):
        if len(kernels) * float(bank.n_samples) ** 2 > _MOST_NUMBERS:
            return
        factors, where = gram_factors(bank, kernels), OneSum(len(kernels))
        found, _ = joint_search.search(factors, where, loss, _AIM * tol, _ITERATIONS)
        weights = np.zeros(bank.n_kernels)
        weights[kernels] = found.weights
        svm.combine(weights)
        for dual_coef in (_at_bounds(found.dual_coef, svm), found.dual_coef):
            prices = bank.quadratic_forms(dual_coef)
            intercept = svm.dual.best_intercept(svm.gram @ dual_coef)
            yield svm.certified(weights, dual_coef, intercept, prices)
        count = int(np.count_nonzero(weights)) + _FURTHER_KERNELS
        joined = np.union1d(kernels, bank.dearest(prices, count))
        if len(joined) == len(kernels):
            return
        kernels = joined


def _at_bounds(dual_coef: Array, svm: InnerSVM) -> Array:
    """Return a (n,) with those that are nearly at 0 or at a bound there, balanced again."""
    dual = svm.dual
    alpha = dual.alpha(dual_coef)
    alpha = np.where(alpha < _AT_BOUND * dual.upper, 0.0, alpha)
    alpha = np.where(alpha > (1.0 - _AT_BOUND) * dual.upper, dual.upper, alpha)
    return joint_search.balanced(dual.dual_coef(alpha))
