"""Early fusion: one machine on one kernel of all features, the data sources side by side.

The features are joined before anything is learned, and scaled so that no source outweighs the
others by its units (`mklbench.kernels.Standardised`). It is the baseline without kernel learning.

    k(x, z) = k((x_1, ..., x_V), (z_1, ..., z_V)),   x_v the standardised features of source v
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Bank
from mklbench.optim.machines import ClassWeight, Learner
from mklbench.solution import Solution

VERSION = 1

COMBINES_ONCE = True
REGRESSION = True


def solve(
    kernel: Bank,
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
    """Learn one machine on the one kernel of a bank.

    Parameters
    ----------
    kernel : Bank
        A bank of one kernel on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        What is learned, "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}`` or "balanced", of "svm".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all.

    Returns
    -------
    Solution
        That of the machine, with its `objective` and `gap`.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or there are several kernels.
    """
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    bank, targets = machine.check("early_fusion", kernel, y)
    if bank.n_kernels != 1:
        raise InputError(
            f"early_fusion learns on one kernel of all features, but there are {bank.n_kernels}: "
            "choose kernel=standardised, gaussian or combination."
        )
    return machine.learn(bank, targets, np.ones(1))
