"""MKL with the elastic net: between the sparse combination of kernels and their plain sum.

Over functions f_m in the spaces of the M kernels and an intercept b (Tomioka & Suzuki 2010)

    minimise  sum_m [ (1 - mix) ||f_m|| + mix/2 ||f_m||^2 ] + C sum_i max(0, 1 - y_i f(x_i)),

f = sum_m f_m + b. At mix = 1 this is the SVM on the sum of the kernels, and towards 0 the block l1
norm, which has the solutions of MKL at another C. As a function of kernel weights it is to

    minimise over 0 <= d_m < 1 / mix   J(d) + 1/2 sum_m (1 - mix)^2 d_m / (1 - mix d_m),

J being the value of the SVM with the kernel sum_m d_m K_m, and its dual is to

    maximise  sum_i alpha_i - 1/(2 mix) sum_m max(0, sqrt(a' K_m a) - (1 - mix))^2

over 0 <= alpha <= C, y'alpha = 0, a = alpha o y. A kernel has weight where sqrt(a' K_m a) exceeds
1 - mix: correlated kernels share it, of which MKL picks one. SVMs and the best weights for their
functions, d_m = ||f_m|| / (1 - mix + mix ||f_m||), are taken in turn
(`mklbench.optim.alternation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.libsvm import check_svm_options
from mklbench.optim import side_by_side
from mklbench.optim.alternation import alternate
from mklbench.optim.svm_value import Objective, check_bank
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.solution import Solution
from mklbench.validation import check_count, check_positive

VERSION = 1

bytes_needed = side_by_side.bytes_needed


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    mix: float = 0.5,
    tol: float = 1e-4,
    max_iter: int = 1000,
    svm_tol: float = 1e-3,
    class_weight: Mapping[int, float] | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Learn kernel weights under the elastic net.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint.
    mix : float, default=0.5
        In (0, 1], the share of the squared norms: 1 for the plain sum of kernels, towards 0 for
        sparse weights.
    tol : float, default=0.0001
        Stop at this certified relative duality gap.
    max_iter : int, default=1000
        At most so many changes of the weights.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; it is tightened by itself where it, not the weights,
        keeps the gap above `tol`.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        Of the iterate with the smallest certified gap. `objective` is J plus the price of the
        weights. Each entry of `history` has the objective and the gap of an iterate, and the SVM
        calls so far ("n_svm_calls").

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    bank = check_bank("elastic_net", bank)
    if not isinstance(mix, Real) or isinstance(mix, bool) or not 0.0 < mix <= 1.0:
        raise InputError(f"mix={mix!r} is not accepted: it must be a number in (0, 1].")
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    check_svm_options(C, svm_tol, class_weight, sample_weight)
    penalty = ElasticNet(float(mix))
    objective = Objective(bank, y, C, svm_tol, class_weight, sample_weight)
    start = penalty.best_weights(np.ones(bank.n_kernels))
    (solution,) = side_by_side.run(
        bank, [alternate(objective, penalty, start, tol, None, max_iter)]
    )
    return solution
