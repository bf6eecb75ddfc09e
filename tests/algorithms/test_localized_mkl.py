"""Localized MKL: its gradient, its descent, and data on which one set of weights is not enough."""

from __future__ import annotations

import numpy as np
import pytest
from narrowing import present
from numpy.testing import assert_allclose, assert_array_equal
from problems import differences, random_stack
from scipy.special import softmax

from mklbench import multiclass
from mklbench.algorithms import localized_mkl, uniform
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, linear_features
from mklbench.libsvm import SVM
from mklbench.solution import Solution

# The first column says which of the other two tells the label.
N_COLUMNS = 3


def two_regions(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_COLUMNS))
    X[:, 0] = 2.0 * np.sign(X[:, 0])
    return X, np.where(np.where(X[:, 0] > 0, X[:, 1], X[:, 2]) > 0, 1.0, -1.0)


def local(stack: np.ndarray, scores: np.ndarray) -> np.ndarray:
    eta = softmax(scores, axis=1)
    return np.einsum("im,mij,jm->ij", eta, stack, eta)


def test_the_kernel_and_its_gradient_in_the_scores() -> None:
    """Of -1/2 a' K_eta a at the SVM's a, which is that of J (Danskin)."""
    stack, y = random_stack(20)
    scores = np.random.default_rng(0).standard_normal((20, 5))
    bank, eta = PrecomputedBank(stack), softmax(scores, axis=1)
    assert_allclose(localized_mkl.gated_kernel(bank, eta), local(stack, scores), atol=1e-14)
    a = SVM(y, 2.0, tol=1e-10).solve(local(stack, scores)).dual_coef
    gradient = localized_mkl.score_gradient(bank, a, eta)

    def value(at: np.ndarray) -> float:
        K = local(stack, at.reshape(scores.shape))
        return SVM(y, 2.0, tol=1e-10).solve(K).dual_objective(K)

    assert_allclose(gradient.ravel(), differences(value, scores.ravel(), 1e-6), atol=1e-5)


def test_the_objective_decreases_from_that_of_equal_weights() -> None:
    stack, y = random_stack(40)
    solution = localized_mkl.solve(PrecomputedBank(stack), y, C=5.0, svm_tol=1e-6)
    values = [entry["objective"] for entry in solution.history]
    assert (np.diff(values) < 0).all()
    assert values[0] == pytest.approx(uniform.solve(PrecomputedBank(stack / 5), y, C=5.0).objective)
    assert solution.objective == values[-1]
    assert solution.converged
    assert solution.weights.sum() == pytest.approx(1.0)


def test_where_each_region_has_a_view_of_its_own_gating_wins() -> None:
    X, y = two_regions(150, seed=0)
    Z, truth = two_regions(2000, seed=1)
    bank = linear_features(X)

    def accuracy(solution: Solution) -> float:
        return float((multiclass.decision_function(bank, [solution], Z) * truth > 0).mean())

    best = max(accuracy(uniform.solve(bank, y, C)) for C in (0.1, 1.0, 10.0, 100.0))
    assert best < 0.8
    assert accuracy(localized_mkl.solve(bank, y, C=10.0)) > 0.95


def test_the_gating_has_a_kernel_of_its_own() -> None:
    X, y = two_regions(150, seed=0)
    bank = linear_features(X)
    solution = localized_mkl.solve(bank, y, C=10.0, gating=[1.0, 0.0, 0.0])
    for gate in present(solution.gates):
        assert_array_equal(gate.weights[1:], 0.0)
    with pytest.raises(InputError, match="gating has shape"):
        localized_mkl.solve(bank, y, gating=[1.0])
