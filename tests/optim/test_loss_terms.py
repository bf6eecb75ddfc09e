"""Regression by the joint method: beside a conic solver, and the one on Gram matrices."""

from __future__ import annotations

from typing import Any

import conic_twins
import numpy as np
import pytest
from certificates import joint_upper
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mklbench.algorithms import mkl_svr
from mklbench.certify import Hinge, Tube
from mklbench.kernels import Bank, feature_gaussians
from mklbench.multiclass import decision_function
from mklbench.optim.linearised import terms_of
from mklbench.solution import Solution

TOL = 1e-4

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def problem(n: int, d: int, seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and targets that are an additive function of two features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2.0 * X[:, 0]) + np.square(X[:, 1]) + noise * rng.standard_normal(n)


def joint(bank: Bank, y: np.ndarray, C: float, **options: Any) -> Solution:
    return mkl_svr.solve(bank, y, C, method="joint", **{"tol": TOL, **options})


def assert_same_optimum(bank: Bank, y: np.ndarray, C: float, **options: Any) -> Solution:
    """Assert that it is that of the method on Gram matrices, to 1e-4."""
    found = joint(bank, y, C, **options)
    exact = mkl_svr.solve(bank, y, C, tol=1e-6, method="libsvm", **options)
    assert found.converged
    assert found.gap <= TOL
    assert found.objective == pytest.approx(exact.objective, rel=2.0 * TOL + 1e-6, abs=1e-12)
    return found


class TestTerms:
    @pytest.mark.parametrize("box", [3.0, np.arange(1.0, 9.0)])
    def test_add_up_to_the_losses_of_certificates(self, box: Any) -> None:
        rng = np.random.default_rng(0)
        y, outputs = rng.standard_normal((2, 8))
        signs = np.sign(y)
        for loss, middle in ((Tube(y, box, 0.3), y), (Hinge(signs, box), signs)):
            terms = terms_of(loss)
            assert terms.loss(terms.targets - terms.signs * outputs) == pytest.approx(
                loss.value(outputs)
            )
            assert_allclose((terms.signs * terms.targets).mean(axis=0), middle)

    def test_their_dual_is_that_of_certificates(self) -> None:
        """Where of the two variables of a sample one is 0."""
        y, a = np.random.default_rng(1).standard_normal((2, 8))
        for loss in (Tube(y, 9.0, 0.3), Hinge(np.sign(a), 9.0)):
            terms = terms_of(loss)
            alpha = np.maximum(terms.signs * a, 0.0)
            assert_allclose(terms.dual_coef(alpha), a)
            assert np.vdot(terms.targets, alpha) == pytest.approx(loss.dual_value(a))


class TestRegression:
    @pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0])
    @pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
    def test_has_the_optimum_of_a_conic_solver(self, C: float, epsilon: float) -> None:
        X, y = problem(70, 3, seed=0)
        bank = feature_gaussians(X, [0.3, 3.0])
        found = joint(bank, y, C, epsilon=epsilon, tol=1e-5)
        stack = np.array([bank.gram(unit) for unit in np.eye(bank.n_kernels)])
        twin = conic_twins.mkl_svr(stack, y, C, epsilon)
        assert found.objective == pytest.approx(twin.value, rel=2.1e-5)
        # The certificate, on dense matrices.
        a, loss = found.dual_coef, Tube(y, C, epsilon)
        upper = joint_upper(bank, X, loss, found)
        lower = loss.dual_value(a) - 0.5 * np.einsum("i,mij,j->m", a, stack, a).max()
        assert (upper - lower) / upper == pytest.approx(found.gap, rel=1e-4, abs=1e-9)

    @pytest.mark.slow
    @settings(max_examples=20, deadline=None)
    @given(
        n=st.integers(12, 100),
        d=st.integers(2, 5),
        seed=st.integers(0, 10_000),
        log_C=st.floats(-3, 3),
        log_epsilon=st.floats(-3, 0),
        noise=st.floats(0.0, 2.0),
    )
    def test_has_it_on_any_problem(
        self, n: int, d: int, seed: int, log_C: float, log_epsilon: float, noise: float
    ) -> None:
        X, y = problem(n, d, seed, noise)
        assert_same_optimum(feature_gaussians(X), y, 10.0**log_C, epsilon=10.0**log_epsilon)

    @pytest.mark.parametrize(("scale", "shift"), [(1e6, 0.0), (1e-6, 3.0), (1.0, 1e6)])
    def test_targets_of_any_size(self, scale: float, shift: float) -> None:
        X, y = problem(150, 3, seed=2)
        bank = feature_gaussians(X)
        plain = joint(bank, y, 10.0, epsilon=0.1)
        found = joint(bank, scale * y + shift, 10.0 * scale, epsilon=0.1 * scale)
        assert found.objective == pytest.approx(scale**2 * plain.objective, rel=2.0 * TOL)
        ours, theirs = (decision_function(bank, [s], X) for s in (found, plain))
        assert_allclose(ours, scale * theirs + shift, rtol=1e-8, atol=0.02 * scale)

    def test_weights_of_samples_are_bounds(self) -> None:
        X, y = problem(200, 3, seed=6)
        weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
        found = assert_same_optimum(feature_gaussians(X), y, 5.0, sample_weight=weights)
        assert (np.abs(found.dual_coef) <= 5.0 * weights).all()
        assert abs(found.dual_coef.sum()) <= 1e-9 * np.abs(found.dual_coef).sum()
