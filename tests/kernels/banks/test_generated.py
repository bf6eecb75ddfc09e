"""Banks of very many Gaussians that keep none: the kernels of stored ones, in little memory."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from experiment_fakes import tiny_run
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem

from mklbench import MKL
from mklbench.algorithms import mkl
from mklbench.errors import InputError
from mklbench.experiments.run_checks import check_run
from mklbench.kernels import (
    FeatureBank,
    GeneratedBank,
    feature_pairs,
    feature_widths,
    unit_trace,
)
from mklbench.kernels.banks.generated import Widths, _sums_at
from mklbench.kernels.base import Array
from mklbench.kernels.builders import named
from mklbench.testing import check_operator

Groups = Sequence[tuple[int, ...]]


def dense(X: Array, Z: Array, gammas: Array, groups: Groups) -> Array:
    """Return the Gram matrices (M, n, n_z) of Gaussians on groups of columns, one by one."""
    with np.errstate(over="ignore"):
        distances = [
            np.square(X[:, None, list(group)] - Z[None, :, list(group)]).sum(axis=2)
            for group in groups
        ]
        return np.array([np.exp(-gamma * D) for D in distances for gamma in gammas])


def singles(d: int) -> Groups:
    return [(j,) for j in range(d)]


def pairs(d: int) -> Groups:
    return list(combinations(range(d), 2))


def on_features(X: Array, gammas: Array) -> GeneratedBank:
    return GeneratedBank(X, gammas, singles(X.shape[1]))


def on_pairs(X: Array, gammas: Array) -> GeneratedBank:
    return GeneratedBank(X, gammas, pairs(X.shape[1]))


def samples(kind: str, n: int, d: int, seed: int) -> Array:
    """Return samples whose features are of one kind, the last one always normal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    first = X[:, : d - 1]
    if kind == "constant":
        first[...] = 3.0
    elif kind == "binary":
        first[...] = first > 0
    elif kind == "duplicate":
        first[...] = X[:, -1:]
    elif kind == "rounded":
        first[...] = np.round(first)
    elif kind == "outlier":
        first[0] = 1e8
    elif kind == "rough":
        first *= 1e4
    elif kind == "far":
        first += 1e6
    return X


KINDS = ("normal", "constant", "binary", "duplicate", "rounded", "outlier", "rough", "far")
FEW = np.array([0.05, 0.4, 2.0])
MANY = np.geomspace(1.25e-3, 2.0, 150)


class TestPrices:
    def test_of_positive_coefficients_every_digit_of_ten_is_right(self) -> None:
        """Nothing cancels, so that the error is a share of each price itself."""
        X = samples("normal", 100, 3, 0)
        a = np.random.default_rng(1).uniform(0.1, 1.0, 100)
        for bank, groups in (
            (on_features(X, MANY), singles(3)),
            (on_pairs(X, MANY), pairs(3)),
            (GeneratedBank(X, MANY, [(0, 1, 2)]), [(0, 1, 2)]),
        ):
            expected = np.einsum("i,mij,j->m", a, dense(X, X, MANY, groups), a)
            assert_allclose(bank.quadratic_forms(a), expected, rtol=1e-11)

    @given(
        radius=st.floats(0.01, 12.0),
        k=st.integers(1, 400),
        sizes=st.lists(st.floats(-8.0, 8.0), min_size=1, max_size=8),
    )
    @settings(deadline=None, max_examples=60)
    def test_sums_between_widths(self, radius: float, k: int, sizes: list[float]) -> None:
        gammas = np.exp(np.linspace(-radius, radius, k))
        widths = Widths(gammas)
        distances = np.array([0.0, np.inf, *(10.0**size for size in sizes)])
        products = np.random.default_rng(k).standard_normal(len(distances))
        found = widths.at_gammas(_sums_at(widths.points, distances, products)[None])[0]
        expected = np.exp(-np.multiply.outer(gammas, distances)) @ products
        assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(products).sum())
        assert len(widths.points) <= k

    def test_weights_on_many_widths_are_weights_on_few(self) -> None:
        weights = np.random.default_rng(0).uniform(size=len(MANY))
        gammas, fewer = Widths(MANY).weighted(weights)
        assert len(gammas) < len(MANY)
        distances = np.linspace(0.0, 50.0, 40)
        combined = fewer @ np.exp(-np.multiply.outer(gammas, distances))
        assert_allclose(combined, weights @ np.exp(-np.multiply.outer(MANY, distances)), rtol=1e-11)


