"""MKL where it is degenerate: equal samples with opposite labels, equal and zero kernels, any C.

Nothing worse is returned than what one SVM with equal weights, which is free to have, certifies;
and the optimum, which a conic solver finds on its own, is within the gap.
"""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from cases import rest_slow
from certificates import bank_bounds
from problems import categories

from mklbench.algorithms import ikl, mkl, uniform
from mklbench.kernels import PrecomputedBank

Array = np.ndarray


def degenerate(seed: int) -> tuple[Array, Array, float]:
    """Return a stack (M, n, n), labels and C of a random problem of one of six kinds."""
    rng = np.random.default_rng(seed)
    n, M = int(rng.integers(4, 30)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    kind = rng.integers(0, 6)
    if kind in (0, 2, 3):  # equal samples; all with opposite labels, or some
        X[n // 2 :] = X[: n - n // 2]
    if kind in (0, 3):
        y[n // 2 :] = -y[: n - n // 2]
    if kind == 5:
        X = np.round(X)
    gammas = 10.0 ** rng.uniform(-2, 1, M)
    stack = np.array(
        [
            np.exp(-gamma * (X[:, [j % 3]] - X[:, j % 3]) ** 2)
            if j % 2
            else X[:, [j % 3]] * X[:, j % 3]
            for j, gamma in enumerate(gammas)
        ]
    )
    if kind in (1, 3):
        stack[rng.integers(0, M)] = 0.0
    if kind == 4:
        stack = np.concatenate([stack, stack[:2]])
    stack /= np.trace(stack, axis1=1, axis2=2)[:, None, None] + 1e-300
    scale = n if rng.random() < 0.5 else 1
    return stack * scale, y, float(10.0 ** rng.uniform(-4, 9))


def gap_of_equal_weights(bank: PrecomputedBank, y: Array, C: float) -> float:
    one = uniform.solve(bank, y, C)
    return bank_bounds(bank, y, one, C).relative_gap


# Those where the search itself ends above one SVM with equal weights: 1 and 28.
@pytest.mark.parametrize("seed", rest_slow(range(50), 0, 2, 4, 5, 7, 28))
def test_mkl_is_never_worse_than_one_svm(seed: int) -> None:
    stack, y, C = degenerate(seed)
    bank = PrecomputedBank(stack)
    solution = mkl.solve(bank, y, C)
    assert solution.gap <= max(gap_of_equal_weights(bank, y, C) * (1 + 1e-9), 1e-4)
    assert solution.n_svm_calls <= 100
    assert solution.history[-1]["gap"] <= solution.gap + 1e-9


@pytest.mark.parametrize("seed", rest_slow(range(30), 2, 5, 8))
def test_the_conic_optimum_is_within_the_gap(seed: int) -> None:
    stack, y, C = degenerate(seed)
    C = min(C, 1e4)  # beyond, the conic solver has no digits left
    for solve in (mkl.solve, ikl.solve):
        solution = solve(PrecomputedBank(stack), y, C)
        optimum = conic_twins.mkl(stack, y, C).value
        assert (solution.objective - optimum) / solution.objective <= solution.gap + 1e-6
        assert solution.objective * (1 - solution.gap) <= optimum * (1 + 1e-6)


def test_samples_of_categories_leave_no_gap() -> None:
    """J has a kink at the optimum: the search for weights by SVMs ends with a gap of 0.4 %."""
    stack, y = categories(28)
    bank = PrecomputedBank(stack)
    solution = mkl.solve(bank, y, 100.0)
    optimum = conic_twins.mkl(stack, y, 100.0).value
    assert solution.converged
    assert solution.gap == pytest.approx(bank_bounds(bank, y, solution, 100.0).relative_gap)
    assert solution.history[-1]["gap"] == pytest.approx(solution.gap)
    assert solution.objective == pytest.approx(optimum, rel=2e-4)


def test_a_limit_of_svms_holds_in_the_last_resort() -> None:
    stack, y, C = degenerate(1)
    for most in (1, 2, 3, 4):
        solution = mkl.solve(PrecomputedBank(stack), y, C, max_iter=most)
        assert solution.n_svm_calls <= most
