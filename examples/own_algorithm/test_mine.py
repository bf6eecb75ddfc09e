"""The suite that the algorithms of mklbench pass, and what this one promises beyond it."""

from pathlib import Path

import numpy as np
from mine import solve

from mklbench.algorithms import uniform
from mklbench.kernels import feature_gaussians
from mklbench.testing import check_algorithm

HERE = Path(__file__).parent


def test_what_holds_for_every_algorithm():
    check_algorithm("mine", config_dir=HERE)
    check_algorithm(solve)


def test_the_power_0_is_the_uniform_combination():
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    bank = feature_gaussians(X)
    flat, sharp = solve(bank, y, power=0.0), solve(bank, y, power=50.0)
    assert np.isclose(flat.objective, uniform.solve(bank, y).objective)
    assert sharp.weights.argmax() == 0
    assert sharp.weights.max() > 0.99
