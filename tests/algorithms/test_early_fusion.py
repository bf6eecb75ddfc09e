"""Early fusion: one machine on one kernel of all features."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklbench import multiclass
from mklbench.algorithms import early_fusion
from mklbench.errors import InputError
from mklbench.kernels import Standardised, feature_gaussians


def test_is_an_svm_behind_a_scaler() -> None:
    X, y = random_problem(60)
    X = X * [1.0, 50.0, 1e-3, 1.0] + [0.0, 10.0, 0.0, -3.0]
    kernel = Standardised()(X)
    solution = early_fusion.solve(kernel, y, C=2.0, svm_tol=1e-6)
    theirs = make_pipeline(StandardScaler(), SVC(C=2.0, gamma=0.25, tol=1e-6)).fit(X, y)
    ours = multiclass.decision_function(kernel, [solution], X)
    assert_allclose(ours, theirs.decision_function(X), atol=1e-4)
    assert_array_equal(solution.weights, [1.0])


def test_several_kernels_are_not_fused() -> None:
    X, y = random_problem(10)
    with pytest.raises(InputError, match="one kernel of all features, but there are 4: choose"):
        early_fusion.solve(feature_gaussians(X), y)
