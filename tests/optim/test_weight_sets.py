"""The joint method on other sets of weights: beside a conic solver and dense matrices."""

from __future__ import annotations

import math
from typing import Any

import conic_twins
import numpy as np
import pytest
from certificates import joint_upper
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import differences

from mklbench import VSKL
from mklbench.algorithms import elastic_net, mkl, uniform, vskl
from mklbench.certify import Hinge
from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    feature_gaussians,
    product_gaussians,
)
from mklbench.kernels.groups import groups_of
from mklbench.kernels.row_factors import MANY
from mklbench.multiclass import decision_function
from mklbench.optim.weight_sets import ElasticBox, WeightSet, one_sum
from mklbench.penalties.elastic_net import ElasticNet
from mklbench.penalties.mixed_norm import power_sum
from mklbench.solution import Solution

TOL = 1e-4

# The conic solver says so where it misses its 1e-9, or how it takes a norm apart.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Solution may be inaccurate"),
    pytest.mark.filterwarnings("ignore:pnorm with p="),
]


def problem(n: int, d: int, seed: int, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and labels of an additive function of two features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    values = np.sin(2.0 * X[:, 0]) + np.square(X[:, 1]) - 1.0 + noise * rng.standard_normal(n)
    return X, np.where(values > np.median(values), 1.0, -1.0)


def stack_of(bank: Bank) -> np.ndarray:
    return np.array([bank.gram(unit) for unit in np.eye(bank.n_kernels)])


def ball(bank: Bank, y: np.ndarray, C: float, p: float, **options: Any) -> Solution:
    return mkl.solve(bank, y, C, p=p, method="joint", **{"tol": TOL, **options})


def assert_optimal(found: Solution, optimum: float, tol: float = TOL, error: float = 1e-6) -> None:
    """Assert that the certified bounds hold `optimum` between them."""
    assert found.converged
    assert found.gap <= tol
    assert found.objective <= optimum * (1.0 + tol + error) + 1e-12
    assert found.objective >= optimum * (1.0 - 2.0 * tol - error) - 1e-12


def random_x(weight_set: WeightSet) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.1, 1.0, len(weight_set.start))


class TestCandidates:
    """That slopes and curvature are those of the weights is tested in test_joint_newton.py."""

    def test_of_the_simplex_sum_to_1_and_the_first_has_zeros(self) -> None:
        sparse, dense = one_sum(4).candidates(np.array([0.5, 1e-4, 0.6, 0.2]))
        assert sparse.sum() == pytest.approx(1.0)
        assert dense.sum() == pytest.approx(1.0)
        assert list(sparse > 0) == [True, False, True, True]

    @pytest.mark.parametrize("mix", [0.1, 0.9])
    def test_of_the_elastic_net_are_below_their_bound(self, mix: float) -> None:
        where = ElasticBox(3, mix)
        sparse, dense = where.candidates(np.array([0.5, 1e-4, 0.6, 0.01, 0.9, 0.4]))
        assert_allclose(dense, np.array([0.5 / 0.51, 1e-4 / 0.9001, 0.6]) / mix)
        assert_allclose(sparse, np.where([True, False, True], dense, 0.0))
        assert dense.max() < 1.0 / mix


class TestBall:
    @pytest.mark.parametrize(("p", "C"), [(1.05, 1.0), (2.0, 100.0), (math.inf, 1e-2)])
    def test_has_the_optimum_of_a_conic_solver(self, p: float, C: float) -> None:
        X, y = problem(70, 3, seed=0)
        bank = feature_gaussians(X, [0.3, 3.0])
        found = ball(bank, y, C, p, tol=1e-5)
        q = p / (p + 1.0) if p < math.inf else 1.0
        singletons = [[m] for m in range(bank.n_kernels)]
        twin = conic_twins.mixed_norm(stack_of(bank), y, C, singletons, q)
        assert_optimal(found, twin.value, tol=1e-5)
        assert power_sum(found.weights, p) == pytest.approx(1.0)


