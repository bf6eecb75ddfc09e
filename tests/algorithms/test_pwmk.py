"""PWMK: weights from accuracies that scikit-learn measures."""

from __future__ import annotations

import numpy as np
import pytest
from alignment_problems import scaled_stack
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from mklbench.algorithms import pwmk, svm
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank


def accuracies(stack: np.ndarray, y: np.ndarray) -> np.ndarray:
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    machine = SVC(kernel="precomputed", C=2.0)
    return np.array([np.mean(cross_val_predict(machine, K, y, cv=folds) == y) for K in stack])


@pytest.mark.parametrize("delta", [0.0, 0.5, 1.0])
def test_weights_are_the_accuracies_above_the_threshold(delta: float) -> None:
    stack, y = scaled_stack()
    bank = PrecomputedBank(stack)
    solution = pwmk.solve(bank, y, C=2.0, delta=delta, folds=4, seed=3)
    above = accuracies(stack, y) - delta * accuracies(stack, y).min()
    assert_allclose(solution.weights, above / above.sum(), atol=1e-12)
    alone = svm.solve(bank, y, C=2.0, weights=solution.weights)
    assert_array_equal(solution.dual_coef, alone.dual_coef)
    assert solution.objective == alone.objective
    assert solution.n_svm_calls == 6 * 4 + 1
    assert_allclose(solution.history[0]["held_out_loss"], 1.0 - accuracies(stack, y).max())


def test_at_delta_1_the_worst_kernel_is_left_out() -> None:
    stack, y = scaled_stack()
    assert pwmk.solve(PrecomputedBank(stack), y, delta=1.0).weights.min() == 0.0


def test_kernels_that_do_equally_well_have_equal_weights() -> None:
    stack, y = scaled_stack()
    same = np.stack([stack[0]] * 3)
    assert_allclose(pwmk.solve(PrecomputedBank(same), y, delta=1.0).weights, 1 / 3)


@pytest.mark.parametrize("delta", [-0.1, 1.5, np.nan])
def test_delta_is_a_share(delta: float) -> None:
    stack, y = scaled_stack()
    with pytest.raises(InputError, match=r"delta=.* is not accepted: it must be a number from 0"):
        pwmk.solve(PrecomputedBank(stack), y, delta=delta)


def test_a_class_of_one_sample_cannot_be_held_out() -> None:
    stack, _ = scaled_stack()
    y = np.where(np.arange(40) < 1, 1.0, -1.0)
    with pytest.raises(InputError, match=r"pwmk holds samples out .* there is 1 sample in the sm"):
        pwmk.solve(PrecomputedBank(stack), y)
