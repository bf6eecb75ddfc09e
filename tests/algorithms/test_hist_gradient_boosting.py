"""Boosted trees on the samples of a family are those of scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from mklbench import multiclass
from mklbench.algorithms import hist_gradient_boosting
from mklbench.data.splits import folds
from mklbench.errors import InputError
from mklbench.experiments.search import Responses, held_out_decisions
from mklbench.kernels import Family, feature_gaussians, product_gaussians
from mklbench.prediction import DecisionFunction


def test_the_decision_function_is_scikit_learns_also_after_pickling() -> None:
    X, y = random_problem(80)
    Z = random_problem(20, seed=5)[0]
    importance = np.linspace(0.5, 2.0, 80)
    options: dict[str, Any] = {
        "learning_rate": 0.2,
        "max_iter": 10,
        "max_leaf_nodes": 4,
        "min_samples_leaf": 5,
        "max_bins": 9,
    }
    family = product_gaussians(X)
    solution = hist_gradient_boosting.solve(
        family, y, 0.3, class_weight={-1: 2.0, 1: 1.0}, sample_weight=importance, **options
    )
    weights = importance * np.where(y > 0, 1.0, 2.0)
    theirs = HistGradientBoostingClassifier(l2_regularization=0.3, early_stopping=False, **options)
    theirs.fit(X, y, sample_weight=weights)
    expected = theirs.decision_function(Z)
    assert_allclose(multiclass.decision_function(family, [solution], Z), expected)
    decide = pickle.loads(pickle.dumps(DecisionFunction.of(family, [solution])))
    assert_allclose(decide(Z), expected)
    loss = log_loss(y, theirs.predict_proba(X), normalize=False, sample_weight=weights)
    assert solution.objective == pytest.approx(loss)
    assert (solution.gap, solution.converged) == (1.0, True)


def test_held_out_samples_of_several_classes() -> None:
    X, _ = random_problem(90)
    codes = np.digitize(X[:, 0], [-0.4, 0.4]).astype(np.int64)
    held = held_out_decisions(
        product_gaussians(X), hist_gradient_boosting.solve, Responses(codes, 3), 3, 0
    )
    assert (held.argmax(axis=1) == codes).mean() > 0.9
    fit_rows, held_out = folds(codes, 3, 0)[0]
    for code in range(3):
        trees = HistGradientBoostingClassifier(early_stopping=False)
        trees.fit(X[fit_rows], codes[fit_rows] == code)
        assert_array_equal(held[held_out, code], trees.decision_function(X[held_out]))


def test_a_bank_is_refused_with_the_kernel_to_choose() -> None:
    X, y = random_problem(40)
    with pytest.raises(InputError, match="choose kernel=product"):
        hist_gradient_boosting.solve(cast(Family, feature_gaussians(X)), y)
