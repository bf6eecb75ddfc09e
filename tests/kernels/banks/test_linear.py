"""What is particular to the bank of linear kernels; the rest is in test_operators."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from mklbench.kernels import linear_features


def test_weights_of_both_signs() -> None:
    """A direction of weights is no kernel, but what a bank combines is linear in them."""
    X = np.random.default_rng(0).standard_normal((9, 4))
    d = np.array([1.0, -2.0, 0.0, -0.5])
    assert_allclose(linear_features(X).combine(d), (X * d) @ X.T, atol=1e-12)
