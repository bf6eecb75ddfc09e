"""Kernels made from those of another bank: centred, normalised, combined, on scaled features."""

from __future__ import annotations

import numpy as np
import pytest
from dense_twins import awkward_features
from narrowing import present
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import ArrayLike

from mklbench import multiclass
from mklbench.algorithms import svm
from mklbench.data.dataset import View
from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    CentredBank,
    Combination,
    FamilyBank,
    KernelSubset,
    Normalised,
    PrecomputedBank,
    ProductGaussians,
    Standardised,
    feature_gaussians,
    gaussian,
    isotropic_gaussians,
    simplemkl_bank,
)
from mklbench.kernels.banks.wrapped import CombinedKernel, CosineBank


@pytest.fixture
def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((30, 3)), rng.standard_normal((8, 3))


class TestCentring:
    def test_restricting_keeps_the_centre(self, samples: tuple[np.ndarray, np.ndarray]) -> None:
        """As the search needs, which reads held-out rows from the Gram matrix of all."""
        X, Z = samples
        bank, rows = CentredBank(feature_gaussians(X)), np.arange(3, 17)
        part, anew = bank.take(rows), CentredBank(feature_gaussians(X).take(rows))
        weights = np.ones(3)
        assert_allclose(part.combine(weights), bank.combine(weights)[np.ix_(rows, rows)])
        assert_allclose(part.cross(weights, Z), bank.cross(weights, Z)[:, rows])
        assert_allclose(anew.combine(weights).sum(axis=0), 0.0, atol=1e-12)
        assert np.abs(part.combine(weights).sum(axis=0)).max() > 0.1

    def test_is_nothing_to_a_machine_with_an_intercept(
        self, samples: tuple[np.ndarray, np.ndarray]
    ) -> None:
        X, Z = samples
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        values = []
        for bank in (gaussian(X), CentredBank(gaussian(X))):
            solution = svm.solve(bank, y, svm_tol=1e-7)
            values.append(multiclass.decision_function(bank, [solution], Z))
        assert_allclose(values[1], values[0], atol=1e-5)

    def test_a_constant_kernel_becomes_zero(self) -> None:
        X, Z = awkward_features(20)
        bank = CentredBank(KernelSubset(feature_gaussians(X), [1]))  # the constant feature
        assert_array_equal(bank.diagonals(), 0.0)
        constant = np.broadcast_to(X[0], Z.shape)
        assert_allclose(bank.cross([1.0], constant), 0.0, atol=1e-14)
        assert_array_equal(CosineBank(bank).combine([1.0]), 0.0)


class TestCosine:
    def test_all_diagonals_are_ones(self, samples: tuple[np.ndarray, np.ndarray]) -> None:
        X, Z = samples
        bank = Normalised("simplemkl")(X)
        for unit in np.eye(bank.n_kernels):
            K = bank.combine(unit)
            assert_allclose(K.diagonal(), 1.0)
            assert np.abs(K).max() <= 1 + 1e-9
            assert np.abs(bank.cross(unit, Z)).max() <= 1 + 1e-9

    def test_rows_of_precomputed_matrices(self, samples: tuple[np.ndarray, np.ndarray]) -> None:
        X, Z = samples
        every = np.concatenate([X, Z])
        whole = ((every @ every.T + 1.0) ** 2)[None]
        options = {"K": whole}
        bank = Normalised("precomputed", options, centre=False)
        assert bank.takes_rows
        roots = np.sqrt(whole[0].diagonal())
        expected = (whole[0] / np.outer(roots, roots))[30:, :30]
        assert_allclose(bank(np.arange(30)).cross([1.0], np.arange(30, 38)), expected)

    def test_matrices_alone_lack_the_new_diagonal(
        self, samples: tuple[np.ndarray, np.ndarray]
    ) -> None:
        X, Z = samples
        bank = CosineBank(PrecomputedBank((X @ X.T)[None]))
        with pytest.raises(InputError, match="PrecomputedBank does not know k"):
            bank.cross([1.0], (Z @ X.T)[None])

    def test_diagonals_of_new_samples(self, samples: tuple[np.ndarray, np.ndarray]) -> None:
        X, Z = samples
        for bank in (
            simplemkl_bank(X),
            CombinedKernel(simplemkl_bank(X), "polynomial"),
            Normalised("simplemkl", {"degrees": [1, 2]}, cosine=False)(X),
            Standardised("simplemkl")(X),
        ):
            at_training = bank.diagonals(X)
            assert_allclose(at_training, bank.diagonals(), atol=1e-12)
            assert bank.diagonals(Z).shape == (bank.n_kernels, 8)


class TestCombination:
    def test_names_its_base_and_options(self, samples: tuple[np.ndarray, np.ndarray]) -> None:
        X, Z = samples
        options = {"gammas": [0.1, 1.0]}
        kernel = Combination("feature_gaussians", options, how="product")(X)
        distances = ((Z[:, None] - X) ** 2).sum(axis=2)
        assert_allclose(kernel.cross([2.0], Z), 2.0 * np.exp(-1.1 * distances), atol=1e-10)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"how": "polynomial", "degree": 0}, "degree=0 is not accepted: it must be an integer"),
            ({"how": "polynomial", "offset": -1.0}, "offset=-1.0 is not accepted"),
            ({"how": "polynomial", "degree": 5000}, "the polynomial of 3 kernels overflows"),
            ({"base": "precomputed", "options": {"K": "no.npy"}}, "no.npy is not a regular file"),
            ({"base": gaussian, "options": {"gamma": 1.0}}, "by functools.partial"),
        ],
    )
    def test_bad_input(
        self, samples: tuple[np.ndarray, np.ndarray], arguments: dict, message: str
    ) -> None:
        with pytest.raises(InputError, match=message):
            Combination(**arguments)(samples[0])


def test_what_a_base_is_called_with_passes_through() -> None:
    noted = []

    class OnViews:
        takes_views = True

        def __call__(self, X: ArrayLike, views: tuple = ()) -> Bank:
            noted.append(views)
            return gaussian(X)

    X = np.eye(4)
    for made in (Normalised(OnViews()), Combination(OnViews()), Standardised(OnViews())):
        assert made.takes_views
        assert not made.takes_rows
        made(X, ("a", "b"))
    assert noted == [("a", "b")] * 3


@pytest.mark.parametrize("name", ["views", "descriptors"])
def test_views_keep_their_columns(name: str) -> None:
    X, Z = np.random.default_rng(0).standard_normal((2, 12, 5))
    views = (View("few", 0, 2), View("many", 2, 5))
    made = Normalised(name)
    assert made.takes_views
    bank = made(X, views)
    assert [len(group) for group in present(bank.groups)] == [bank.n_kernels // 2] * 2
    assert_allclose(bank.diagonals(Z), 1.0)
    moved = Z + np.array([0, 0, 1.0, 1.0, 1.0])
    first = np.eye(bank.n_kernels)[0]
    assert_array_equal(bank.cross(first, moved), bank.cross(first, Z))


def test_members_of_a_family_can_be_centred() -> None:
    X = np.random.default_rng(0).standard_normal((12, 2))
    bank = CentredBank(FamilyBank(ProductGaussians(X), [[1.0, 0.0], [0.5, 0.5]]))
    assert_allclose(bank.combine([1.0, 2.0]).sum(axis=0), 0.0, atol=1e-12)
    with pytest.raises(InputError, match="IsotropicGaussians is a family"):
        Normalised(isotropic_gaussians)(X)
