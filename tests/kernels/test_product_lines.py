"""The quadratic form of a product of Gaussians along one parameter at a time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from exact_lines import VALUES, exact
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mklbench.kernels import continuous, isotropic_gaussians, product_gaussians
from mklbench.kernels.continuous import CoordinateSearch, ProductLines

products = partial(product_gaussians, gamma_max=30.0)
isotropic = partial(isotropic_gaussians, gamma_max=30.0)


def sums_over_pairs(X: NDArray[np.float64], a: NDArray[np.float64]) -> CoordinateSearch:
    return ProductLines(products(X).single_precision(), (X - X.mean(axis=0)).astype(np.float32), a)


def begun(
    X: NDArray[np.float64], theta: NDArray[np.float64], a: NDArray[np.float64]
) -> CoordinateSearch:
    lines = sums_over_pairs(X, a)
    lines.begin(theta)
    return lines


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_is_the_form_at_each_value(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, a = rng.standard_normal((n, d)), rng.standard_normal(n)
    is_coarse = rng.uniform(size=d) < 0.5  # of few values, as indicators and counts are
    X[:, is_coarse] = np.round(X[:, is_coarse])
    family = products(X)
    theta = 10.0 ** rng.uniform(-2, np.log10(30.0), d) * (rng.uniform(size=d) < 0.6)
    lines = sums_over_pairs(X, a)
    for m in rng.permutation(d):
        lines.move(int(m), float(theta[m]))
    np.testing.assert_array_equal(lines.theta, theta)
    scale = np.abs(a).sum() ** 2
    for m in range(d):
        found = lines.along(m, VALUES)
        np.testing.assert_allclose(found, exact(family, theta, m, a), rtol=0, atol=1e-2 * scale)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, a = rng.standard_normal((50, 3)), rng.standard_normal(50)
    theta = np.array([0.5, 0.0, 2.0])
    X[:, 2] = np.round(X[:, 2])
    whole = begun(X, theta, a)
    monkeypatch.setattr(continuous, "_PAIRS_AT_ONCE", 7)
    in_blocks = begun(X, theta, a)
    for m in range(3):
        np.testing.assert_allclose(in_blocks.along(m, VALUES), whole.along(m, VALUES), rtol=1e-4)


def test_many_moves_leave_no_trace() -> None:
    rng = np.random.default_rng(1)
    X, a = rng.standard_normal((60, 4)), rng.standard_normal(60)
    theta = np.array([0.1, 3.0, 0.0, 0.5])
    lines = begun(X, theta, a)
    fresh = lines.along(2, VALUES)
    for value in rng.uniform(0, 30.0, 200):
        lines.move(int(rng.integers(4)), float(value))
    for m in range(4):
        lines.move(m, float(theta[m]))
    np.testing.assert_allclose(lines.along(2, VALUES), fresh, rtol=1e-3)
    lines.begin(theta)
    np.testing.assert_array_equal(lines.along(2, VALUES), fresh)


@pytest.mark.parametrize("step", [0.01, 0.5], ids=["many values", "few values"])
def test_a_steep_parameter_is_taken_out(step: float) -> None:
    # Pairs that are far apart with it are near without: their values have no digits left.
    rng = np.random.default_rng(4)
    X, a = rng.standard_normal((80, 2)), rng.standard_normal(80)
    X[:, 0] = step * np.round(3.0 * X[:, 0] / step)
    theta = np.array([25.0, 0.1])
    found, expected = begun(X, theta, a).along(0, VALUES), exact(products(X), theta, 0, a)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-2 * float(a @ a))


def test_a_feature_of_one_value_changes_nothing() -> None:
    rng = np.random.default_rng(2)
    X, a = rng.standard_normal((30, 2)), rng.standard_normal(30)
    X[:, 1] = 5.0
    found = begun(X, np.array([0.3, 0.0]), a).along(1, VALUES)
    np.testing.assert_allclose(found, found[0], rtol=1e-5)


@pytest.mark.parametrize("far", [1.0, 1e8], ids=["isotropic", "far out"])
def test_other_families_price_their_kernels(far: float) -> None:
    rng = np.random.default_rng(3)
    X, a = rng.standard_normal((30, 2)), rng.standard_normal(30)
    X[0] *= far
    family = isotropic(X) if far == 1.0 else products(X)
    theta = np.full(family.n_kernels, 0.5)
    lines = family.single_precision().lines(a)
    lines.begin(theta)
    scale = np.abs(a).sum() ** 2
    np.testing.assert_allclose(
        lines.along(0, VALUES), exact(family, theta, 0, a), atol=1e-5 * scale
    )
    lines.move(0, 2.0)
    assert lines.theta[0] == 2.0
    assert theta[0] == 0.5
