"""Closest points of two hulls, and the smallest ball, beside a conic solver."""

from __future__ import annotations

from collections.abc import Callable

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from problems import random_problem

from mklbench.optim import hulls
from mklbench.optim.hulls import EnclosingBall, Hulls

Array = NDArray[np.float64]
Make = Callable[[int], tuple[Array, Array]]


def gaussian(n: int, gamma: float = 0.3, seed: int = 1) -> tuple[Array, Array]:
    X, y = random_problem(n, seed=seed)
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2)), y


def linear(n: int, seed: int = 1) -> tuple[Array, Array]:
    """Return a kernel of rank 4 and labels that a plane separates."""
    X = random_problem(n, seed=seed)[0]
    return X @ X.T, np.where(X @ [1.0, -1.0, 0.5, 0.0] > 0, 1.0, -1.0)


class TestClosestPoints:
    @pytest.mark.parametrize("make", [gaussian, linear])
    @pytest.mark.parametrize("ridge", [0.0, 0.1, 10.0])
    def test_conic(self, make: Make, ridge: float) -> None:
        K, y = make(40)
        K = K + ridge * np.eye(40)
        found = Hulls(y, 1e-9).closest(K)
        optimum, _ = conic_twins.closest_points(K, y)
        assert_allclose(found.squared_distance, optimum, rtol=1e-6)
        assert found.bounds.relative_gap <= 1e-9
        assert_allclose([found.shares[y > 0].sum(), found.shares[y < 0].sum()], 1.0, rtol=1e-12)
        assert (found.shares >= 0).all()

    def test_bounds_hold_at_any_shares(self) -> None:
        K, y = gaussian(30)
        best = Hulls(y, 1e-10).closest(K).squared_distance
        rng = np.random.default_rng(0)
        for _ in range(50):
            shares = rng.dirichlet(np.full(30, 0.1))
            bounds = hulls._at(K, y, shares).bounds
            assert bounds.lower <= best * (1 + 1e-9)
            assert bounds.upper >= best * (1 - 1e-9)

    def test_without_libsvm_the_interior_point_method_finds_them(self) -> None:
        K, y = gaussian(40)
        alpha = hulls._by_interior_point(K, y, 1e10)
        optimum, _ = conic_twins.closest_points(K, y)
        assert_allclose(hulls._at(K, y, alpha).squared_distance, optimum, rtol=1e-6)


class TestBall:
    @pytest.mark.parametrize("make", [gaussian, linear])
    def test_conic(self, make: Make) -> None:
        K, _ = make(40)
        shares, bounds = EnclosingBall(40, 1e-9).smallest(K)
        assert_allclose(bounds.upper, conic_twins.squared_radius(K), rtol=1e-6)
        assert bounds.relative_gap <= 1e-9
        assert shares.sum() == pytest.approx(1.0)

    def test_equal_samples_need_none(self) -> None:
        assert EnclosingBall(3, 1e-9).smallest(np.ones((3, 3)))[1].upper == pytest.approx(0.0)
