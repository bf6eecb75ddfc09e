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
    assert solution.objective >= alignf.solve(PrecomputedBank(stack), y).objective - 1e-9
    assert (cka.solve(PrecomputedBank(widths_stack()[0]), widths_stack()[1]).weights < 0).any()


def test_equal_kernels_share_their_weight() -> None:
    stack, y = scaled_stack()
    weights = cka.solve(PrecomputedBank(np.concatenate([stack, stack[:1]])), y).weights
    assert_allclose(weights[0], weights[-1], rtol=1e-6)


def test_the_machine_is_that_of_scikit_learn_also_where_the_combination_is_no_kernel() -> None:
    """There is more than one point then, and LIBSVM's depends on the class it has first."""
    stack, y = widths_stack()
    for given in (y, -y):
        solution = cka.solve(PrecomputedBank(stack), given, 1e3, class_weight={-1: 2.0, 1: 1.0})
        K = np.tensordot(solution.weights, stack, axes=1)
        assert np.linalg.eigvalsh(K)[0] < -1e-3
        other = SVC(C=1e3, kernel="precomputed", class_weight={-1: 2.0}).fit(K, given)
        values = other.decision_function(K)
        assert_allclose(K @ solution.dual_coef + solution.intercept, values, atol=1e-2)
