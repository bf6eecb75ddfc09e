"""The joint method as a choice, `method="auto" | "libsvm" | "joint"`, and where SVMs leave a gap.

Where samples are equal and their labels are not, and where C is so large that the kernels at hand
separate the others, many alpha solve the SVM, and J has a kink: no SVM shows the way from there,
and its alpha proves little. The joint method has alpha and the weights at once, so that it takes no
notice of either: it is what searches by SVMs fall back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.certify import Hinge, Tube
from mklbench.errors import InputError, KindError, warn
from mklbench.kernels.banks.wrapped import KernelSubset
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.contract import NUMBER, Memory, Shape
from mklbench.kernels.row_factors import MANY, RowFactors, gram_factors
from mklbench.optim import joint_search
from mklbench.optim.svm_dual import InnerSVM, SVMDual, Trained
from mklbench.optim.weight_sets import WeightSet, one_sum

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

Method = Literal["auto", "libsvm", "joint"]
METHODS = ("auto", "libsvm", "joint")

# Factors have few columns where these are so small a share of the samples, and the kernels too.
_FEW_COLUMNS, _FEW_KERNELS = 0.25, 1.0 / 3.0
# Numbers of all Gram matrices up to which they are taken as factors.
_MOST_NUMBERS = 4e7
_ITERATIONS = 100
# Kernels that join at a time, and how often they do.
_FURTHER_KERNELS, _ROUNDS = 20, 10
# The gap that a fallback aims at, in units of the one asked for: that of alpha without an expansion
# of its own is wider, up to three times.
_AIM = 0.3
# Of its box, an alpha that is this near to a bound is there, if the gap allows.
_AT_BOUND = 1e-6


def factors_for(kernels: KernelOperator, method: str, tol: float) -> RowFactors | None:
    """Return the factors of the joint method if that is the one to take, else None.

    Where only the range of a feature keeps "auto" from it, a warning says so.

    Parameters
    ----------
    kernels : KernelOperator
        On the training samples.
    method : str
        One of `METHODS`.
    tol : float
        The relative duality gap asked for.

    Raises
    ------
    InputError
        If `method` is "joint" and the kernels have no factors.
    """
    if method == "joint":
        return _factors(kernels)
    if method == "libsvm" or kernels.n_samples < MANY or not isinstance(kernels, Bank):
        return None
    try:
        factors = kernels.row_factors()
    except InputError as error:
        warn(f"method=auto takes Gram matrices of all {kernels.n_samples} samples, as {error}")
        return None
    if factors is None:
        return None
    pays = joint_search.pays(kernels.n_samples, joint_search.first_rank(factors, tol), tol)
    return factors if pays else None


def _factors(kernels: KernelOperator) -> RowFactors:
    if not isinstance(kernels, Bank):
        raise KindError(
            f"method=joint is for banks, and {type(kernels).__name__} is a family: choose "
            "kernels such as kernel=feature_gaussians, or method=libsvm."
        )
    factors = kernels.row_factors()
    if factors is None:
        raise InputError(
            f"method=joint needs factors of the kernels, and {type(kernels).__name__} has "
            "none: choose kernels on single features, such as kernel=feature_gaussians, linear "
            "kernels on features of Nystroem, or method=libsvm."
        )
    return factors


def bytes_on_factors(
    kernels: Memory, shape: Shape, method: str, tol: float, n_terms: int = 1
) -> float | None:
    """Return the bytes of kernels and a fit by the joint method; None where it is not taken.

    Parameters
    ----------
    kernels : Memory
        What the kernels need.
    shape : Shape
        Of the samples.
    method : str
        One of `METHODS`.
    tol : float
        The relative duality gap asked for.
    n_terms : int, default=1
        Dual variables a sample, 2 of a regression.
    """
    if kernels.rank is None or method not in ("auto", "joint"):
        return None
    if method == "auto" and not joint_search.pays(shape.n, kernels.rank, tol):
        return None
    on_factors = joint_search.bytes_needed(shape.n, max(kernels.rank, 1), n_terms)
    return bytes_of_samples(shape) + on_factors


def bytes_of_samples(shape: Shape) -> float:
    """Return the bytes of samples, and of a copy of them: all that is kept beside factors."""
    return 2.0 * NUMBER * shape.n * shape.d


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
    for weights, found, forms in searches(bank, svm.dual, kernels, one_sum, tol):
        svm.combine(weights)
        rounded = at_bounds(found, svm.dual)
        for dual_coef, prices in ((rounded, bank.quadratic_forms(rounded)), (found, forms)):
            intercept = svm.dual.best_intercept(svm.gram @ dual_coef)
            yield svm.certified(weights, dual_coef, intercept, prices)


def searches(
    bank: Bank, dual: SVMDual, kernels: Indices, weight_set: Callable[[int], WeightSet], tol: float
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield weights (M,), a (n,) and its forms (M,) at every stage.

    The joint method solves the problem on factors with few columns, if the kernels have these. Else
    it solves that of some kernels on their Gram matrices; then those of the largest prices at its
    alpha join. Nothing comes of a one-class SVM, nor where these matrices would take too much room.

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
    narrow = narrow_factors(bank, tol)
    if narrow is not None:
        weights, a = _solved(narrow, weight_set(bank.n_kernels), loss, tol)
        yield weights, a, bank.quadratic_forms(a)
        return
    for _ in range(_ROUNDS):
        if len(kernels) * float(bank.n_samples) ** 2 > _MOST_NUMBERS:
            return
        few = KernelSubset(bank, kernels)
        grams = np.empty((few.n_kernels, few.n_samples, few.n_samples))
        for unit, gram in zip(np.eye(few.n_kernels), grams, strict=True):
            few.combine(unit, out=gram)
        weights = np.zeros(bank.n_kernels)
        weights[kernels], a = _solved(gram_factors(grams), weight_set(len(kernels)), loss, tol)
        forms = bank.quadratic_forms(a)
        yield weights, a, forms
        count = int(np.count_nonzero(weights)) + _FURTHER_KERNELS
        joined = np.union1d(kernels, bank.top_k(forms, count))
        if len(joined) == len(kernels):
            return
        kernels = joined


def narrow_factors(bank: Bank, tol: float) -> RowFactors | None:
    """Return exact factors of the kernels if they have few columns, and with them the joint method.

    Parameters
    ----------
    bank : Bank
        M kernels on n training samples.
    tol : float
        The gap asked for.
    """
    if bank.n_kernels > _FEW_KERNELS * bank.n_samples:
        return None
    try:
        factors = bank.row_factors()
    except InputError:  # too rough
        return None
    if factors is None:
        return None
    # Of the factors that `_solved` begins with, which are then at hand.
    first = joint_search.first_rank(factors, _AIM * tol)
    return factors if first <= _FEW_COLUMNS * bank.n_samples else None


def _solved(
    factors: RowFactors, weight_set: WeightSet, loss: Hinge | Tube, tol: float
) -> tuple[Array, Array]:
    """Return weights and a (n,) that the joint method finds as a step of another search."""
    with iterations.watched(None):
        found = joint_search.solve(factors, weight_set, loss, _AIM * tol, _ITERATIONS)
    return found.weights, found.dual_coef


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
