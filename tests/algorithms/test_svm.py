"""The support vector machine at fixed kernel weights."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from dense_twins import dense_gaussian
from numpy.testing import assert_allclose
from problems import random_problem, random_stack

from mklbench.algorithms import svm
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, gaussian


def test_one_gaussian_is_the_plain_svm() -> None:
    X, y = random_problem(40)
    solution = svm.solve(gaussian(X, gamma=0.4), y, C=3.0, svm_tol=1e-6)
    value = conic_twins.svm(dense_gaussian(0.4)(X, X), y, 3.0).value
    assert_allclose(solution.objective, value, rtol=1e-5)
    assert 0 <= solution.gap < 1e-4
    assert solution.n_svm_calls == 1
    assert solution.converged


def test_given_weights_combine_the_bank() -> None:
    stack, y = random_stack()
    weights = [0.0, 2.0, 0.5, 0.0, 1.0]
    solution = svm.solve(PrecomputedBank(stack), y, C=3.0, weights=weights, svm_tol=1e-6)
    value = conic_twins.svm(np.tensordot(weights, stack, axes=1), y, 3.0).value
    assert_allclose(solution.weights, weights)
    assert_allclose(solution.objective, value, rtol=1e-5)


def test_a_constant_kernel_changes_nothing() -> None:
    """Its quadratic form is (y'alpha)^2 = 0, and the intercept takes up its share of f."""
    stack, y = random_stack()
    with_constant = np.concatenate([stack, np.ones_like(stack[:1])])
    ones = np.ones(len(stack))
    without = svm.solve(PrecomputedBank(stack), y, weights=ones, svm_tol=1e-6)
    bank = PrecomputedBank(with_constant)
    solution = svm.solve(bank, y, weights=[*ones, 5.0], svm_tol=1e-6)
    assert_allclose(solution.objective, without.objective, rtol=1e-6)
    there = stack.sum(axis=0) @ without.dual_coef + without.intercept
    here = bank.gram([*ones, 5.0]) @ solution.dual_coef + solution.intercept
    assert_allclose(here, there, atol=1e-3)


def test_a_coarse_svm_has_an_honest_gap() -> None:
    stack, y = random_stack()
    coarse = svm.solve(PrecomputedBank(stack), y, C=100.0, svm_tol=0.5)
    value = conic_twins.svm(stack.mean(axis=0), y, 100.0).value
    assert (value - coarse.objective) / value <= coarse.gap
    assert coarse.gap > 1e-4


@pytest.mark.parametrize("weights", [[1.0, -0.5, 1, 1, 1], [-1e-300, 1, 1, 1, 1]])
def test_negative_weights(weights: list[float]) -> None:
    stack, y = random_stack()
    with pytest.raises(InputError, match=r"weights has the entry -.*: kernel weights are .*>= 0"):
        svm.solve(PrecomputedBank(stack), y, weights=weights)
