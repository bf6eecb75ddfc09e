"""Kernels on all features that have factors in blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from mklbench.kernels import DenseBank, Gaussian, Linear
from mklbench.kernels.builders.named import on_all_features
from mklbench.kernels.row_factors import MANY

RNG = np.random.default_rng(0)
X = RNG.standard_normal((MANY, 4))
Z = RNG.standard_normal((7, 4))


def test_inner_products_of_many_samples_have_factors() -> None:
    bank = DenseBank(X, [Linear()])
    factors = bank.row_factors()
    assert factors is not None
    a = RNG.standard_normal(len(X))
    t = factors.rows(0, factors.n_samples).T @ a
    assert factors.forms(t) == pytest.approx([np.sum((X.T @ a) ** 2)])
    outputs = factors.rows(0, factors.n_samples) @ factors.expanded(np.array([0.5]), t)
    assert outputs == pytest.approx(0.5 * X @ (X.T @ a))
    assert factors.cross.cross([0.5], Z) @ t == pytest.approx(bank.cross([0.5], Z) @ a)
    assert bank.traces() == pytest.approx([np.sum(X**2)])


def test_sparse_samples_are_made_dense_for_their_factors() -> None:
    bank = on_all_features(csr_array(X), [Linear()])
    assert bank.row_factors() is not None
    assert bank.take(np.arange(9)).cross([1.0], csr_array(Z)) == pytest.approx(Z @ X[:9].T)


@pytest.mark.parametrize(
    ("shape", "function", "factors"),
    [
        ((MANY, 1), Gaussian(1.0), True),
        ((MANY, 3), Linear(), True),
        ((MANY, 3), Gaussian(1.0), False),
        ((50, 1), Gaussian(1.0), False),
        ((50, 3), Linear(), False),
    ],
)
def test_what_has_factors_says_so_of_its_memory(
    shape: tuple[int, int], function: Gaussian | Linear, factors: bool
) -> None:
    bank = on_all_features(RNG.standard_normal(shape), [function])
    assert (bank.row_factors() is not None) is factors
    few = on_all_features(np.eye(2, shape[1]), [function])
    assert (few.memory(shape[0]).rank is not None) is factors
