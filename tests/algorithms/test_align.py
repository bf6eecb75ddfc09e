"""ALIGN: weights from alignments, and the three machines of the second stage."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from alignment_problems import dense_alignment, indefinite_stack, real_targets, scaled_stack
from numpy.testing import assert_allclose, assert_array_equal

from mklbench.algorithms import align, alignf, krr, svm, svr
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank

BOTH = pytest.mark.parametrize("algorithm", [align, alignf])


def test_weights_are_the_alignments_at_unit_norm() -> None:
    stack, y = scaled_stack()
    solution = align.solve(PrecomputedBank(stack), y)
    each = np.array([dense_alignment(K, y) for K in stack])
    assert_allclose(solution.weights, each / np.linalg.norm(each), rtol=1e-9)
    reached = dense_alignment(np.tensordot(solution.weights, stack, axes=1), y)
    assert_allclose(solution.objective, reached, rtol=1e-9)


def test_a_negative_alignment_is_clipped() -> None:
    stack, y = indefinite_stack()
    solution = align.solve(PrecomputedBank(stack), y)
    assert solution.weights[1] == 0
    assert (np.delete(solution.weights, 1) > 0).all()


@BOTH
def test_a_constant_kernel_takes_no_part(algorithm: ModuleType) -> None:
    stack, y = scaled_stack()
    constant = np.full_like(stack[:1], 7.0)
    there = algorithm.solve(PrecomputedBank(stack), y)
    solution = algorithm.solve(PrecomputedBank(np.concatenate([stack, constant])), y)
    assert_allclose(solution.weights, [*there.weights, 0.0], rtol=1e-9)


@BOTH
@pytest.mark.parametrize("learner", ["svm", "krr", "svr"])
def test_the_second_stage_is_that_machine_at_the_weights(
    algorithm: ModuleType, learner: str
) -> None:
    stack, y = scaled_stack()
    bank = PrecomputedBank(stack)
    targets = y if learner == "svm" else real_targets()
    solution = algorithm.solve(bank, targets, C=3.0, lam=0.5, epsilon=0.2, learner=learner)
    alone = {
        "svm": lambda w: svm.solve(bank, y, C=3.0, weights=w),
        "krr": lambda w: krr.solve(bank, targets, lam=0.5, weights=w),
        "svr": lambda w: svr.solve(bank, targets, C=3.0, epsilon=0.2, weights=w),
    }[learner](solution.weights)
    assert_array_equal(solution.dual_coef, alone.dual_coef)
    assert solution.intercept == alone.intercept
    assert solution.n_svm_calls == (0 if learner == "krr" else 1)
    assert solution.gap >= alone.gap
    combined = np.tensordot(solution.weights, stack, axes=1)
    assert_allclose(solution.objective, dense_alignment(combined, targets), rtol=1e-9)


@BOTH
def test_kernels_of_which_none_is_aligned(algorithm: ModuleType) -> None:
    stack, y = scaled_stack()
    with pytest.raises(InputError, match="none of the 2 kernels has a positive alignment with y"):
        algorithm.solve(PrecomputedBank([-stack[0], np.ones_like(stack[0])]), y)
