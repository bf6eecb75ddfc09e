"""The best single kernel of a bank by cross-validation: what learned combinations have to beat.

Each kernel is tried alone on stratified folds of the training samples, at the hyperparameters that
are given; on that with the fewest errors (for real targets, the smallest squared error) a machine
is learned from all samples. A search over C outside looks at the kernel chosen for each C.

    m = argmin over k of  sum over folds F of  #{i in F: y_i f_k(x_i) <= 0},   f_k learned without F
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank
from mklbench.optim.machines import ClassWeight, Learner, losses_of_each, reported
from mklbench.solution import Solution
from mklbench.validation import check_count

VERSION = 1

COMBINES_ONCE = True
REGRESSION = True


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    folds: int = 5,
    seed: int = 0,
    learner: str = "svm",
    lam: float = 1.0,
    epsilon: float = 0.1,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Choose one kernel of a bank by cross-validation, and learn on it.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}; real targets for "krr" and "svr".
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    folds : int, default=5
        Number of folds, >= 2; fewer where the smaller class has fewer samples, as each class
        has its share of a fold.
    seed : int, default=0
        Of the shuffle before samples are dealt to folds.
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
        Factors > 0 on C by sample, beside those by class: C_i is the product of all. Held-out
        samples count once each.

    Returns
    -------
    Solution
        `weights` are 1 for the kernel chosen and 0 for the others; `objective` and `gap` are those
        of the machine on it. The entry of `history` also has the loss on the held-out samples
        ("held_out_loss"): the share of wrong labels, or the mean squared error of real targets. Of
        kernels with the same loss the first is taken. The SVM calls are those of all folds.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    check_count("folds", folds, minimum=2)
    check_count("seed", seed, minimum=0)
    machine = Learner(learner, C, lam, epsilon, svm_tol, class_weight, sample_weight)
    bank, targets = machine.check("best_kernel", bank, y)
    losses, calls, seconds = losses_of_each("best_kernel", bank, targets, machine, folds, seed)
    best = int(losses.argmin())
    solution = machine.learn(bank, targets, np.eye(bank.n_kernels)[best])
    return reported(solution, solution.objective, calls, seconds, held_out_loss=float(losses[best]))
