"""Gram matrices that the user brings, as arrays and as files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels import (
    ConcatenatedBank,
    DenseBank,
    FeatureBank,
    Precomputed,
    PrecomputedBank,
    feature_gaussians,
    linear_features,
    precomputed,
)
from mklbench.kernels.banks.wrapped import CombinedKernel


@pytest.fixture
def K() -> np.ndarray:
    roots = np.random.default_rng(0).standard_normal((3, 8, 4))
    return roots @ roots.transpose(0, 2, 1)


class TestBadMatrices:
    @pytest.mark.parametrize("make", [PrecomputedBank, Precomputed])
    def test_every_entrance_checks(self, K: np.ndarray, make: object) -> None:
        K[1, 2, 3] += 0.01
        with pytest.raises(InputError, match="kernel 1 of K is not symmetric"):
            make(K)  # type: ignore[operator]

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_not_finite(self, K: np.ndarray, bad: float) -> None:
        K[2, 4, 4] = bad
        with pytest.raises(InputError, match=r"kernel 2 of K holds (nan|inf) at row"):
            PrecomputedBank(K)

    @pytest.mark.parametrize("shape", [(8, 8), (2, 8, 7), (0, 8, 8), (2, 0, 0), (5,)])
    def test_shape(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(InputError, match=r"K has shape \(.*pass .* \(n_kernels, n, n\)"):
            PrecomputedBank(np.zeros(shape))


class TestMemory:
    def test_what_is_kept_is_half_of_the_input(self) -> None:
        roots = np.random.default_rng(0).standard_normal((30, 150, 2))
        K = roots @ roots.transpose(0, 2, 1)
        tracemalloc.start()
        try:
            bank = PrecomputedBank(K)
            kept, peak = tracemalloc.get_traced_memory()
            assert kept < 0.55 * K.nbytes
            assert peak < 0.65 * K.nbytes
            tracemalloc.reset_peak()
            bank.combine(np.ones(30), out=K[0])
            bank.products(np.ones(150), np.arange(5))
            assert tracemalloc.get_traced_memory()[1] - kept < 3 * K[0].nbytes
        finally:
            tracemalloc.stop()

    def test_restrictions_to_rows_share_the_whole(self, K: np.ndarray) -> None:
        whole = Precomputed(K)
        first, other = whole([0, 1]), whole([2, 3]).take([1])
        assert vars(first)["_whole"] is vars(other)["_whole"]


class TestQuadraticForms:
    @pytest.mark.parametrize("support", [[], [0], [99], [0, 1, 40, 41, 43, 99], range(100)])
    def test_rows_far_apart_and_near_each_other(self, support: list[int]) -> None:
        """At 200 kernels on 100 samples more than a row or two without support are not read."""
        rng = np.random.default_rng(1)
        roots = rng.standard_normal((200, 100, 3))
        stack = roots @ roots.transpose(0, 2, 1)
        a = np.zeros(100)
        a[list(support)] = rng.standard_normal(len(support))
        expected = (((roots * a[:, None]).sum(axis=1)) ** 2).sum(axis=1)
        bank = PrecomputedBank(stack)
        assert_allclose(bank.quadratic_forms(a), expected, rtol=1e-10, atol=1e-10)


class TestGroups:
    def test_builders_pass_them_on(self, K: np.ndarray) -> None:
        groups = [[2], [0, 1]]
        assert Precomputed(K, groups)([0, 3]).groups == groups
        assert Precomputed(K, groups)([0, 3]).take([1]).groups == groups
        assert precomputed(K, groups).groups == groups
        with pytest.raises(InputError, match="do not name each of the 3 kernels"):
            Precomputed(K, [[0]])


class TestCross:
    @pytest.mark.parametrize("shape", [(2, 5, 8), (3, 5, 7), (5, 8)])
    def test_cross_matrices_of_the_wrong_shape(self, K: np.ndarray, shape: tuple[int, ...]) -> None:
        with pytest.raises(InputError, match=r"pass \(3, n_new, 8\), one matrix a kernel"):
            PrecomputedBank(K).cross(np.ones(3), np.zeros(shape))


class TestRows:
    @pytest.mark.parametrize("rows", [[-1], [8], [0.5], ["a"], [np.nan], [[0, 1]], 3])
    def test_bad_rows(self, K: np.ndarray, rows: ArrayLike) -> None:
        with pytest.raises(InputError, match="row indices from 0 to 7"):
            Precomputed(K)(rows)
        with pytest.raises(InputError, match="row indices from 0 to 7"):
            Precomputed(K)([0, 1]).cross(np.ones(3), rows)


class TestFiles:
    def test_npy(self, K: np.ndarray, tmp_path: Path) -> None:
        np.save(tmp_path / "grams.npy", K)
        bank = Precomputed(tmp_path / "grams.npy")(range(8))
        assert_allclose(bank.gram([1, 2, 3]), np.tensordot([1, 2, 3], K, axes=1))

    def test_pickles_are_never_loaded(self, tmp_path: Path) -> None:
        np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
        with pytest.raises(InputError, match=r"objects.npy cannot be read as"):
            Precomputed(tmp_path / "objects.npy")


def test_coefficients_and_kernels_have_their_shapes(K: np.ndarray) -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    banks = [PrecomputedBank(K), feature_gaussians(X), linear_features(X)]
    for bank in [*banks, ConcatenatedBank(banks)]:
        for a in (np.ones(7), 1.0, np.ones((8, 1))):
            with pytest.raises(InputError, match=r"but there are 8 samples: pass a vector \(8,\)"):
                bank.quadratic_forms(a)
            with pytest.raises(InputError, match="but there are 8 samples"):
                bank.products(a, [0])
        for kernels in ([-1], [bank.n_kernels]):
            with pytest.raises(InputError, match=f"kernel numbers from 0 to {bank.n_kernels - 1}"):
                bank.products(np.ones(8), kernels)
        assert bank.products(np.ones(8), []).shape == (0, 8)


def test_kernels_made_of_given_ones_are_zeros_at_weight_0(K: np.ndarray) -> None:
    bank = PrecomputedBank(K)
    for made in (CombinedKernel(bank, "sum"), bank):
        zeros = made.cross(np.zeros(made.n_kernels), K[:, :5])
        assert zeros.shape == (5, 8)
        assert not zeros.any()


def test_a_bank_has_a_kernel() -> None:
    X = np.ones((4, 2))
    for make in (
        lambda: DenseBank(X, []),
        lambda: FeatureBank(X, []),
        lambda: ConcatenatedBank([]),
    ):
        with pytest.raises(InputError, match="is empty: give at least one"):
            make()
