"""The best single kernel by cross-validation."""

from __future__ import annotations

import numpy as np
from alignment_problems import real_targets, scaled_stack
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC, SVR

from mklbench.algorithms import best_kernel, svm
from mklbench.kernels import PrecomputedBank, feature_gaussians


def test_is_the_kernel_scikit_learn_chooses() -> None:
    stack, y = scaled_stack()
    splitter = StratifiedKFold(4, shuffle=True, random_state=3)
    machine = SVC(kernel="precomputed", C=2.0)
    scores = [cross_val_score(machine, K, y, cv=splitter).mean() for K in stack]
    solution = best_kernel.solve(PrecomputedBank(stack), y, C=2.0, folds=4, seed=3)
    assert_array_equal(solution.weights, np.arange(6) == np.argmax(scores))
    assert_allclose(solution.history[0]["held_out_loss"], 1.0 - max(scores))
    alone = svm.solve(PrecomputedBank(stack), y, C=2.0, weights=solution.weights)
    assert_array_equal(solution.dual_coef, alone.dual_coef)
    assert solution.n_svm_calls == 6 * 4 + 1


def test_real_targets_by_squared_error() -> None:
    stack, _ = scaled_stack()
    y = real_targets()
    splitter = KFold(5, shuffle=True, random_state=0)
    machine = SVR(kernel="precomputed", C=2.0)
    scoring = "neg_mean_squared_error"
    scores = [cross_val_score(machine, K, y, cv=splitter, scoring=scoring).mean() for K in stack]
    solution = best_kernel.solve(PrecomputedBank(stack), y, C=2.0, learner="svr")
    assert_array_equal(solution.weights, np.arange(6) == np.argmax(scores))
    assert_allclose(solution.history[0]["held_out_loss"], -max(scores), rtol=1e-3)


def test_kernels_that_do_equally_well() -> None:
    stack, y = scaled_stack()
    twice = np.concatenate([stack, stack])
    assert best_kernel.solve(PrecomputedBank(twice), y).weights[:6].sum() == 1


def test_a_small_class_has_a_sample_in_every_fold() -> None:
    X, _ = random_problem(40)
    y = np.where(np.arange(40) < 3, 1.0, -1.0)
    three = best_kernel.solve(feature_gaussians(X), y, folds=3)
    solution = best_kernel.solve(feature_gaussians(X), y, folds=5)
    assert solution.n_svm_calls == 4 * 3 + 1
    assert_array_equal(solution.weights, three.weights)
