"""The F-heuristic: weights written out, and beside ALIGN."""

from __future__ import annotations

import numpy as np
from alignment_problems import scaled_stack
from numpy.testing import assert_allclose

from mklbench.algorithms import align, f_heuristic
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
