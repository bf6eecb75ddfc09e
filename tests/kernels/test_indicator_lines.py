"""Sweeps over products of Gaussians on indicators, from one set of features to the next."""

from __future__ import annotations

import numpy as np
import pytest
from exact_lines import VALUES, exact
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mklbench.kernels import ProductGaussians, product_gaussians
from mklbench.kernels.continuous import IndicatorLines, ProductLines


def indicators(
    rng: np.random.Generator, n: int, d: int
) -> tuple[ProductGaussians, NDArray[np.float64]]:
    """Return products on features of two values, some of them on one only, and a vector."""
    X = np.where(rng.uniform(size=(n, d)) < rng.uniform(size=d), 1.0, -1.0)
    X = X * rng.uniform(1.0, 3.0, d) + rng.standard_normal(d)
    return product_gaussians(X, gamma_max=30.0), rng.standard_normal(n)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_sweeps_end_where_no_value_of_a_parameter_is_better(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    family, a = indicators(rng, n, d)
    lines = family.single_precision().lines(a)
    assert isinstance(lines, IndicatorLines)
    lines.begin(rng.choice([0.0, 1e-3, 0.1, 30.0], d))
    assert set(lines.theta) <= {0.0, 30.0}
    grid, before, reached = np.repeat(VALUES[:, None], d, axis=1), -np.inf, 0.0
    while before < reached:
        before, reached = reached, lines.sweep(rng.permutation(d), grid)
    assert reached == pytest.approx(float(a @ family.gram(lines.theta) @ a))
    for m in range(d):
        best = max(exact(family, lines.theta, m, a))
        assert best <= reached + 1e-7 * np.abs(a).sum() ** 2


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_a_sweep_ends_where_one_parameter_after_the_other_leads(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    family, a = indicators(rng, n, d)
    grid = np.repeat(VALUES[:, None], d, axis=1)
    lines, order = family.single_precision().lines(a), rng.permutation(d)
    lines.begin(rng.choice([0.0, 30.0], d))
    theta = lines.theta.copy()
    reached = lines.sweep(order, grid)
    form = float(a @ family.gram(theta) @ a)
    for m in order:
        flipped = theta.copy()
        flipped[m] = 30.0 - theta[m]
        other = float(a @ family.gram(flipped) @ a)
        if other > form * (1.0 + 1e-9):
            theta, form = flipped, other
    np.testing.assert_array_equal(lines.theta, theta)
    assert reached == pytest.approx(form)


@pytest.mark.parametrize("upper", [30.0, 0.5], ids=["apart", "close"])
@pytest.mark.parametrize("lower", [0.0, 0.1], ids=["from none", "from some"])
@pytest.mark.parametrize("values", [2, 3])
def test_other_features_and_boxes_have_the_sums_over_pairs(
    upper: float, lower: float, values: int
) -> None:
    # Between the ends of the box, or at ends where kernels are neither 1 nor 0, sets are not all.
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(30, 3)).astype(np.float64)
    X[:, 2] = rng.integers(values, size=30)
    family = product_gaussians(X, gamma_min=lower, gamma_max=upper)
    are_sets = upper == 30.0 and lower == 0.0 and values == 2
    expected = IndicatorLines if are_sets else ProductLines
    assert type(family.single_precision().lines(rng.standard_normal(30))) is expected
