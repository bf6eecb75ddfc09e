"""One-class MKL: against a conic solver, scikit-learn, certificates, and at its edges."""

from __future__ import annotations

from typing import Any

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem, random_stack
from sklearn.svm import OneClassSVM

from mklbench import OneClassMKL, certify, one_class
from mklbench.certify import OneClass, PrimalDualPoint
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, feature_gaussians
from mklbench.penalties.simple import Simplex
from mklbench.solution import Solution

# The conic solver says so where it misses its 1e-9.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

Array = np.ndarray

N = 40


def solve(stack: Array, nu: float, **options: Any) -> Solution:
    """Solve, and check what holds for every solution, from the numbers returned alone."""
    bank = PrecomputedBank(stack)
    solution = one_class.solve(bank, nu=nu, **options)
    a, d, total = solution.dual_coef, solution.weights, nu * stack.shape[1]
    assert (d >= 0).all()
    assert d.sum() == pytest.approx(1.0, abs=1e-15)
    assert (a >= 0).all()
    assert (a <= 1).all()
    assert a.sum() == pytest.approx(total, rel=1e-10)
    point = PrimalDualPoint.on_bank(bank, OneClass(1.0, total, -solution.intercept), solution)
    bounds = certify.bounds(point, Simplex())
    assert bounds.relative_gap == pytest.approx(solution.gap, rel=1e-4, abs=1e-9)
    assert solution.objective == pytest.approx(point.objective, rel=1e-9)
    return solution


class TestOptimum:
    @pytest.mark.parametrize(("nu", "scale"), [(0.01, 1.0), (0.1, 1e-8), (0.5, 1.0), (0.9, 1e6)])
    def test_of_a_conic_solver(self, nu: float, scale: float) -> None:
        stack = random_stack(N, 6)[0]
        solution = solve(scale * stack, nu, tol=1e-6)
        assert solution.converged
        assert solution.gap <= 1e-6
        assert solution.n_svm_calls <= 10
        twin = conic_twins.one_class_mkl(stack, nu)
        assert solution.objective == pytest.approx(scale * twin.value, rel=2e-6)
        assert_allclose(solution.weights, twin.weights, atol=1e-3)

    def test_nu_bounds_the_samples_outside(self) -> None:
        stack = random_stack(100, 4)[0]
        for nu in (0.05, 0.2, 0.6):
            solution = solve(stack, nu, tol=1e-7)
            K = np.tensordot(solution.weights, stack, axes=1)
            decision = K @ solution.dual_coef + solution.intercept
            assert (decision < -1e-5).mean() <= nu
            assert (solution.dual_coef > 0).mean() >= nu

    def test_the_widest_gaussian_is_preferred(self) -> None:
        """What the docstring warns of."""
        X, _ = random_problem(N)
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        stack = np.exp(-np.array([0.01, 0.1, 1.0])[:, None, None] * squares)
        assert_array_equal(solve(stack, 0.3).weights, [1.0, 0.0, 0.0])


