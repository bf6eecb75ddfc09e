"""The F-heuristic: kernels weighted by their alignment, not centred (Qiu & Lane 2009).

S. Qiu, T. Lane, "A framework for multiple kernel support vector regression and its applications to
siRNA efficacy prediction", IEEE/ACM TCBB 6(2). Kernel m has the weight

    d_m = A(K_m, y y') / sum_l A(K_l, y y'),   A(K, y y') = y' K y / (||K||_F ||y||^2),

the alignment of Cristianini et al. 2001 with the target kernel. ALIGN (`mklbench.algorithms.align`)
centres the kernels first, which Cortes et al. 2012 found to be what makes alignment agree with
accuracy, and has the weights at unit 2-norm, that is, a larger C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank
from mklbench.optim.alignment import cosines, require_aligned
from mklbench.optim.machines import ClassWeight, Learner, reported
from mklbench.solution import Solution

VERSION = 1

COMBINES_ONCE = True
REGRESSION = True


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    learner: str = "svm",
    lam: float = 1.0,
    epsilon: float = 0.1,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Weight the kernels of a bank by their alignment with the targets, and learn on their sum.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples. One with a negative alignment, which an
        indefinite kernel may have, gets the weight 0.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        What is learned on the sum, "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}`` or "balanced", of "svm".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all. Alignments
        have all samples alike.

    Returns
    -------
    Solution
        `weights` have the sum 1, `objective` is the alignment of their combination with the
        targets, and `gap` that of the machine: the weights are a formula, with no optimum to miss.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or no kernel a positive alignment.
    """
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    bank, targets = machine.check("f_heuristic", bank, y)
    target_norm = float(targets @ targets)
    norms = np.array([np.linalg.norm(bank.combine(unit)) for unit in np.eye(bank.n_kernels)])
    products = np.maximum(bank.target_alignments(targets), 0.0)
    each = cosines(products, norms, target_norm)
    require_aligned(each, "zero")
    weights = each / float(each.sum())
    solution = machine.learn(bank, targets, weights)
    norm = float(np.linalg.norm(bank.combine(weights)))
    return reported(solution, float(weights @ products) / (norm * target_norm))
