"""Logistic regression with a squared norm, a linear model from outside of kernel learning.

On the linear kernel of all features it is the l_2 logistic regression that tables of features are
usually given to; on another kernel it is kernel logistic regression (Zhu & Hastie 2005). With k the
mean of the kernels and C_i = C times the weight of sample i,

    minimise over f, b   1/2 ||f||^2 + sum_i C_i log(1 + exp(-y_i (f(x_i) + b))).

The minimum is at f = sum_i a_i k(x_i, .), a_i = C_i y_i / (1 + exp(y_i (f(x_i) + b))), and the dual
is the maximum over a = alpha o y, 0 <= alpha_i <= C_i, sum_i a_i = 0, of

    sum_i C_i H(alpha_i / C_i) - 1/2 a' K a,    H(t) = -t log t - (1 - t) log(1 - t).

scikit-learn's `LogisticRegression` solves it on a pivoted Cholesky factor L of K = L L', which is
all it needs to know of the features: f(x_i) = (L w)_i with ||f||^2 = ||w||^2. One factor serves
every C. For its f the intercept is found once more, so that sum_i a_i = 0 to rounding and the dual
value is a bound.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack
from scipy.optimize import brentq
from scipy.special import expit

from mklbench.certify import Logistic
from mklbench.kernels.base import Array, KernelOperator
from mklbench.optim.machines import certified
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.several import Several, one_of, path_of
from mklbench.optim.svm_value import check_samples
from mklbench.solution import Solution
from mklbench.validation import check_tolerance

VERSION = 1

# The Gram matrix, its factor with and without pivots, and what a Newton step holds, at rank n.
MATRICES = 5.0
COMBINES_ONCE = True
IS_SVM = False
# `solve_path` factorises once for several values of this option.
PATH_OPTION = "C"


# Newton steps; a dozen are usual. They end where no derivative of the objective per sample is
# larger than this share of the tolerance: a loss that C makes large is small per sample.
_STEPS = 100
_SHARE = 1e-5


@one_of(PATH_OPTION)
def solve(
    operator: KernelOperator,
    y: ArrayLike,
    C: float = 1.0,
    *,
    tol: float = 1e-6,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Several:
    """Learn one logistic regression on the mean of the kernels of a bank.

    Parameters
    ----------
    operator : KernelOperator
        The bank, or the family at equal parameters, on the n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Factor on the loss.
    tol : float, default=1e-6
        The relative duality gap asked for.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        `dual_coef` is a, `objective` the dual value and `gap` the relative duality gap. `converged`
        says that it is at most `tol`.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    tol = check_tolerance("tol", tol)
    labels = Problem.of(y, C, class_weight, sample_weight).y
    check_samples(operator, len(labels))
    weights = operator.uniform_weights()
    K = operator.gram(weights)
    L = _factor(K)

    def solved(C: float) -> Solution:
        box = np.asarray(Problem.of(labels, C, class_weight, sample_weight).loss.box)
        loss = Logistic(labels, box)
        f, n_iter = _outputs(L, loss, tol)
        intercept = _intercept(f, loss)
        a = box * labels * expit(-labels * (f + intercept))
        return replace(certified(loss, K @ a, weights, a, intercept, tol), n_iter=n_iter)

    return lambda Cs: [solved(C) for C in Cs]


solve_path = path_of(solve, PATH_OPTION)


def _factor(K: Array) -> Array:
    """Return L (n, r) with L L' = K up to rounding, at least one column."""
    factor, pivots, rank, _ = lapack.dpstrf(K, lower=True)
    L = np.empty((len(K), max(1, rank)))
    L[pivots - 1] = np.tril(factor)[:, : L.shape[1]]
    return L


def _outputs(L: Array, loss: Logistic, tol: float) -> tuple[Array, int]:
    """Return f at the training samples (n,), and the Newton steps that it took."""
    # Imported here, as it takes a second and the other algorithms do without.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    machine = LogisticRegression(C=1.0, solver="newton-cholesky", tol=_SHARE * tol, max_iter=_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says how far it came
        machine.fit(L, loss.y, sample_weight=loss.box)
    return L @ machine.coef_[0], int(machine.n_iter_[0])


def _intercept(f: Array, loss: Logistic) -> float:
    """Return the b at which sum_i a_i = 0, the best intercept for f (n,)."""
    y, box = loss.y, loss.box
    ratio = box[y > 0].sum() / box[y < 0].sum()
    # Beyond this all samples of one class outweigh the other.
    end = np.abs(f).max() + abs(np.log(ratio)) + 2.0
    return float(brentq(lambda b: box @ (y * expit(-y * (f + b))), -end, end, xtol=1e-15))
