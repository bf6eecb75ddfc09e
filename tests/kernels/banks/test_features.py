"""Kernels on single features: what is stored of them, and how much memory they take."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from dense_twins import dense_gaussian, on_each_feature
from numpy.testing import assert_allclose

from mklbench.kernels import FeatureBank, Gaussian, Polynomial
from mklbench.kernels.functions import KernelFunction
from mklbench.libsvm import SVM

GAMMAS = (0.1, 1.0)
GAUSSIANS = [Gaussian(gamma) for gamma in GAMMAS]


def samples(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, d))


@pytest.mark.parametrize("function", [Gaussian(0.7), Polynomial(3), Polynomial(1, offset=0.0)])
@pytest.mark.parametrize("d", [1, 4])
def test_the_diagonal_of_a_kernel_function(function: KernelFunction, d: int) -> None:
    X = samples(9, d)
    assert_allclose(function.diagonal(X), function(X, X).diagonal(), rtol=1e-12)


class TestStorage:
    @pytest.mark.parametrize(("n", "stores_all"), [(15, True), (600, False)])
    def test_all_matrices_of_small_problems_and_factors_of_large_ones(
        self, n: int, stores_all: bool
    ) -> None:
        bank = FeatureBank(samples(n, 8), GAUSSIANS)
        assert bank._stores_all == stores_all
        part = bank.take(range(15))
        assert isinstance(part, FeatureBank)
        assert part._stores_all

    def test_ranks_far_below_n_are_factors(self) -> None:
        X = np.random.default_rng(0).integers(0, 2, (60, 8)).astype(float)
        bank = FeatureBank(X, GAUSSIANS)
        bank.combine(np.ones(16))
        assert (bank._stores_all, len(bank._grams)) == (False, 0)


def test_a_feature_on_which_every_kernel_is_zero() -> None:
    X = np.column_stack([np.zeros(6), np.arange(6.0)])
    bank = FeatureBank(X, [Polynomial(1, offset=0.0)])
    assert_allclose(bank.combine([1.0, 0.0]), np.zeros((6, 6)))
    assert_allclose(bank.combine([1.0, 2.0]), 2.0 * np.outer(X[:, 1], X[:, 1]))
    assert_allclose(bank.quadratic_forms(np.ones(6)), [0.0, 225.0])


class TestStoredMatrices:
    def test_kernels_that_stay_active_are_kept_within_the_memory(self) -> None:
        n, d = 300, 10
        X = samples(n, d)
        dense = on_each_feature([dense_gaussian(gamma) for gamma in GAMMAS], X, X)
        room = 5
        limit = room * 8 * n * (n + 1) // 2
        bank = FeatureBank(X, GAUSSIANS, memory_limit=limit)
        rng = np.random.default_rng(2)
        most = 0
        for _ in range(12):
            active = rng.choice(2 * d, 3, replace=False)
            for _ in range(3):
                weights = np.zeros(2 * d)
                weights[active] = rng.uniform(size=3)
                combined = bank.combine(weights)
                assert_allclose(combined, np.tensordot(weights, dense, axes=1), atol=1e-10)
                most = max(most, len(bank._grams))
        assert 3 <= most <= room
        assert_allclose(bank.combine(np.ones(2 * d)), dense.sum(axis=0), atol=1e-9)

    def test_kernels_active_once_are_not_kept(self) -> None:
        bank = FeatureBank(samples(300, 10), GAUSSIANS)
        for unit in np.eye(bank.n_kernels):
            bank.combine(unit)
        assert len(bank._grams) == 0


class TestMemory:
    def test_factors_are_made_without_a_gram_matrix(self) -> None:
        n = 1500
        X = samples(n, 2)
        tracemalloc.start()
        try:
            FeatureBank(X, GAUSSIANS)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 * n**2 / 3

    def test_factors_take_a_small_part_of_the_stack(self) -> None:
        n, d = 400, 20
        X = samples(n, d)
        functions = [Gaussian(gamma) for gamma in np.geomspace(0.01, 1.0, 8)]
        stack_bytes = 8 * d * len(functions) * n**2
        gram = SVM(np.resize([-1.0, 1.0], n)).gram
        weights = np.where(np.arange(d * len(functions)) % 10, 0.0, 0.1)
        tracemalloc.start()
        try:
            bank = FeatureBank(X, functions)
            for _ in range(3):
                bank.combine(weights, out=gram)
            bank.quadratic_forms(X[:, 0])
            bank.products(X[:, 0], np.flatnonzero(weights))
            bank.combine(np.ones(bank.n_kernels), out=gram)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < stack_bytes / 6


def test_travels_before_and_after_it_was_asked_for_anything() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    bank = FeatureBank(X, [Gaussian(0.5), Gaussian(2.0)])
    fresh = pickle.loads(pickle.dumps(bank))
    part = pickle.loads(pickle.dumps(bank.take([1, 5, 6])))
    K = bank.combine([1.0, 0.0, 0.5, 0.2])
    used = pickle.loads(pickle.dumps(bank))
    for other in (fresh, used):
        assert np.array_equal(other.combine([1.0, 0.0, 0.5, 0.2]), K)
    assert_allclose(part.combine([1.0, 0.0, 0.5, 0.2]), K[np.ix_([1, 5, 6], [1, 5, 6])], atol=1e-12)
