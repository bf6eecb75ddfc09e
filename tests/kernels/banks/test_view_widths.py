"""Very many widths on every view, none of them kept: the kernels of the stored bank."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mklbench.algorithms import mkl
from mklbench.data import View
from mklbench.errors import InputError
from mklbench.kernels import DescriptorWidths, DistanceBank, FeatureDistances, ViewWidths
from mklbench.kernels.base import Array
from mklbench.testing import check_operator

VIEWS = (View("colour", 0, 4, "chi2"), View("shape", 4, 6), View("size", 6, 9, "seuclidean"))
FEW, MANY = np.geomspace(0.05, 20.0, 4), np.geomspace(0.01, 100.0, 130)


def samples(n: int, seed: int = 0) -> Array:
    """Four shares that sum to one, two numbers far from 0, and three of different scales."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, size=(n, 4)) + np.eye(4)[rng.integers(0, 4, n)]
    shares = counts / counts.sum(axis=1, keepdims=True)
    others = rng.standard_normal((n, 5)) * [1.0, 3.0, 1e-3, 1.0, 1e3] + [50.0, 0.0, 0.0, 0.0, 0.0]
    return np.hstack([shares, others])


def both(n: int, gammas: Array, seed: int = 0) -> tuple[ViewWidths, DistanceBank]:
    distances = FeatureDistances(samples(n, seed), VIEWS)
    return ViewWidths(distances, gammas), DistanceBank(distances, gammas.tolist())


@pytest.mark.parametrize("gammas", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("n", [9, 30])
def test_all_answers_are_those_of_the_stored_bank(n: int, gammas: Array) -> None:
    bank, stored = both(n, gammas)
    new = samples(7, seed=1)
    units = np.eye(stored.n_kernels)
    grams = np.array([stored.combine(unit) for unit in units])
    cross = np.array([stored.cross(unit, new) for unit in units])
    check_operator(bank, new=new, grams=grams, cross=cross, tolerance=1e-10)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_prices_are_those_of_the_stored_bank(share: float) -> None:
    bank, stored = both(60, MANY)
    rng = np.random.default_rng(2)
    a = rng.standard_normal(60) * (rng.uniform(size=60) < share)
    scale = float(np.abs(a).sum()) ** 2
    assert_allclose(bank.quadratic_forms(a), stored.quadratic_forms(a), rtol=0, atol=1e-10 * scale)


def test_on_some_samples_the_widths_stay() -> None:
    bank, stored = both(20, MANY)
    rows = np.arange(3, 17, 2)
    d = np.random.default_rng(3).uniform(size=stored.n_kernels)
    new = samples(4, seed=5)
    some, same = bank.take(rows), stored.take(rows)
    assert_allclose(some.combine(d), same.combine(d), rtol=1e-10)
    assert_allclose(some.cross(d, new), same.cross(d, new), rtol=1e-10)


def test_the_optimum_is_that_of_the_stored_bank() -> None:
    bank, stored = both(80, np.geomspace(0.01, 100.0, 100))
    X = samples(80)
    y = np.where(X[:, 4] > 50.0, 1.0, -1.0) * np.where(X[:, 0] > 0.3, 1.0, -1.0)
    found, expected = (mkl.solve(each, y, 10.0, tol=1e-5) for each in (bank, stored))
    assert found.gap <= 1e-5
    assert found.objective == pytest.approx(expected.objective, rel=2e-5)


def test_a_view_is_a_group_and_has_a_name() -> None:
    bank, stored = both(9, FEW)
    assert bank.groups == stored.groups
    assert bank.features == stored.features
    names = list(bank.kernel_names())
    assert len(set(names)) == len(names) == 12
    assert [name.partition(" on ")[2] for name in names[::4]] == ["colour, chi2", "shape", "size"]
    alike = ViewWidths(FeatureDistances(samples(9), VIEWS, "seuclidean"), FEW)
    same = DistanceBank(FeatureDistances(samples(9), VIEWS, "seuclidean"), FEW.tolist())
    assert tuple(alike.kernel_names()) == same.kernel_names()


@pytest.mark.parametrize(
    ("builder", "sentence"),
    [
        (DescriptorWidths(n_widths=0), "n_widths=0"),
        (DescriptorWidths(gamma_min=0.0), "gamma_min=0"),
        (DescriptorWidths(gamma_min=2.0, gamma_max=1.0), "gamma_min=2 is above gamma_max=1: give"),
        (DescriptorWidths(distance="cosine"), "kernel.distance=cosine is not known"),
    ],
)
def test_what_is_refused(builder: DescriptorWidths, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        builder(samples(8), VIEWS)
