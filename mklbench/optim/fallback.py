"""The joint method where a search by SVMs could not close the gap.

Where samples are equal and their labels are not, and where C is so large that the kernels at hand
separate the others, many alpha solve the SVM, and J has a kink: no SVM shows the way from there,
and its alpha proves little. The joint method has alpha and the weights at once, so that it takes no
notice of either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.certify import Hinge, Tube
from mklbench.errors import InputError
from mklbench.kernels.banks.wrapped import KernelSubset
from mklbench.kernels.base import Bank
from mklbench.kernels.row_factors import RowFactors, gram_factors
from mklbench.optim import joint_search
from mklbench.optim.inner_svm import InnerSVM, Trained
from mklbench.optim.svm_dual import SVMDual
from mklbench.optim.weight_sets import OneSum, WeightSet

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Factors have few columns where these are so small a share of the samples, and the kernels too.
_FEW_COLUMNS, _FEW_KERNELS = 0.25, 1.0 / 3.0
# Numbers of all Gram matrices up to which they are taken as factors.
_MOST_NUMBERS = 4e7
_ITERATIONS = 100
# Kernels that join at a time, and how often they do.
_FURTHER_KERNELS, _ROUNDS = 20, 10
# The gap that is aimed at, in units of the one asked for: that of alpha without an expansion of its
# own is wider, up to three times.
_AIM = 0.3
# Of its box, an alpha that is this near to a bound is there, if the gap allows.
_AT_BOUND = 1e-6


def candidates(bank: Bank, svm: InnerSVM, kernels: Indices, tol: float) -> Iterator[Trained]:
    """Yield what the joint method finds of MKL, certified: with alpha at bounds, and as they are.

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
    for weights, found, forms in searches(bank, svm.dual, kernels, OneSum, tol):
        svm.combine(weights)
        rounded = at_bounds(found, svm.dual)
        for dual_coef, prices in ((rounded, bank.quadratic_forms(rounded)), (found, forms)):
            intercept = svm.dual.best_intercept(svm.gram @ dual_coef)
            yield svm.certified(weights, dual_coef, intercept, prices)


def searches(
    bank: Bank,
    dual: SVMDual,
    kernels: Indices,
    weight_set: Callable[[int], WeightSet],
    tol: float,
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield weights (M,), a (n,) and its forms (M,) at every stage.

    The joint method solves the problem on factors with few columns, if the kernels have these. Else
    it solves that of some kernels on their Gram matrices; then those join that are dearest at its
    alpha. Nothing comes of a one-class SVM, nor where these matrices would take too much room.

    Parameters
    ----------
    bank : Bank
        M kernels on n training samples.
    dual : SVMDual
        The programme of the machine.
    kernels : ndarray of int of shape (k,)
        Those to begin with.
    weight_set : callable
        Gives the set of the weights of so many kernels.
    tol : float
        The certified relative gap asked for.
    """
    loss = dual.loss(0.0)
    if not isinstance(loss, Hinge | Tube):
        return
    narrow = narrow_factors(bank)
    if narrow is not None:
        found = search(narrow, weight_set(bank.n_kernels), loss, tol)
        yield found.weights, found.dual_coef, bank.quadratic_forms(found.dual_coef)
        return
    for _ in range(_ROUNDS):
        if len(kernels) * float(bank.n_samples) ** 2 > _MOST_NUMBERS:
            return
        few = KernelSubset(bank, kernels)
        grams = np.empty((few.n_kernels, few.n_samples, few.n_samples))
        for unit, gram in zip(np.eye(few.n_kernels), grams, strict=True):
            few.combine(unit, out=gram)
        factors, where = gram_factors(grams), weight_set(len(kernels))
        found = search(factors, where, loss, tol)
        weights = np.zeros(bank.n_kernels)
        weights[kernels] = found.weights
        forms = bank.quadratic_forms(found.dual_coef)
        yield weights, found.dual_coef, forms
        count = int(np.count_nonzero(weights)) + _FURTHER_KERNELS
        joined = np.union1d(kernels, bank.dearest(forms, count))
        if len(joined) == len(kernels):
            return
        kernels = joined


def narrow_factors(bank: Bank) -> RowFactors | None:
    """Return exact factors of the kernels if they have few columns, and with them the joint method.

    Parameters
    ----------
    bank : Bank
        M kernels on n training samples.
    """
    if bank.n_kernels > _FEW_KERNELS * bank.n_samples:
        return None
    try:
        factors = bank.row_factors()
    except InputError:  # too rough
        return None
    if factors is None or joint_search.first_rank(factors) > _FEW_COLUMNS * bank.n_samples:
        return None
    return factors


def search(
    factors: RowFactors, weight_set: WeightSet, loss: Hinge | Tube, tol: float
) -> joint_search.Found:
    """Return what the joint method finds as a step of another search.

    Parameters
    ----------
    factors : RowFactors
        Of the kernels.
    weight_set : WeightSet
        Where the weights may be.
    loss : Hinge or Tube
        With the labels or targets.
    tol : float
        The certified relative gap asked for of alpha alone.
    """
    with iterations.watched(None):
        found, _ = joint_search.search(factors, weight_set, loss, _AIM * tol, _ITERATIONS)
    return found


def at_bounds(dual_coef: Array, dual: SVMDual) -> Array:
    """Return a (n,) with those that are nearly at 0 or at a bound there, balanced again.

    Parameters
    ----------
    dual_coef : ndarray of shape (n,)
        a, from inside the bounds.
    dual : SVMDual
        The programme, of labels or targets.
    """
    alpha = dual.alpha(dual_coef)
    alpha = np.where(alpha < _AT_BOUND * dual.upper, 0.0, alpha)
    alpha = np.where(alpha > (1.0 - _AT_BOUND) * dual.upper, dual.upper, alpha)
    return joint_search.balanced(dual.dual_coef(alpha))
