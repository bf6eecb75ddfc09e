"""Support vector regression at fixed kernel weights."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_problem, random_stack
from sklearn.svm import SVR

from mklbench.algorithms import svr
from mklbench.certify import Tube
from mklbench.kernels import PrecomputedBank
from mklbench.optim.svm_value import bounds_alone


def targets(n: int = 30, n_features: int = 5) -> np.ndarray:
    X, _ = random_problem(n, n_features)
    return np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize(("C", "epsilon"), [(3.0, 0.1), (0.2, 0.0), (100.0, 0.5)])
def test_optimum_of_a_conic_solver(C: float, epsilon: float) -> None:
    stack, _ = random_stack()
    weights = np.array([0.0, 2.0, 0.5, 0.0, 1.0])
    K, y = np.tensordot(weights, stack, axes=1), targets()
    solution = svr.solve(
        PrecomputedBank(stack), y, C, epsilon=epsilon, weights=weights, svm_tol=1e-7
    )
    twin = conic_twins.svr(K, y, C, epsilon)
    assert_allclose(solution.objective, twin.value, rtol=1e-5)
    assert_allclose(K @ solution.dual_coef, K @ twin.dual_coef, atol=1e-3)
    assert 0 <= solution.gap < 1e-4
    assert (solution.n_svm_calls, solution.converged) == (1, True)
    outputs = K @ twin.dual_coef
    found = bounds_alone(Tube(y, C, epsilon), outputs, twin.dual_coef, twin.intercept)
    assert found.relative_gap == pytest.approx(0.0, abs=1e-6)


def test_is_scikit_learns_svr() -> None:
    X, _ = random_problem(40, 5)
    K, y = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2)), targets(40)
    ours = svr.solve(PrecomputedBank(K[None]), y, 2.0, svm_tol=1e-6)
    theirs = SVR(kernel="precomputed", C=2.0, tol=1e-6).fit(K, y)
    assert_allclose(K @ ours.dual_coef + ours.intercept, theirs.predict(K), atol=1e-4)


def test_targets_within_the_tube_need_no_support_vector() -> None:
    stack, y = random_stack()
    solution = svr.solve(PrecomputedBank(stack), y, epsilon=2.0)
    assert not solution.dual_coef.any()
    assert (solution.objective, solution.gap) == (0.0, 0.0)
