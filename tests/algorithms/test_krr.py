"""Kernel ridge regression at fixed kernel weights, and its path over lambda."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_problem, random_stack
from sklearn.kernel_ridge import KernelRidge

from mklbench import multiclass
from mklbench.algorithms import krr
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, feature_gaussians, gaussian, product_gaussians


def targets(n: int = 30, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n)


def test_one_gaussian_equals_scikit_learns() -> None:
    X, _ = random_problem(30)
    bank = gaussian(X, gamma=0.4)
    solution = krr.solve(bank, targets(), lam=0.3)
    theirs = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.4).fit(X, targets())
    Z = random_problem(20, seed=5)[0]
    ours = multiclass.decision_function(bank, [solution], Z)
    assert_allclose(ours, theirs.predict(Z), atol=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_objective_is_the_value_of_the_problem(degree: int) -> None:
    stack, y = random_stack()
    weights = np.array([0.0, 2.0, 0.5, 0.0, 1.0])
    solution = krr.solve(PrecomputedBank(stack), y, lam=0.5, weights=weights, degree=degree)
    K = np.tensordot(weights, stack, axes=1) ** degree
    assert_allclose(solution.objective, y @ np.linalg.solve(K + 0.5 * np.eye(30), y), rtol=1e-10)
    assert abs(solution.gap) < 1e-10
    assert_allclose(solution.weights, weights)


def test_weights_are_one_number_or_uniform() -> None:
    stack, y = random_stack()
    bank = PrecomputedBank(stack)
    assert_allclose(krr.solve(bank, y).weights, 0.2)
    assert_allclose(krr.solve(bank, y, weights=1.0).weights, 1.0)


def test_a_family_is_one_kernel_at_its_parameters() -> None:
    X, y = random_problem(30)
    family = product_gaussians(X)
    solution = krr.solve(family, y, weights=0.4)
    expected = krr.solve(gaussian(X, gamma=0.4), y)
    assert_allclose(solution.dual_coef, expected.dual_coef, atol=1e-10)


@pytest.mark.parametrize("degree", [1, 2])
def test_the_path_is_what_solve_returns_at_each_lambda(degree: int) -> None:
    X, _ = random_problem(30)
    bank = feature_gaussians(X)
    lams = [1e-4, 0.1, 10.0, 1e4]
    path = krr.solve_path(bank, targets(), lams, weights=0.7, degree=degree)
    for lam, solution in zip(lams, path, strict=True):
        alone = krr.solve(bank, targets(), lam, weights=0.7, degree=degree)
        scale = np.abs(alone.dual_coef).max()
        assert_allclose(solution.dual_coef, alone.dual_coef, atol=1e-8 * scale)
        assert_allclose(solution.objective, alone.objective, rtol=1e-9)
        assert solution.degree == degree


class TestBadInput:
    bank = PrecomputedBank(random_stack()[0])

    def test_a_singular_system_names_lambda(self) -> None:
        ones = PrecomputedBank(np.ones((1, 30, 30)))
        for solve in (krr.solve, lambda bank, y, lam: krr.solve_path(bank, y, [lam])):
            with pytest.raises(InputError, match=r"lam=1e-20 is too small: .* take lam above"):
                solve(ones, targets(), 1e-20)
            solve(ones, targets(), 1e-10)

    def test_a_kernel_that_overflows(self) -> None:
        with pytest.raises(InputError, match="degree=3 makes the kernel overflow"):
            krr.solve(PrecomputedBank(1e120 * random_stack()[0]), targets(), degree=3)
