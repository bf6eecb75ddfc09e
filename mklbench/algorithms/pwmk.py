"""PWMK: kernels weighted by what each is worth alone (Tanabe, Ho, Nguyen & Kawasaki 2008).

H. Tanabe et al., "Simple but effective methods for combining kernels in computational biology",
RIVF 2008: proportionally weighted multiple kernels. With pi_m the accuracy of a machine on kernel m
alone, on samples that it was not learned from,

    d_m = (pi_m - t) / sum_l (pi_l - t),    t = delta min_l pi_l,

so that delta = 0 hardly tells the kernels apart and delta = 1 leaves the worst one out. (Gönen &
Alpaydın 2011, eq. 15, have t for the threshold itself, at most the smallest accuracy; MKLpy 0.6 has
the share delta of it, as here.) The paper leaves open how accuracies are measured; here, and in
MKLpy, by cross-validation inside the training samples.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.kernels.base import Bank
from mklbench.optim.machines import ClassWeight, Learner, losses_of_each, reported
from mklbench.solution import Solution
from mklbench.validation import check_count, check_share

VERSION = 1

COMBINES_ONCE = True

# Of accuracies that are the same.
_ROUNDING = 1e-9


def solve(
    bank: Bank,
    y: ArrayLike,
    C: float = 1.0,
    *,
    delta: float = 0.0,
    folds: int = 5,
    seed: int = 0,
    svm_tol: float = 1e-3,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Weight the kernels of a bank by their own accuracies, and learn on their sum.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    C : float, default=1.0
        Box constraint, of the machines on single kernels as well.
    delta : float, default=0.0
        The threshold as a share of the smallest accuracy, in [0, 1].
    folds : int, default=5
        Number of folds, >= 2; fewer where the smaller class has fewer samples.
    seed : int, default=0
        Of the shuffle before samples are dealt to folds.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : mapping of int to float, str or None, default=None
        Factors on C by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on C by sample, beside those by class: C_i is the product of all. Held-out
        samples count once each.

    Returns
    -------
    Solution
        `weights` have the sum 1, all the same where every kernel is at the threshold; `objective`
        and `gap` are those of the SVM on their sum. The entry of `history` also has the share of
        wrong labels of the best kernel ("held_out_loss"). The SVM calls are those of all folds.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range, or a class has one sample.
    """
    check_share("delta", delta)
    check_count("folds", folds, minimum=2)
    check_count("seed", seed, minimum=0)
    machine = Learner("svm", C, 1.0, 0.0, svm_tol, class_weight, sample_weight)
    bank, labels = machine.check("pwmk", bank, y)
    losses, calls, seconds = losses_of_each("pwmk", bank, labels, machine, folds, seed)
    accuracies = 1.0 - losses
    above = accuracies - delta * accuracies.min()
    above[above < _ROUNDING] = 0.0
    weights = above / above.sum() if above.any() else bank.uniform_weights()
    solution = machine.learn(bank, labels, weights)
    return reported(solution, solution.objective, calls, seconds, held_out_loss=float(losses.min()))
