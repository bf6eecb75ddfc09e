"""ALIGN: each kernel weighted by its own alignment (Cortes, Mohri & Rostamizadeh 2012).

The first stage needs no optimisation. Kernel m has the weight

    d_m = rho(K_m) / ||d||,   rho(K_m) = <K_mc, y_c y_c'>_F / (||K_mc||_F ||y_c y_c'||_F),

its centred alignment with the targets (`mklbench.optim.alignment`), at unit 2-norm of d.
The second stage learns on sum_m d_m K_m. For machines with an intercept, SVM and SVR, the sum of
the centred kernels is the same; for ridge regression it is not, and a bank is centred beforehand
where that is wanted (`mklbench.kernels.CentredBank`).

The kernels are used at the scale they come in: the alignment does not depend on it, their share in
the sum does. Kernels of unit trace or with a diagonal of ones are comparable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank
from mklbench.optim.alignment import Alignment
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
        indefinite kernel may have, gets the weight 0. The inner products of all
        kernels, from which the alignment of their combination follows, take O(M^2) memory.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        The second stage, "svm", "krr" or "svr".
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
        `weights` have unit 2-norm, `objective` is the alignment of their combination with the
        targets, and `gap` that of the second stage: the weights are a formula, with no optimum to
        miss.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or no kernel a positive alignment.
    """
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    bank, targets = machine.check("align", bank, y)
    alignment = Alignment.of(bank, targets)
    clipped = np.maximum(alignment.of_each(), 0.0)
    weights = clipped / np.linalg.norm(clipped)
    return reported(machine.learn(bank, targets, weights), alignment.bounds(weights).lower)
