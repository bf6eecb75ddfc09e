"""Gradient boosting of trees on all features side by side: a method that knows no kernels.

It is scikit-learn's `HistGradientBoostingClassifier`, with which tables of features are often
classified best. Its decision function is a sum of T trees, each fitted to the derivatives of the
logistic loss at the sum of those before, its leaves with the ridge lam, and shrunk:

    f(x) = f_0 + learning_rate sum_t tree_t(x),    loss  sum_i w_i log(1 + exp(-y_i f(x_i))).

Of the operator it takes the samples alone, which families of kernels keep; so the default kernel,
`product`, stands for the features as they are. The solution has the trees as its `model`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.certify import Bounds, Logistic
from mklbench.kernels.continuous import Family
from mklbench.optim.machines import at_once
from mklbench.optim.problem import ClassWeight, Problem
from mklbench.optim.svm_value import check_family, check_samples
from mklbench.solution import KernelMachine, Solution
from mklbench.validation import check_count, check_not_negative, check_positive

VERSION = 1

COMBINES_ONCE = True
MATRICES = 0.0


def solve(
    family: Family,
    y: ArrayLike,
    lam: float = 0.0,
    *,
    learning_rate: float = 0.1,
    max_iter: int = 100,
    max_leaf_nodes: int = 31,
    min_samples_leaf: int = 20,
    max_bins: int = 255,
    class_weight: ClassWeight = None,
    sample_weight: ArrayLike | None = None,
) -> Solution:
    """Boost trees on the samples of a family.

    Parameters
    ----------
    family : Family
        Any one on the n training samples.
    y : array_like of shape (n,)
        Labels in {-1, +1}.
    lam : float, default=0.0
        The ridge of the values of leaves, >= 0 (``l2_regularization``).
    learning_rate : float, default=0.1
        Factor on each tree, > 0.
    max_iter : int, default=100
        Number T of trees. None is left out for a validation part.
    max_leaf_nodes : int, default=31
        Leaves of a tree at most, >= 2.
    min_samples_leaf : int, default=20
        Samples of a leaf at least.
    max_bins : int, default=255
        Values of a feature that are told apart at most, 2 to 255. With thousands of features 63
        take less than half the time of 255.
    class_weight : mapping of int to float, str or None, default=None
        Factors on the loss by class, ``{-1: ..., +1: ...}``, or "balanced".
    sample_weight : array_like of shape (n,) or None, default=None
        Factors > 0 on the loss by sample, beside those by class: w_i is the product of all.

    Returns
    -------
    Solution
        `model` is the decision function. There are no kernels: `weights` are all 1/M, `dual_coef`
        is 0. `objective` is the loss on the training samples, and nothing but 0 bounds it from
        below, so that `gap` is 1 by its definition. `converged` says that all trees were made.

    Raises
    ------
    InputError
        If an argument has the wrong type, shape or range.
    """
    check_not_negative("lam", lam)
    check_positive("learning_rate", learning_rate)
    check_count("max_iter", max_iter)
    check_count("max_leaf_nodes", max_leaf_nodes, minimum=2)
    check_count("min_samples_leaf", min_samples_leaf)
    check_count("max_bins", max_bins, minimum=2, maximum=255)
    problem = Problem.of(y, 1.0, class_weight, sample_weight)
    check_samples(check_family("hist_gradient_boosting", family), len(problem.y))
    # Imported here, as it takes a second and the other algorithms do without.
    from sklearn.ensemble import HistGradientBoostingClassifier

    loss = Logistic(problem.y, np.asarray(problem.loss.box))
    trees = HistGradientBoostingClassifier(
        l2_regularization=lam,
        learning_rate=learning_rate,
        max_iter=max_iter,
        max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=min_samples_leaf,
        max_bins=max_bins,
        early_stopping=False,
        random_state=0,
    )
    # Weights that are all 1 go without saying: scikit-learn bins features by them ten times slower.
    trees.fit(family.samples, loss.y, sample_weight=None if (loss.box == 1.0).all() else loss.box)
    bounds = Bounds(loss.value(trees.decision_function(family.samples)), 0.0)
    machine = KernelMachine(family.uniform_weights(), np.zeros(len(loss.y)), 0.0)
    return replace(
        at_once(machine, bounds.upper, bounds.relative_gap, 0.0),
        n_iter=max_iter,
        converged=trees.n_iter_ == max_iter,
        model=trees.decision_function,
    )
