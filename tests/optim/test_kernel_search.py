"""The independent search: where it begins, and what it finds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import random_problem
from scipy.optimize import Bounds

from mklbench.kernels import Family, isotropic_gaussians, product_gaussians
from mklbench.kernels.continuous import CoordinateSearch, RoughFamily
from mklbench.optim.kernel_search import Found, IndependentSearch, climb
from mklbench.solution import Mixture

products = partial(product_gaussians, gamma_max=30.0)
isotropic = partial(isotropic_gaussians, gamma_max=30.0)


@pytest.mark.parametrize("n", [1, 2, 40])
@pytest.mark.parametrize("build", [products, isotropic], ids=["products", "isotropic"])
def test_many_kernels_are_priced_in_one_pass_as_one_by_one(build: partial[Family], n: int) -> None:
    X, y = random_problem(n, 5) if n > 2 else (np.arange(5.0 * n).reshape(n, 5), np.ones(n))
    rng = np.random.default_rng(0)
    family, a = build(X), y * rng.uniform(size=n)
    shape = (130, family.n_kernels)
    thetas = 10.0 ** rng.uniform(-3, 1.4, shape) * (rng.uniform(size=shape) < 0.6)
    exact = [a @ family.gram(theta) @ a for theta in thetas]
    found = family.single_precision().values(thetas, a)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-5 * np.abs(a).sum() ** 2)


class TestSearch:
    @pytest.mark.parametrize("ascents", [1, 3, 10])
    @pytest.mark.parametrize("n_known", [1, 30])
    def test_stays_in_the_box_and_tells_prices(self, ascents: int, n_known: int) -> None:
        X, y = random_problem(40)
        family = product_gaussians(X, gamma_min=0.01, gamma_max=3.0)
        thetas = np.random.default_rng(0).uniform(0.01, 3.0, (n_known, 4))
        known = Mixture(np.full(n_known, 1.0 / n_known), thetas)
        found = IndependentSearch(family, ascents).run(y, known)
        prices = [each.price for each in found]
        assert prices == sorted(prices, reverse=True)
        for price, theta in found:
            assert (theta >= family.lower).all()
            assert (theta <= family.upper).all()
            assert price == pytest.approx(0.5 * y @ family.gram(theta) @ y, rel=1e-4)

    def test_starts_beside_those_at_hand_at_sparse_ones_and_at_the_lower_end(
        self, begun: list[np.ndarray]
    ) -> None:
        X, y = random_problem(40)
        thetas = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.1
        IndependentSearch(products(X), 40).run(y, Mixture(np.full(4, 0.25), thetas))
        assert len(begun) == 40
        assert sum(not theta.any() for theta in begun) >= 10
        beside = begun[:20]
        nearest = [int(np.abs(thetas - theta).sum(axis=1).argmin()) for theta in beside]
        assert set(nearest) == {0, 1, 2, 3}

    def test_ends_with_products_of_two_or_three_of_those_at_hand(
        self, begun: list[np.ndarray]
    ) -> None:
        X, y = random_problem(40)
        thetas = np.diag([1.0, 2.0, 3.0, 4.0])
        search = IndependentSearch(products(X), 100, n_product_starts=5)
        search.run(y, Mixture(np.full(4, 0.25), thetas))
        multiplied = np.array(begun[100:])
        assert len(multiplied) == 5
        used = multiplied > 0
        assert set(used.sum(axis=1)) <= {2, 3}
        assert np.array_equal(multiplied, used * [1.0, 2.0, 3.0, 4.0])
        family = products(X)
        prices = [y @ family.gram(theta) @ y for theta in multiplied]
        assert prices == sorted(prices, reverse=True)

    def test_finds_a_product_that_no_single_parameter_leads_to(self) -> None:
        """The labels are the parity of six of 40 features; each pair of these has its kernel.

        The kernel of all six is worth twice any other, and neither one nor two further features
        improve a kernel of two or of four of them: what is found does not hang on rounding.
        """
        X = np.where(np.random.default_rng(0).random((400, 40)) < 0.5, 1.0, -1.0)
        y = X[:, :6].prod(axis=1)
        y -= y.mean()
        family, pairs = products(X), np.zeros((3, 40))
        pairs[[0, 0, 1, 1, 2, 2], range(6)] = 1.0
        known = Mixture(np.full(3, 1.0 / 3.0), pairs)
        without, found = (
            IndependentSearch(family, 10, n_product_starts=count).run(y, known)[0]
            for count in (0, 5)
        )
        assert set(np.argsort(-found.theta)[:6]) == set(range(6))
        assert found.price > 1.5 * without.price

    def test_finds_a_sparse_kernel_that_nothing_at_hand_leads_to(self) -> None:
        """The labels are the sign of a product of two of 20 features: single ones say nothing."""
        rng = np.random.default_rng(4)
        X = rng.standard_normal((150, 20))
        y = np.sign(X[:, 3] * X[:, 11])
        y -= y.mean()
        family = products(X)
        known = Mixture(np.ones(1), family.scales()[:1])
        best = IndependentSearch(family, 20).run(y, known)[0]
        assert set(np.argsort(-best.theta)[:2]) == {3, 11}
        assert best.price > 1.2 * 0.5 * y @ family.gram(family.scales()[0]) @ y

    @pytest.mark.parametrize("build", [products, isotropic], ids=["products", "isotropic"])
    def test_leaves_a_maximum_that_a_gradient_does_not(self, build: partial[Family]) -> None:
        """Of labels with a slow wave and a fast one T has two maxima along the width."""
        x = np.linspace(0.0, 20.0, 400)[:, None]
        a = np.sin(0.1 * np.pi * x[:, 0]) + 8.0 * np.sin(2.0 * np.pi * x[:, 0])
        a -= a.mean()
        family = build(x)
        wide = np.array([0.03])
        box = Bounds(family.lower, family.upper)
        climbed = climb(family.single_precision(), box, a, wide, None)
        best = IndependentSearch(family, 1).run(a, Mixture(np.ones(1), climbed.theta[None]))[0]
        assert climbed.theta[0] < 0.3 < 3.0 < best.theta[0]
        assert best.price > 1.1 * climbed.price

    def test_of_one_parameter_the_values_are_priced_once(self, begun: list[np.ndarray]) -> None:
        """Ascents would all be the same; what they find is found, and the second maximum, too."""
        x = np.linspace(0.0, 20.0, 400)[:, None]
        a = np.sin(0.1 * np.pi * x[:, 0]) + 8.0 * np.sin(2.0 * np.pi * x[:, 0])
        a -= a.mean()
        family = products(x)
        found = IndependentSearch(family, 300).run(a, Mixture(np.ones(1), np.array([[1.0]])))
        assert len(begun) == 0
        assert found[0].theta[0] > 3.0
        assert any(theta[0] < 0.3 for _, theta in found)
        for price, theta in found:
            around = [0.5 * a @ family.gram(theta * factor) @ a for factor in (0.98, 1.0, 1.02)]
            assert price == pytest.approx(around[1], rel=1e-4)
            assert around[1] >= (1.0 - 1e-4) * max(around)


@given(st.integers(0, 10**6))
@settings(max_examples=4, deadline=None)
def test_no_parameter_alone_leads_further(seed: int) -> None:
    """Of what is found first, by exact prices on a grid that the search does not use."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((50, 6)), rng.standard_normal(50)
    family = products(X)
    best = IndependentSearch(family, 2).run(y, Mixture(np.ones(1), family.scales()[:1]))[0]
    for m in range(6):
        for value in (0.0, *np.geomspace(0.003, 30.0, 50)):
            theta = best.theta.copy()
            theta[m] = value
            assert 0.5 * y @ family.gram(theta) @ y <= 1.02 * best.price


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Where ascents began."""
    noted: list[np.ndarray] = []
    ascended = IndependentSearch._ascended

    def noting(
        self: IndependentSearch,
        family: RoughFamily,
        lines: CoordinateSearch,
        start: np.ndarray,
        *rest: Any,
    ) -> Found:
        noted.append(start.copy())
        return ascended(self, family, lines, start, *rest)

    monkeypatch.setattr(IndependentSearch, "_ascended", noting)
    return noted