class TestElasticNet:
    @pytest.mark.parametrize("mix", [0.1, 0.5, 0.9])
    def test_slopes_are_those_of_the_price(self, mix: float) -> None:
        """Along d, with the room w = 1 - mix d that it leaves."""
        where = ElasticBox(4, mix)
        u, halves = random_x(where)[:4], np.array([3.0, 0.0, 0.2, 1.0])

        def priced(u: np.ndarray) -> float:
            d = u / mix
            return where.penalty.of_weights(d) - float(d @ halves)

        slopes = where.slopes(np.concatenate([u, 1.0 - u]), halves)
        assert_allclose(slopes[4:] - slopes[:4], differences(priced, u, 1e-6), rtol=1e-6)

    @pytest.mark.slow
    @settings(max_examples=30, deadline=None)
    @given(
        n=st.integers(12, 100),
        d=st.integers(2, 5),
        seed=st.integers(0, 10_000),
        log_C=st.floats(-2, 3),
        mix=st.floats(0.02, 1.0),
        noise=st.floats(0.0, 2.0),
    )
    def test_has_the_bounds_of_dense_matrices(
        self, n: int, d: int, seed: int, log_C: float, mix: float, noise: float
    ) -> None:
        X, y = problem(n, d, seed, noise)
        bank, C = feature_gaussians(X), 10.0**log_C
        found = elastic_net.solve(bank, y, C, mix=mix, method="joint", tol=TOL)
        assert found.gap <= TOL
        assert found.weights.max() <= 1.0 / mix
        stack, a = stack_of(bank), found.dual_coef
        loss, penalty = Hinge(y, C), ElasticNet(mix)
        upper = joint_upper(bank, X, loss, found, penalty)
        lower = loss.dual_value(a) - penalty.dual_value(np.einsum("i,mij,j->m", a, stack, a))
        assert found.gap == pytest.approx((upper - lower) / upper, rel=1e-4, abs=1e-9)
        # Of C / mix in the thousands each SVM takes most of a second, and hundreds do not suffice.
        slow = elastic_net.solve(bank, y, C, mix=mix, method="libsvm", tol=TOL, max_iter=30)
        assert lower <= slow.objective + slow.gap * abs(slow.objective)
        assert slow.objective * (1.0 - slow.gap) <= upper * (1.0 + 1e-9)


class TestGiven:
    @pytest.mark.parametrize("C", [1e-4, 1.0, 100.0])
    def test_has_the_optimum_of_a_conic_solver(self, C: float) -> None:
        X, y = problem(80, 3, seed=8)
        bank = feature_gaussians(X, [0.3, 3.0])
        found = uniform.solve(bank, y, C, svm_tol=1e-5, method="joint")
        assert_optimal(found, conic_twins.svm(stack_of(bank).mean(axis=0), y, C).value, tol=1e-5)
        assert_allclose(found.weights, 1.0 / bank.n_kernels)

    def test_has_that_of_libsvm(self) -> None:
        X, y = problem(300, 4, seed=9)
        bank = feature_gaussians(X)
        weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
        options: dict[str, Any] = {"class_weight": {1: 2.0}, "sample_weight": weights}
        found = uniform.solve(bank, y, 5.0, svm_tol=1e-5, method="joint", **options)
        exact = uniform.solve(bank, y, 5.0, svm_tol=1e-6, method="libsvm", **options)
        assert_optimal(found, exact.objective, tol=1e-5, error=1e-6)
        ours, theirs = (decision_function(bank, [s], X) for s in (found, exact))
        assert_allclose(ours, theirs, atol=1e-2 * np.abs(theirs).max())

    def test_products_have_no_factors(self) -> None:
        X, y = problem(30, 3, seed=11)
        with pytest.raises(InputError, match=r"is for banks, and .* is a family"):
            uniform.solve(product_gaussians(X), y, method="joint")


class TestGrouped:
    @pytest.mark.parametrize(
        ("q", "groups"),
        [(1.0, "features"), (2.0, "features"), (math.inf, "singletons"), (2.0, "one")],
    )
    def test_has_the_optimum_of_a_conic_solver(self, q: float, groups: str) -> None:
        X, y = problem(60, 3, seed=12)
        bank = feature_gaussians(X, [0.3, 3.0])
        found = vskl.solve(bank, y, 1.0, q=q, groups=groups, tol=1e-5, method="joint")
        partition = groups_of(bank, groups)
        lists = [np.flatnonzero(partition.owner == j).tolist() for j in range(len(partition))]
        twin = conic_twins.mixed_norm(stack_of(bank), y, 1.0, lists, q)
        assert_optimal(found, twin.value, tol=1e-5)

    @pytest.mark.slow
    def test_many_samples_take_factors_but_not_with_options_of_the_descent(self) -> None:
        X, y = problem(MANY, 2, seed=15)
        model = VSKL(kernel="feature_gaussians", C=1.0, groups="features", tol=1e-2).fit(X, y)
        assert model.method_ == "joint"
        assert model.gap_ <= 1e-2
        model.set_params(max_iter=1, step_size=1.0)
        assert model.fit(X, y).method_ == "libsvm"
