"""Gaussians of several distances: what they are, what they share, what they refuse."""

from __future__ import annotations

import re

import numpy as np
import pytest
from dense_twins import awkward_features
from numpy.testing import assert_allclose

from mklbench.data.dataset import View
from mklbench.errors import InputError
from mklbench.kernels import Descriptors, OneView
from mklbench.kernels.banks.views import DistanceBank, FeatureView, feature_views

VIEWS = (View("colour", 0, 4, "chi2"), View("shape", 4, 6))


def histograms(n: int, seed: int = 0) -> np.ndarray:
    """n rows of two views, four shares that sum to one (some of them 0) and two numbers > 0."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, size=(n, 4)) + np.eye(4)[rng.integers(0, 4, n)]
    return np.hstack([counts / counts.sum(axis=1, keepdims=True), rng.uniform(size=(n, 2))])


def test_chi2_is_its_definition_and_an_empty_bin_counts_nothing() -> None:
    X, Z = histograms(9)[:, :4], histograms(5, seed=1)[:, :4]
    total = X[:, None] + Z[None]
    squares = (X[:, None] - Z[None]) ** 2
    terms = np.divide(squares, total, out=np.zeros_like(total), where=total > 0)
    view = FeatureView("colour", slice(0, 4), "chi2", np.ones(4), 4)
    assert_allclose(view(X, Z), terms.sum(axis=2), atol=1e-14)


def test_every_view_is_a_group_and_every_kernel_has_unit_trace() -> None:
    bank = Descriptors()(histograms(20), VIEWS)
    assert bank.groups == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert_allclose(bank.traces(), 1.0)
    smallest = [np.linalg.eigvalsh(bank.combine(unit)).min() for unit in np.eye(10)]
    assert min(smallest) > -1e-12


def test_the_scale_of_a_view_does_not_matter() -> None:
    X = histograms(20)
    scaled = X * np.repeat([3.0, 1000.0], [4, 2])
    d = np.linspace(0.1, 1.0, 10)
    assert_allclose(
        Descriptors()(scaled, VIEWS).combine(d), Descriptors()(X, VIEWS).combine(d), rtol=1e-9
    )


def test_without_views_all_features_are_one() -> None:
    X, Z = awkward_features(15)
    whole = Descriptors(gammas=[0.5])(X)
    viewed = Descriptors(gammas=[0.5])(X, [View("all", 0, 6)])
    assert whole.groups == [[0]]
    assert_allclose(whole.cross([1.0], Z), viewed.cross([1.0], Z))


def test_one_distance_for_all_views_wins_over_theirs() -> None:
    X = histograms(12)
    euclidean = [View(view.name, view.start, view.stop) for view in VIEWS]
    d = np.ones(10)
    chosen = Descriptors(distance="euclidean")(X, VIEWS).combine(d)
    assert_allclose(chosen, Descriptors()(X, euclidean).combine(d))


def test_one_view_is_a_kernel_of_all_and_without_a_name_all_features_are_one() -> None:
    X, new = histograms(12), histograms(4, seed=1)
    shape, scaled = OneView("shape", 0.5)(X, VIEWS), OneView(gamma=0.5)(X, VIEWS)
    whole = Descriptors([0.5], "seuclidean", normalise=False)(X)
    both = Descriptors([0.5], normalise=False)(X, VIEWS)
    assert_allclose(shape.cross([1.0], new), both.cross([0.0, 1.0], new))
    assert_allclose(scaled.cross([1.0], new), whole.cross([1.0], new))
    with pytest.raises(InputError, match=r"kernel\.view=shap is not known: did you mean shape"):
        OneView("shap")(X, VIEWS)


def test_a_view_that_is_the_same_everywhere_gives_constant_kernels() -> None:
    X = np.hstack([histograms(10)[:, :4], np.full((10, 2), 7.0)])
    bank = DistanceBank(X, feature_views(X, VIEWS), [1.0])
    assert_allclose(bank.combine([0.0, 1.0]), 1.0)


def test_distances_to_new_samples_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Z = histograms(12), histograms(4, seed=1)
    bank = Descriptors()(X, VIEWS)
    before = bank.cross(np.ones(10), Z)

    def refuse(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(FeatureView, "__call__", refuse)
    assert_allclose(2.0 * before, bank.cross(np.full(10, 2.0), Z.copy()))
    Z[0] = Z[1]  # other samples in the same array
    with pytest.raises(AssertionError, match="computed again"):
        bank.cross(np.ones(10), Z)


@pytest.mark.parametrize(
    ("builder", "X", "message"),
    [
        (Descriptors(), -histograms(8), "colour has values below 0: set split.scaling=none"),
        (Descriptors(gammas=[]), histograms(8), "gammas=[] is empty"),
        (Descriptors(gammas=[0.0]), histograms(8), "gamma=0.0 is not accepted"),
    ],
)
def test_what_is_refused(builder: Descriptors, X: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        builder(X, VIEWS)


def test_new_samples_must_be_histograms_too() -> None:
    X = histograms(8)
    with pytest.raises(InputError, match="values below 0"):
        Descriptors()(X, VIEWS).cross(np.ones(10), -X)
