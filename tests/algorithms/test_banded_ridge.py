"""Banded ridge regression: what cross-validation says of each draw of weights, and the best one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem, random_stack
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import StratifiedKFold

from mklbench.algorithms import banded_ridge, krr
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, linear_features

LAMS = np.array([1e-3, 0.1, 10.0])


def folds(y: np.ndarray) -> list:
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y))


def refitted(K: np.ndarray, y: np.ndarray, lam: float) -> float:
    """The held-out squared errors by a machine a fold."""
    total = 0.0
    for fit, held in folds(y):
        machine = KernelRidge(alpha=lam, kernel="precomputed").fit(K[np.ix_(fit, fit)], y[fit])
        total += ((machine.predict(K[np.ix_(held, fit)]) - y[held]) ** 2).sum()
    return total


def test_held_out_errors_are_those_of_machines_learned_without_the_fold() -> None:
    stack, y = random_stack(40)
    K = stack.mean(axis=0)
    errors = banded_ridge.held_out_errors(K, y, LAMS, [held for _, held in folds(y)])
    assert_allclose(errors, [refitted(K, y, lam) for lam in LAMS], rtol=1e-9)


@pytest.mark.parametrize("lists", [[[m] for m in range(5)], [[0, 3, 1], [4, 2]]])
def test_the_draw_with_the_least_error_is_taken(lists: list[list[int]]) -> None:
    stack, y = random_stack(40)
    bank = PrecomputedBank(stack)
    solution = banded_ridge.solve(bank, y, 0.3, n_draws=6, groups=lists)
    tried = []
    for draw in banded_ridge.draws(len(lists), 6, 0):
        weights = np.zeros(5)
        for gamma, group in zip(draw, lists, strict=True):
            weights[group] = gamma / len(group)
        tried.append(weights)
    errors = [refitted(np.tensordot(w, stack, 1), y, 0.3) for w in tried]
    best = int(np.argmin(errors))
    assert_allclose(solution.weights, tried[best])
    assert solution.history[0]["held_out_loss"] == pytest.approx(errors[best] / 40)
    plain = krr.solve(bank, y, 0.3, weights=tried[best])
    assert_allclose(solution.dual_coef, plain.dual_coef, rtol=1e-9)
    assert solution.objective == pytest.approx(plain.objective)
    assert abs(solution.gap) < 1e-10


def test_lambda_is_chosen_with_the_weights() -> None:
    stack, y = random_stack(40)
    free = banded_ridge.solve(PrecomputedBank(stack), y, n_draws=6)
    given = [banded_ridge.solve(PrecomputedBank(stack), y, lam, n_draws=6) for lam in LAMS]
    assert all(free.history[0]["held_out_loss"] <= s.history[0]["held_out_loss"] for s in given)
    again = banded_ridge.solve(PrecomputedBank(stack), y, free.history[0]["lam"], n_draws=6)
    assert_array_equal(again.weights, free.weights)


def test_draws_are_on_the_simplex_and_follow_the_seed() -> None:
    draws = banded_ridge.draws(4, 101, seed=3)
    assert_array_equal(draws, banded_ridge.draws(4, 101, seed=3))
    assert (draws != banded_ridge.draws(4, 101, seed=4)).any()
    assert_allclose(draws.sum(axis=1), 1.0)
    assert_array_equal(draws[0], 0.25)
    # Of concentration 0.1 the largest weight is nearly all, of concentration 1 about half.
    assert draws[1::2].max(axis=1).mean() > 0.75 > draws[2::2].max(axis=1).mean()


def test_features_without_signal_lose_their_weight() -> None:
    X, _ = random_problem(80, 6)
    solution = banded_ridge.solve(linear_features(X), X[:, 1] - X[:, 4], n_draws=200)
    assert solution.weights[[1, 4]].sum() > 0.8


def test_a_singular_system_names_lambda() -> None:
    stack, y = random_stack(40)
    with pytest.raises(InputError, match="lam=1e-20 is too small"):
        banded_ridge.solve(PrecomputedBank(np.ones_like(stack)), y, 1e-20)
