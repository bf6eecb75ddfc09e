"""The kernel of inner products against its Gram matrix, and what many samples are kept as."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from mklbench.kernels import DenseBank, FeatureBank, Gaussian, Linear
from mklbench.kernels.banks.function_bank import needs_on_all_features, on_all_features
from mklbench.kernels.banks.linear import InnerProductBank
from mklbench.kernels.contract import Shape
from mklbench.kernels.row_factors import MANY

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))
Z = RNG.standard_normal((7, 4))


def test_is_the_bank_of_its_gram_matrix() -> None:
    bank, dense = InnerProductBank(X), DenseBank(X, [Linear()])
    a = RNG.standard_normal(30)
    K = RNG.standard_normal((30, 30))
    for name, *arguments in (
        ("combine", [2.0]),
        ("quadratic_forms", a),
        ("products", a, [0, 0]),
        ("traces",),
        ("diagonals",),
        ("diagonals", Z),
        ("inner_products_with", K + K.T),
        ("inner_products",),
        ("cross", [0.5], Z),
    ):
        ours, theirs = (getattr(each, name)(*arguments) for each in (bank, dense))
        assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-10), name
    centred = (each.inner_products(centred=True) for each in (bank, dense))
    assert next(centred) == pytest.approx(next(centred), rel=1e-10)
    rows = np.array([3, 1, 20])
    few = bank.take(rows, np.zeros(1, dtype=np.intp))
    assert few.cross([1.0], Z) == pytest.approx(Z @ X[rows].T)
    assert bank.take(rows).combine([1.0]) == pytest.approx(X[rows] @ X[rows].T)
    out = np.ones((30, 30))
    bank.accumulate([2.0], out)
    assert out == pytest.approx(1.0 + 2.0 * X @ X.T)


def test_has_factors() -> None:
    bank = InnerProductBank(X)
    factors = bank.row_factors()
    a = RNG.standard_normal(30)
    t = factors.projected(slice(0, factors.n_samples), a)
    assert factors.forms(t) == pytest.approx(bank.quadratic_forms(a))
    outputs = factors.rows(0, factors.n_samples) @ factors.expanded(np.array([0.5]), t)
    assert outputs == pytest.approx(bank.combine([0.5]) @ a)
    assert factors.cross.cross([0.5], Z) @ t == pytest.approx(bank.cross([0.5], Z) @ a)


def test_takes_sparse_samples() -> None:
    bank = InnerProductBank(csr_array(X))
    assert bank.combine([1.0]) == pytest.approx(X @ X.T)
    assert bank.cross([1.0], csr_array(Z)) == pytest.approx(Z @ X.T)


@pytest.mark.parametrize(
    ("shape", "function", "kind"),
    [
        ((MANY, 1), Gaussian(1.0), FeatureBank),
        ((MANY, 3), Linear(), InnerProductBank),
        ((50, 1), Gaussian(1.0), DenseBank),
        ((50, 3), Linear(), DenseBank),
    ],
)
def test_many_samples_are_kept_without_gram_matrices(
    shape: tuple[int, int], function: Gaussian | Linear, kind: type
) -> None:
    samples = RNG.standard_normal(shape)
    bank = on_all_features(samples, [function])
    assert type(bank) is kind
    needed = needs_on_all_features(Shape(*shape), [function])
    assert (needed.rank is None) == (kind is DenseBank)
