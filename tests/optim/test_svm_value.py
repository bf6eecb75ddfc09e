"""J(w), the SVM's optimal value as a function of the kernel, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import differences, random_problem

from mklbench.kernels import feature_gaussians, product_gaussians
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective


@pytest.mark.parametrize("C", [0.5, 5.0])
@pytest.mark.parametrize("build", [feature_gaussians, product_gaussians])
def test_gradient_against_finite_differences(build: object, C: float) -> None:
    X, y = random_problem(40)
    objective = Objective(build(X), Problem.of(y, C, svm_tol=1e-8))  # type: ignore[operator]
    weights = np.array([0.3, 0.7, 0.2, 0.4])
    numeric = differences(lambda at: objective(at).objective, weights, 1e-4)
    gradient = objective(weights).gradient
    assert_allclose(gradient, numeric, rtol=0, atol=1e-4 * np.abs(gradient).max())


def test_tightening_ends() -> None:
    X, y = random_problem(20)
    objective = Objective(feature_gaussians(X), Problem.of(y, 1.0, svm_tol=1e-2))
    steps = 0
    while objective.tighten():
        steps += 1
        assert steps < 20
    assert steps > 0
    assert objective.svm_tol < 1e-3
