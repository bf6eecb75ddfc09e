"""Logistic regression on kernels is that of scikit-learn on features."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_problem, random_stack
from sklearn.linear_model import LogisticRegression

from mklbench import multiclass
from mklbench.algorithms import logistic_regression
from mklbench.kernels import PrecomputedBank, linear


@pytest.mark.parametrize("n_features", [4, 100])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_linear_kernel_equals_scikit_learns(n_features: int, C: float) -> None:
    X, y = random_problem(50, n_features)
    Z = random_problem(20, n_features, seed=5)[0]
    importance = np.linspace(0.5, 2.0, 50)
    solution = logistic_regression.solve(
        linear(X), y, C, class_weight={-1: 2.0, 1: 1.0}, sample_weight=importance
    )
    theirs = LogisticRegression(C=C, class_weight={-1: 2.0, 1: 1.0}, tol=1e-10, max_iter=10**5)
    theirs.fit(X, y, sample_weight=importance)
    ours = multiclass.decision_function(linear(X), [solution], Z)
    assert_allclose(ours, theirs.decision_function(Z), rtol=1e-4, atol=1e-4)
    assert solution.converged
    assert abs(solution.dual_coef.sum()) < 1e-10 * C


def test_the_path_is_what_solve_returns_at_each_c() -> None:
    stack, y = random_stack()
    bank = PrecomputedBank(stack)
    path = logistic_regression.solve_path(bank, y, [0.1, 10.0])
    for C, solution in zip([0.1, 10.0], path, strict=True):
        alone = logistic_regression.solve(bank, y, C)
        assert_allclose(solution.dual_coef, alone.dual_coef)
        assert solution.objective == alone.objective


def test_what_rounding_leaves_is_no_solution() -> None:
    X, y = random_problem(50, 100)
    assert not logistic_regression.solve(linear(X), y, 1e12).converged
