"""CKA: the largest alignment over weights of either sign."""

from __future__ import annotations

import numpy as np
from alignment_problems import centred, dense_alignment, scaled_stack, widths_stack
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from mklbench.algorithms import alignf, cka
from mklbench.kernels import PrecomputedBank


def test_no_weights_have_a_larger_alignment() -> None:
    stack, y = scaled_stack()
    solution = cka.solve(PrecomputedBank(stack), y)
    flat, target = centred(stack).reshape(len(stack), -1), centred(np.outer(y, y)).ravel()
    v = np.linalg.solve(flat @ flat.T, flat @ target)
    assert_allclose(solution.weights, v / np.linalg.norm(v), atol=1e-8)
    assert_allclose(
        solution.objective, dense_alignment(np.tensordot(solution.weights, stack, axes=1), y)
    )
    assert solution.objective >= alignf.solve(PrecomputedBank(stack), y).objective
    assert (cka.solve(PrecomputedBank(widths_stack()[0]), widths_stack()[1]).weights < 0).any()


def test_equal_kernels_share_their_weight() -> None:
    stack, y = scaled_stack()
    weights = cka.solve(PrecomputedBank(np.concatenate([stack, stack[:1]])), y).weights
    assert_allclose(weights[0], weights[-1], rtol=1e-6)


def test_the_machine_is_the_svm_on_the_combination() -> None:
    stack, y = scaled_stack()
    solution = cka.solve(PrecomputedBank(stack), y, 3.0, svm_tol=1e-6)
    K = np.tensordot(solution.weights, stack, axes=1)
    other = SVC(C=3.0, kernel="precomputed", tol=1e-6).fit(K, y)
    assert_allclose(
        K @ solution.dual_coef + solution.intercept, other.decision_function(K), atol=1e-3
    )
