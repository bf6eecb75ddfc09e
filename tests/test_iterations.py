"""Who watches is told of each iteration as it happens, and of the steps of no other problem."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from problems import random_stack

from mklbench import iterations
from mklbench.algorithms import ckl, ikl, mkl
from mklbench.iterations import History, Watcher
from mklbench.kernels import PrecomputedBank

STACK, Y = random_stack(40, 6)[:2]


class Recorder(Watcher):
    """Keeps what it is told: histories, and their lengths at each entry."""

    def __init__(self) -> None:
        self.histories: list[History] = []
        self.lengths: list[int] = []

    def begun(self, history: History) -> None:
        assert history == []
        self.histories.append(history)

    def noted(self, history: History) -> None:
        assert any(each is history for each in self.histories)
        self.lengths.append(len(history))

    def told(self, history: History, sentence: str) -> None:
        raise AssertionError(sentence)


def test_an_entry_is_told_when_it_is_made_and_is_that_of_the_solution() -> None:
    for algorithm in (mkl, ckl):
        told = Recorder()
        with iterations.watched(told):
            solution = algorithm.solve(PrecomputedBank(STACK), Y, 10.0)
        assert told.histories == [solution.history]
        assert told.lengths == list(range(1, len(solution.history) + 1))
        plain = algorithm.solve(PrecomputedBank(STACK), Y, 10.0)
        assert plain.history == solution.history
        np.testing.assert_array_equal(plain.dual_coef, solution.dual_coef)


def test_kernels_in_use_are_counted() -> None:
    solution = mkl.solve(PrecomputedBank(STACK), Y, 10.0)
    assert solution.history[-1]["n_active"] == np.count_nonzero(solution.weights)
    history = iterations.begin()
    iterations.note(history, np.array([0.0, -1.0, 2.0]), objective=3, n_svm_calls=1)
    assert history == [{"objective": 3.0, "n_svm_calls": 1.0, "n_active": 2.0}]


def test_the_masters_of_a_problem_are_not_told() -> None:
    told = Recorder()
    with iterations.watched(told):
        solution = ikl.solve(PrecomputedBank(STACK), Y, 10.0)
    assert told.histories == [solution.history]
    assert solution.n_svm_calls > len(solution.history)  # a master takes several


def test_the_watcher_before_is_back_afterwards_and_other_threads_have_none() -> None:
    outer, inner = Recorder(), Recorder()
    with iterations.watched(outer):
        with iterations.watched(inner):
            iterations.begin()
        with iterations.watched(None), ThreadPoolExecutor(1) as pool:
            pool.submit(iterations.begin).result()
        iterations.begin()
    iterations.begin()
    assert (len(outer.histories), len(inner.histories)) == (1, 1)
