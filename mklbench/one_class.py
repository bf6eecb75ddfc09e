"""One-class MKL: kernel weights on the simplex for the one-class SVM.

The problem is that of SimpleMKL with the one-class SVM of Schölkopf et al. 2001 (Rakotomamonjy et
al. 2008, section 3.4): over functions f_m in the spaces of the M kernels and an offset rho

    minimise  1/2 (sum_m ||f_m||)^2 + sum_i max(0, rho - sum_m f_m(x_i)) - nu n rho,

which is, convex in the weights, to

    minimise over d >= 0, sum_m d_m = 1
    J(d) = max over 0 <= a_i <= 1, sum a = nu n of  -1/2 a' K_d a,

with K_d = sum_m d_m K_m. Its dual has max_m a' K_m a in the place of a' K_d a. That is LIBSVM's and
scikit-learn's scaling; with a / (nu n) in the place of a it is that of the paper. Weights w_i of
samples are factors on their losses: 0 <= a_i <= w_i and sum a = nu sum w.

J < 0: -J is half the squared distance, from the origin, of what lies nearest to it among weighted
means of the samples, and learning kernels makes it as large as it gets. So it prefers kernels in
whose spaces the samples are far from the origin and alike: of Gaussians the widest. Give it kernels
among which that is a choice, such as one width on different features or views, not several widths
on one.

How it is solved, to a certified gap in a handful of SVM calls, is in
`mklbench.optim.simplex_search`. There are no labels, so this is no algorithm of the experiments.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.libsvm import OneClassSVM
from mklbench.optim import svm_dual
from mklbench.optim.simplex_search import Search
from mklbench.optim.svm_dual import InnerSVM
from mklbench.optim.svm_value import check_bank
from mklbench.solution import Solution
from mklbench.validation import check_limits, check_number, check_sample_weight

VERSION = 1
OPTIONS_FIRST = True
# As `mklbench.algorithms.mkl`.
MATRICES = 3.5


# A mean of the samples this near to the origin, beside the samples themselves, is at it.
_AT_THE_ORIGIN = 1e-12
# A lower bound is this much lower, for rounding.
_ROUNDING = 1e-9


def solve(
    bank: Bank,
    y: object = None,
    nu: float = 0.5,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    start: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn the kernel weights of a bank for samples of one class, to a certified optimum.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : object, default=None
        Not used; it stands where algorithms have labels.
    nu : float, default=0.5
        In (0, 1): at most this share of the samples is outside, and at least this share has a
        coefficient.
    tol : float, default=0.0001
        Stop at this certified relative duality gap.
    max_iter : int, default=100
        Maximum number of SVMs.
    start : array_like of shape (M,) or None, default=None
        Weights >= 0, not all zero, to start from, as in `mklbench.algorithms.mkl`.
    sample_weight : array_like of shape (n,) or None, default=None
        Weights w_i > 0 of samples, the bounds on their coefficients; 1 if not given. nu is then a
        share of the sum of weights.

    Returns
    -------
    Solution
        `weights` sum to 1 and have exact zeros, `dual_coef` is a, `intercept` -rho. `objective` is
        the dual value at the returned weights and coefficients, J up to the gap, and negative;
        `gap` is relative to the size of the primal value.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or in the space of every kernel the mean
        of the samples is the origin, as with centred kernels: no function separates them from it.
    """
    tol = check_limits(tol, max_iter)
    nu = check_number("nu", nu, 0.0, 1.0, "a number in (0, 1)", open_below=True, open_above=True)
    bank = check_bank("one_class", bank)
    n = bank.n_samples
    if sample_weight is None:
        w, weight = np.ones(n), float(n)
    else:
        w = check_sample_weight(sample_weight, n)
        weight = float(w.sum())
    forms = bank.quadratic_forms(w / weight)
    nearest = float(forms.max())
    if not nearest > _AT_THE_ORIGIN * float(bank.gram(bank.uniform_weights()).diagonal().max()):
        raise InputError(
            "the kernels are centred: the mean of the samples is the origin of each of them, from "
            "which no function can separate the samples; take kernels that are not."
        )
    # With these bounds outputs and rho are of the size 1, in which tolerances are meant.
    total = 1.0 / nearest
    box = total / (nu * weight)
    # LIBSVM's tolerance is meant for bounds of the size 1.
    mean = weight / n
    machine = OneClassSVM(n, nu, box=box * mean, sample_weight=w / mean)
    dual = svm_dual.of_one_class(n, machine.upper, total, -0.5 * total * (1.0 + _ROUNDING))
    svm = InnerSVM(bank, machine, dual)
    search = Search(bank, svm, tol, max_iter, falls_back=True, unit=1.0 / box**2)
    found = search.run(start)
    return replace(
        found,
        dual_coef=np.minimum(found.dual_coef / box, w),  # rounding
        intercept=found.intercept / box,
        objective=found.objective / box**2,
    )
