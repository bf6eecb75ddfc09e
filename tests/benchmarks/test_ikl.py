"""The yardstick of infinite kernel learning."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_problem

from benchmarks import ikl_prototype
from mklbench.algorithms import ikl
from mklbench.kernels import product_gaussians

X, Y = (part[:40] for part in random_problem(100, 4))


def test_its_gradient_is_the_difference_of_prices() -> None:
    rng = np.random.default_rng(0)
    a, theta = rng.standard_normal(40), rng.uniform(0.1, 2.0, 4)
    price = ikl_prototype.Subproblem(X, a)
    value, gradient = price(theta)
    K = product_gaussians(X).gram(theta)
    assert_allclose(ikl_prototype.gram(X, theta), K, atol=1e-12)
    assert_allclose(value, 0.5 * a @ K @ a)
    step = 1e-6
    moved = [price(theta + step * unit)[0] - price(theta - step * unit)[0] for unit in np.eye(4)]
    assert_allclose(np.array(moved) / (2 * step), gradient, rtol=1e-5)


@pytest.mark.slow
def test_it_reaches_the_objective_of_ikl() -> None:
    plain = ikl_prototype.solve(X, Y, 1.0)
    assert plain.converged
    family = product_gaussians(X, gamma_max=30.0)
    assert_allclose(plain.objective, ikl.solve(family, Y, 1.0).objective, rtol=1e-2)
