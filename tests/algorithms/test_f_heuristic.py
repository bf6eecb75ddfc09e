"""The F-heuristic: weights written out, and beside ALIGN."""

from __future__ import annotations

import numpy as np
import pytest
from alignment_problems import indefinite_stack, real_targets, scaled_stack
from numpy.testing import assert_allclose, assert_array_equal

from mklbench.algorithms import align, f_heuristic, krr, svm, svr
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank


def alignment(K: np.ndarray, y: np.ndarray) -> float:
    target = np.outer(y, y)
    return float(np.vdot(K, target) / (np.linalg.norm(K) * np.linalg.norm(target)))


def test_weights_are_the_alignments_at_sum_1() -> None:
    stack, y = scaled_stack()
    y = np.where(np.arange(40) < 12, 1.0, y)  # classes of different sizes
    solution = f_heuristic.solve(PrecomputedBank(stack), y)
    each = np.array([alignment(K, y) for K in stack])
    assert_allclose(solution.weights, each / each.sum(), rtol=1e-9)
    combined = np.tensordot(solution.weights, stack, axes=1)
    assert_allclose(solution.objective, alignment(combined, y), rtol=1e-9)


def test_is_align_on_centred_kernels_and_balanced_classes_up_to_length() -> None:
    stack, _ = scaled_stack()
    y = np.resize([1.0, -1.0], 40)
    H = np.eye(40) - 1.0 / 40
    centred = PrecomputedBank(H @ stack @ H)
    ours, theirs = f_heuristic.solve(centred, y).weights, align.solve(centred, y).weights
    assert_allclose(ours, theirs / theirs.sum(), rtol=1e-8)


@pytest.mark.parametrize("learner", ["svm", "krr", "svr"])
def test_the_machine_is_that_at_the_weights(learner: str) -> None:
    stack, y = scaled_stack()
    bank, targets = PrecomputedBank(stack), y if learner == "svm" else real_targets()
    solution = f_heuristic.solve(bank, targets, C=3.0, lam=0.5, epsilon=0.2, learner=learner)
    alone = {
        "svm": lambda w: svm.solve(bank, y, C=3.0, weights=w),
        "krr": lambda w: krr.solve(bank, targets, lam=0.5, weights=w),
        "svr": lambda w: svr.solve(bank, targets, C=3.0, epsilon=0.2, weights=w),
    }[learner](solution.weights)
    assert_array_equal(solution.dual_coef, alone.dual_coef)
    assert solution.gap == alone.gap


def test_a_negative_alignment_is_clipped() -> None:
    stack, y = indefinite_stack()
    each = np.array([alignment(K, y) for K in stack])
    assert each.min() < 0
    clipped = np.maximum(each, 0.0)
    assert_allclose(
        f_heuristic.solve(PrecomputedBank(stack), y).weights, clipped / clipped.sum(), atol=1e-12
    )


def test_kernels_of_which_none_is_aligned() -> None:
    stack, y = scaled_stack()
    with pytest.raises(InputError, match="none of the 2 kernels has a positive alignment with y"):
        f_heuristic.solve(PrecomputedBank([-stack[0], np.zeros_like(stack[0])]), y)
