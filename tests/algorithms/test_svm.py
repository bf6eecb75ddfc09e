"""The support vector machine at fixed kernel weights."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench.algorithms import svm
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank


def test_given_weights_combine_the_bank() -> None:
    stack, y = random_stack()
    weights = [0.0, 2.0, 0.5, 0.0, 1.0]
    solution = svm.solve(PrecomputedBank(stack), y, C=3.0, weights=weights, svm_tol=1e-6)
    value = conic_twins.svm(np.tensordot(weights, stack, axes=1), y, 3.0).value
    assert_allclose(solution.weights, weights)
    assert_allclose(solution.objective, value, rtol=1e-5)


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
