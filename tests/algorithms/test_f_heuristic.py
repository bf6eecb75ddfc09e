"""The F-heuristic: weights written out."""

from __future__ import annotations

import numpy as np
from alignment_problems import plain_alignment, scaled_stack
from numpy.testing import assert_allclose

from mklbench.algorithms import f_heuristic
from mklbench.kernels import PrecomputedBank


def test_weights_are_the_alignments_at_sum_1() -> None:
    stack, y = scaled_stack()
    y = np.where(np.arange(40) < 12, 1.0, y)  # classes of different sizes
    solution = f_heuristic.solve(PrecomputedBank(stack), y)
    each = np.array([plain_alignment(K, y) for K in stack])
    assert_allclose(solution.weights, each / each.sum(), rtol=1e-9)
    combined = np.tensordot(solution.weights, stack, axes=1)
    assert_allclose(solution.objective, plain_alignment(combined, y), rtol=1e-9)
