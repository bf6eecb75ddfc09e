"""The uniform combination."""

from __future__ import annotations

import conic_twins
import numpy as np
from dense_twins import dense_gaussian
from numpy.testing import assert_allclose
from problems import random_problem, random_stack

from mklbench.algorithms import uniform
from mklbench.kernels import PrecomputedBank, product_gaussians


def test_a_bank_is_averaged() -> None:
    stack, y = random_stack()
    solution = uniform.solve(PrecomputedBank(stack), y, C=2.0, svm_tol=1e-6)
    assert_allclose(solution.weights, np.full(5, 0.2))
    assert_allclose(
        solution.objective, conic_twins.svm(stack.mean(axis=0), y, 2.0).value, rtol=1e-5
    )


def test_the_uniform_product_is_the_gaussian_of_width_one_over_the_features() -> None:
    X, y = random_problem(40)
    solution = uniform.solve(product_gaussians(X), y, C=2.0, svm_tol=1e-6)
    value = conic_twins.svm(dense_gaussian(0.25)(X, X), y, 2.0).value
    assert_allclose(solution.weights, np.full(4, 0.25))
    assert_allclose(solution.objective, value, rtol=1e-5)
