"""Searches side by side learn what each learns alone, and read the bank once for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench import multiclass
from mklbench.algorithms import ckl, vskl
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, ScaledBank
from mklbench.optim import alternation
from mklbench.solution import Solution

GROUPS = [list(range(6)), list(range(6, 12))]
SOLVERS: dict[str, tuple[Callable[..., Solution], Callable[..., list[Solution]], float]] = {
    "VSKL, q = 1": (vskl.solve, vskl.solve_all, 1),
    "VSKL, q = 2": (vskl.solve, vskl.solve_all, 2),
    "VSKL, q = inf": (vskl.solve, vskl.solve_all, math.inf),
    "CKL, q = 0.5": (ckl.solve, ckl.solve_all, 0.5),
    "CKL, q = 0.75": (ckl.solve, ckl.solve_all, 0.75),
}


@pytest.mark.parametrize(("solve", "solve_all", "q"), SOLVERS.values(), ids=SOLVERS)
def test_several_labels_are_learned_as_each_alone(
    solve: Callable[..., Solution],
    solve_all: Callable[..., list[Solution]],
    q: float,
) -> None:
    """Some of them need more iterations than others."""
    stack, y = random_stack(n=60, n_kernels=12)
    bank = ScaledBank(PrecomputedBank(stack, GROUPS), np.full(12, 0.1))
    rng = np.random.default_rng(3)
    labels = [y, rng.permutation(y), -y, np.where(np.arange(60) < 5, 1.0, -1.0)]
    together = solve_all(bank, labels, 10.0, q=q, tol=1e-3)
    alone = [solve(bank, one, 10.0, q=q, tol=1e-3) for one in labels]
    assert len({solution.n_iter for solution in alone}) > 1
    for one, other in zip(together, alone, strict=True):
        assert one.converged
        assert_allclose(one.objective, other.objective, rtol=1e-6)
        assert_allclose(one.weights, other.weights, atol=1e-3 * other.weights.max())


@pytest.mark.parametrize(("module", "q"), [(vskl, 2.0), (ckl, 0.75)])
def test_one_versus_rest_reads_the_bank_once_for_all_classes(
    module: object, q: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    combinations = PrecomputedBank.combinations

    def noting(self: PrecomputedBank, weights: np.ndarray, out: np.ndarray) -> Iterator[np.ndarray]:
        rows.append(len(weights))
        return combinations(self, weights, out)

    monkeypatch.setattr(PrecomputedBank, "combinations", noting)
    stack, _ = random_stack(n=60)
    bank, codes = PrecomputedBank(stack), np.arange(60) % 3
    solve: Callable[..., Solution] = module.solve  # type: ignore[attr-defined]
    learned = multiclass.fit(partial(solve, C=3.0, q=q, tol=1e-3), bank, codes, 3)
    assert rows[0] == 3
    assert len(rows) == max(solution.n_iter for solution in learned) + 1
    for code, solution in enumerate(learned):
        alone = solve(bank, np.where(codes == code, 1.0, -1.0), C=3.0, q=q, tol=1e-3)
        # LIBSVM makes more of their rounding, and one of them may end an iterate earlier.
        assert_allclose(solution.objective, alone.objective, rtol=1e-5)


def test_some_at_a_time_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kernels and five problems: at most two at once, of which each knows its place."""
    running: list[int] = []

    def search(number: int) -> alternation.Search[int]:
        running.append(number)
        for _ in range(number + 1):
            K = yield np.full(2, float(number))
            assert_allclose(K, number * stack.sum(axis=0))
        assert len(running) <= 2
        running.remove(number)
        return number

    monkeypatch.setattr(alternation, "_BUFFERS", 2 * 16 * 30**2)
    stack, _ = random_stack(n=30, n_kernels=2)
    bank = PrecomputedBank(stack)
    assert alternation.run(bank, (search(number) for number in range(5))) == [0, 1, 2, 3, 4]
    monkeypatch.setattr(alternation, "_BUFFERS", 1)  # then one after the other
    assert alternation.run(bank, (search(number) for number in range(3))) == [0, 1, 2]


def test_more_problems_than_kernels() -> None:
    stack, _ = random_stack(n=30, n_kernels=2)
    weights = np.random.default_rng(0).uniform(size=(5, 2))
    combined = [K.copy() for K in PrecomputedBank(stack).combinations(weights, np.empty((30, 30)))]
    assert_allclose(combined, np.tensordot(weights, stack, axes=1), atol=1e-12)


def test_labels_of_one_problem_that_are_wrong_are_refused() -> None:
    stack, y = random_stack()
    with pytest.raises(InputError, match="y has 29 labels"):
        vskl.solve_all(PrecomputedBank(stack), [y, y[1:]])
