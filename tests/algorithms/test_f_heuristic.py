"""The F-heuristic: weights written out."""

from __future__ import annotations

import numpy as np
from alignment_problems import scaled_stack
from numpy.testing import assert_allclose

from mklbench.algorithms import f_heuristic
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