class TestWeights:
    @pytest.mark.parametrize("nu", [0.05, 0.3])
    def test_bounds_by_sample_of_a_conic_solver(self, nu: float) -> None:
        stack = random_stack(N, 6)[0]
        box = np.random.default_rng(0).uniform(0.1, 5.0, N)
        solution = one_class.solve(PrecomputedBank(stack), nu=nu, tol=1e-7, sample_weight=box)
        a, total = solution.dual_coef, nu * box.sum()
        assert (a >= 0).all()
        assert (a <= box).all()
        assert a.sum() == pytest.approx(total, rel=1e-9)
        twin = conic_twins.one_class_mkl(stack, nu, box)
        assert solution.objective == pytest.approx(twin.value, rel=2e-6)
        assert_allclose(solution.weights, twin.weights, atol=1e-3)
        loss = OneClass(box, total, -solution.intercept)
        point = PrimalDualPoint.on_bank(PrecomputedBank(stack), loss, solution)
        bounds = certify.bounds(point, Simplex())
        assert solution.gap <= 1e-7
        assert bounds.relative_gap == pytest.approx(solution.gap, abs=1e-8)
        assert bounds.lower <= twin.value + 1e-6 * abs(twin.value) <= bounds.upper * (1 - 2e-6)

    def test_weight_2_is_the_row_twice(self) -> None:
        X, _ = random_problem(N)
        counts = np.random.default_rng(0).integers(1, 4, N)
        repeated = X[np.repeat(np.arange(N), counts)]
        weighted = one_class.solve(feature_gaussians(X), nu=0.3, tol=1e-8, sample_weight=counts)
        plain = one_class.solve(feature_gaussians(repeated), nu=0.3, tol=1e-8)
        assert weighted.objective == pytest.approx(plain.objective, rel=1e-6)
        assert_allclose(weighted.weights, plain.weights, atol=1e-3)
        assert weighted.intercept == pytest.approx(plain.intercept, rel=1e-3)
        assert (weighted.dual_coef > 1.0).any()

    def test_weight_0_leaves_a_row_out_and_equal_ones_change_nothing(self) -> None:
        X, _ = random_problem(60)
        kept = np.arange(60) % 4 > 0
        weighted = OneClassMKL(nu=0.2).fit(X, sample_weight=2.0 * kept)
        fewer = OneClassMKL(nu=0.2).fit(X[kept])
        assert_array_equal(weighted.predict(X), fewer.predict(X))
        assert_array_equal(weighted.weights_, fewer.weights_)
        assert_allclose(weighted.dual_coef_[kept], 2.0 * fewer.dual_coef_)
        assert not weighted.dual_coef_[~kept].any()


class TestOneKernel:
    @pytest.mark.parametrize("nu", [0.005, 0.1, 0.5, 0.95])
    def test_is_scikit_learns(self, nu: float) -> None:
        X, _ = random_problem(120)
        ours = OneClassMKL(kernel="gaussian", nu=nu, tol=1e-9).fit(X)
        theirs = OneClassSVM(nu=nu, gamma=0.25, tol=1e-7).fit(X)
        Z = np.random.default_rng(1).normal(size=(50, 4)) * 2.0
        scale = max(1.0, nu * 120)
        assert_allclose(ours.score_samples(Z), theirs.score_samples(Z), atol=1e-4 * scale)
        assert ours.offset_ == pytest.approx(float(theirs.offset_[0]), abs=1e-4 * scale)
        assert ours.dual_coef_.sum() == pytest.approx(theirs.dual_coef_.sum())


class TestEstimator:
    def test_finds_what_is_far_away(self) -> None:
        X, _ = random_problem(150)
        model = OneClassMKL(nu=0.1).fit(X)
        assert (model.predict(X) == 1).mean() == pytest.approx(0.9, abs=0.05)
        assert (model.predict(X[:20] + 12.0) == -1).all()
        assert_array_equal(model.fit_predict(X), model.predict(X))
        difference = model.score_samples(X) - model.decision_function(X)
        assert_allclose(difference, model.offset_)


def test_centred_kernels_are_refused() -> None:
    stack = random_stack(N, 3)[0]
    centre = np.eye(N) - 1.0 / N
    with pytest.raises(InputError, match="the kernels are centred"):
        one_class.solve(PrecomputedBank(centre @ stack @ centre))


@pytest.mark.parametrize("nu", [0.0, 1.1, np.nan, "a", True])
def test_nu_is_a_share(nu: Any) -> None:
    X, _ = random_problem(20)
    with pytest.raises(InputError, match=r"nu=.* is not accepted: it must be a number in \(0, 1\)"):
        one_class.solve(feature_gaussians(X), nu=nu)
    with pytest.raises(InputError, match=r"nu=.* is not accepted"):
        OneClassMKL(nu=nu).fit(X)