class TestOperators:
    @pytest.mark.parametrize("kind", KINDS)
    def test_singles_are_their_dense_twins(self, kind: str) -> None:
        X = samples(kind, 37, 3, 1)
        grams, cross = (dense(A, X[:30], FEW, singles(3)) for A in (X[:30], X[30:]))
        check_operator(on_features(X[:30], FEW), new=X[30:], grams=grams, cross=cross)

    def test_the_builders(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(named, "MOST_STORED", 11)
        check_operator(partial(feature_widths, n_widths=2))
        check_operator(partial(feature_widths, n_widths=3))
        check_operator(partial(feature_pairs, n_widths=3))
        stored, generated = (feature_widths(np.zeros((5, 4)), k) for k in (2, 3))
        assert isinstance(stored._bank, FeatureBank)
        assert isinstance(generated._bank, GeneratedBank)

    def test_pairs_need_two_columns(self) -> None:
        with pytest.raises(InputError, match="X has 1 column, but the kernels look at pairs"):
            feature_pairs(np.zeros((5, 1)))


class TestTopK:
    @given(d=st.integers(1, 5), k=st.integers(1, 9), seed=st.integers(0, 10**6))
    @settings(deadline=None, max_examples=60)
    def test_they_are_peaks_and_the_best_comes_first(self, d: int, k: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        bank = on_features(rng.standard_normal((4, d)), np.geomspace(0.1, 1.0, k))
        prices = rng.integers(0, 4, size=d * k).astype(float)
        found = bank.top_k(prices, 6)
        assert 1 <= len(found) <= 6
        assert len(set(found.tolist())) == len(found)
        assert prices[found[0]] == prices.max()
        assert (np.diff(prices[found]) <= 0).all()
        by_feature = prices.reshape(d, k)
        for m in found.tolist():
            j, w = divmod(m, k)
            assert by_feature[j, w] >= by_feature[j, max(w - 1, 0) : w + 2].max()
        neighbours = [m for m in found.tolist() if m % k and m - 1 in found]
        assert not neighbours

    def test_scaled_kernels_pass_them_on(self) -> None:
        bank = unit_trace(on_features(samples("normal", 9, 2, 0), MANY))
        prices = np.concatenate([MANY, 3.0 - MANY])
        assert_array_equal(bank.top_k(prices, 9), [150, 149])


class TestSolving:
    def test_the_certificate_is_that_of_the_kernels(self) -> None:
        X, y = random_problem(40, 3)
        found = mkl.solve(on_features(X, MANY), y, 10.0, tol=1e-3)
        a, grams = found.dual_coef, dense(X, X, MANY, singles(3))
        prices = np.einsum("i,mij,j->m", a, grams, a)
        outputs = np.tensordot(found.weights, grams, axes=1) @ a
        losses = np.maximum(0.0, 1.0 - y * (outputs + found.intercept))
        upper = 0.5 * found.weights @ prices + 10.0 * losses.sum()
        lower = np.abs(a).sum() - 0.5 * prices.max()
        assert (upper - lower) / upper <= found.gap * (1 + 1e-6) + 1e-12


class TestModels:
    def test_a_model_keeps_what_it_uses(self) -> None:
        X, y = random_problem(80, 30)
        model = MKL(kernel=partial(feature_widths, n_widths=1000), C=500.0, tol=1e-3).fit(X, y)
        bank = feature_widths(X, 1000)
        (solution,) = model.solutions_
        new = np.random.default_rng(5).standard_normal((20, 30))
        expected = bank.cross(solution.weights, new) @ solution.dual_coef + solution.intercept
        assert_allclose(model.decision_function(new), expected, rtol=1e-9, atol=1e-12)
        read = pickle.loads(pickle.dumps(model))
        assert_array_equal(read.decision_function(new), model.decision_function(new))
        assert model._decide.n_bytes() < 200_000

    def test_pairs_are_called_after_both_columns(self) -> None:
        bank = feature_pairs(np.random.default_rng(0).standard_normal((9, 3)), 2)
        assert list(bank.kernel_names(["age", "size", "rate"]))[::2] == [
            "gaussian 2 on age and size",
            "gaussian 2 on age and rate",
            "gaussian 2 on size and rate",
        ]


class TestMemory:
    def test_a_million_kernels_take_less_than_a_gigabyte(self) -> None:
        bank = feature_widths(np.eye(2, 1000), 1000)
        assert bank.n_kernels == 10**6
        assert bank.memory(1000).kept < 2.0**30

    def test_too_many_are_refused_in_a_sentence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_MEMORY", "1GiB")
        X, y = random_problem(50, 40)
        with pytest.raises(InputError) as refused:
            MKL(kernel=partial(feature_widths, n_widths=10**6)).fit(X, y)
        said = str(refused.value)
        assert said.startswith("X has 50 rows: MKL with 40000000 kernels needs about ")
        assert said.endswith("; about 0 rows fit: pass fewer of them, or choose fewer kernels.")
        options = ["algo=mkl", "kernel=feature_widths", "kernel.n_widths=1000000"]
        with pytest.raises(InputError, match="as much: choose fewer kernels") as refused:
            check_run(tiny_run(*options), [0])
        assert "kernel=feature_widths (M = 20000000 kernels) needs about" in str(refused.value)
        few = partial(feature_widths, n_widths=2000)
        assert MKL(kernel=few, C=100.0, tol=1e-2).fit(X, y).gap_ <= 1e-2
