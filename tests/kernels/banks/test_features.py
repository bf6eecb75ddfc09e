"""Kernels on single features: which form the cost model chooses, what is kept, how much memory."""

from __future__ import annotations

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest
from dense_twins import awkward_features, dense_gaussian, on_each_feature
from numpy.testing import assert_allclose

from mklbench.errors import InputError
from mklbench.kernels import FeatureBank, Gaussian, Polynomial
from mklbench.kernels.functions import KernelFunction
from mklbench.kernels.storage.cost import FeatureCosts
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


class TestChoice:
    @pytest.mark.parametrize(("n", "form"), [(15, "halves"), (600, "factors")])
    def test_halves_of_small_problems_and_factors_of_large_ones(self, n: int, form: str) -> None:
        assert FeatureBank(samples(n, 8), GAUSSIANS).form == form

    @pytest.mark.parametrize("n", [15, 200])
    def test_both_forms_give_the_same_numbers(self, n: int) -> None:
        X, _ = awkward_features(n)
        halves = FeatureBank(X, GAUSSIANS, form="halves")
        factors = FeatureBank(X, GAUSSIANS, form="factors")
        assert (halves.form, factors.form) == ("halves", "factors")
        rng = np.random.default_rng(0)
        a, d = rng.standard_normal(n), rng.uniform(size=12)
        assert_close = partial(assert_allclose, rtol=0, atol=1e-10 * n)
        assert_close(halves.combine(d), factors.combine(d))
        assert_allclose(halves.quadratic_forms(a), factors.quadratic_forms(a), atol=1e-9 * n)
        assert_close(halves.products(a, [7, 7, 2]), factors.products(a, [7, 7, 2]))
        assert_close(halves.traces(), factors.traces())

    def test_a_restriction_chooses_anew(self) -> None:
        bank = FeatureBank(samples(600, 8), GAUSSIANS)
        part = bank.take(range(15))
        assert isinstance(part, FeatureBank)
        assert part.form == "halves"
        overruled = FeatureBank(samples(600, 8), GAUSSIANS, form="factors")
        part = overruled.take(range(15))
        assert isinstance(part, FeatureBank)
        assert part.form == "factors"

    def test_a_form_that_is_not_known(self) -> None:
        with pytest.raises(InputError, match="form=halfs is not known: did you mean halves"):
            FeatureBank(samples(9, 2), GAUSSIANS, form="halfs")  # type: ignore[arg-type]

    def test_without_memory_there_are_no_halves(self) -> None:
        bank = FeatureBank(samples(15, 8), GAUSSIANS, memory_limit=0)
        bank.combine(np.ones(16))
        assert (bank.form, len(bank._grams)) == ("factors", 0)


def test_a_feature_on_which_every_kernel_is_zero() -> None:
    X = np.column_stack([np.zeros(6), np.arange(6.0)])
    bank = FeatureBank(X, [Polynomial(1, offset=0.0)], form="factors")
    assert_allclose(bank.combine([1.0, 0.0]), np.zeros((6, 6)))
    assert_allclose(bank.combine([1.0, 2.0]), 2.0 * np.outer(X[:, 1], X[:, 1]))
    assert_allclose(bank.quadratic_forms(np.ones(6)), [0.0, 225.0])


class TestCosts:
    def test_every_estimate_grows_with_the_samples(self) -> None:
        small, large = (FeatureCosts(n, 10, np.full(30, 24), 1e9) for n in (200, 400))
        for form in ("halves", "factors"):
            fewer, more = getattr(small, form)(), getattr(large, form)()
            assert fewer.quadratic_forms < more.quadratic_forms
            assert fewer.combine_few < more.combine_few < more.combine_all
            assert fewer.products_few < more.products_few

    def test_forms_of_halves_cost_a_pass_over_them(self) -> None:
        """442 kernels on 245 samples are 107 MB: 4 to 5 ms at 25 GB/s."""
        costs = FeatureCosts(245, 13, np.full(34, 52), 1e9)
        assert 0.004 < costs.halves().quadratic_forms < 0.005
        assert costs.factors().quadratic_forms < 0.001
        assert not costs.prefers_halves()

    def test_the_room_is_a_number_of_halves(self) -> None:
        assert FeatureCosts(3, 1, np.array([3]), 8 * 6 * 5 + 1).room == 5

    def test_a_half_is_formed_where_it_pays(self) -> None:
        costs = FeatureCosts(500, 10, np.full(30, 24), 1e9)
        features, all_new = np.arange(30), np.ones(30, dtype=bool)
        none, one = np.zeros(30, dtype=bool), np.arange(30) == 0
        assert costs.keeping_pays(features, none, none)
        assert costs.keeping_pays(features, one, none)
        assert not costs.keeping_pays(features, all_new, none)
        assert costs.keeping_pays(features, all_new, all_new)
        scarce = FeatureCosts(500, 10, np.full(30, 24), 8 * 29 * 500 * 501 / 2)
        assert not scarce.keeping_pays(features, none, none)


class TestKeptHalves:
    def test_kernels_that_stay_active_are_kept_within_the_memory(self) -> None:
        n, d = 120, 10
        X = samples(n, d)
        dense = on_each_feature([dense_gaussian(gamma) for gamma in GAMMAS], X, X)
        room = 5
        limit = room * 8 * n * (n + 1) // 2
        bank = FeatureBank(X, GAUSSIANS, form="factors", memory_limit=limit)
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
        bank = FeatureBank(samples(120, 10), GAUSSIANS, form="factors")
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
        assert bank.form == "factors"
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
