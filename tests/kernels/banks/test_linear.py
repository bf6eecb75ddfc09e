"""What is particular to the bank of linear kernels; the rest is in test_kernels_operators."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mklbench.errors import InputError
from mklbench.kernels import linear_features


def test_weights_of_both_signs() -> None:
    """A direction of weights is no kernel, but what a bank combines is linear in them."""
    X = np.random.default_rng(0).standard_normal((9, 4))
    d = np.array([1.0, -2.0, 0.0, -0.5])
    assert_allclose(linear_features(X).combine(d), (X * d) @ X.T, atol=1e-12)


def test_new_samples_have_the_same_features() -> None:
    bank = linear_features(np.ones((5, 3)))
    with pytest.raises(InputError, match="Z has 2 features, but the kernels were built on 3"):
        bank.cross(np.ones(3), np.ones((2, 2)))


def test_the_samples_belong_to_the_bank() -> None:
    X = np.ones((5, 3))
    bank = linear_features(X)
    X[...] = 7.0
    assert_allclose(bank.traces(), 5.0)
