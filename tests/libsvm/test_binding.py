"""The LIBSVM binding: one buffer for many solves, one thread, nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from libsvm import svm as libsvm_api
from numpy.testing import assert_allclose, assert_array_equal
from problems import gram_and_labels
from threadpoolctl import ThreadpoolController

from mklbench.libsvm import SVM

TIGHT = 1e-6


class TestReuse:
    def test_writing_into_the_buffer_equals_passing_the_matrix(self) -> None:
        K, y = gram_and_labels()
        machine = SVM(y, 1.0)
        passed = machine.solve(K)
        machine.gram[...] = np.nan
        np.exp(np.log(K), out=machine.gram)
        written = machine.solve()
        assert_allclose(written.dual_coef, passed.dual_coef, atol=1e-8)
        assert written.intercept == pytest.approx(passed.intercept, abs=1e-8)

    def test_each_solve_is_a_cold_start(self) -> None:
        K, y = gram_and_labels()
        other, _ = gram_and_labels(seed=5)
        machine = SVM(y, 1.0)
        first = machine.solve(K)
        kept = first.dual_coef.copy()
        machine.solve(other)
        assert_array_equal(first.dual_coef, kept)
        again = machine.solve(K)
        assert_array_equal(again.dual_coef, first.dual_coef)
        assert again.intercept == first.intercept

    def test_other_layouts_of_the_matrix(self) -> None:
        K, y = gram_and_labels()
        expected = SVM(y).solve(K).dual_coef
        assert_array_equal(SVM(y).solve(np.asfortranarray(K)).dual_coef, expected)
        assert_array_equal(SVM(y).solve(np.repeat(K, 2, axis=1)[:, ::2]).dual_coef, expected)

    def test_calls_and_seconds_are_counted(self) -> None:
        K, y = gram_and_labels()
        machine = SVM(y)
        for count in (1, 2, 3):
            before = machine.seconds
            machine.solve(K)
            assert machine.calls == count
            assert machine.seconds > before

    def test_every_model_is_freed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        K, y = gram_and_labels(60)
        done: list[str] = []
        for name in ("svm_train", "svm_free_and_destroy_model"):
            function = getattr(libsvm_api.libsvm, name)

            def noted(*given: object, name: str = name, function: Any = function) -> object:
                done.append(name)
                return function(*given)

            monkeypatch.setattr(libsvm_api.libsvm, name, noted)
        machine = SVM(y, 0.1)
        machine.solve(K)
        machine.solve(K)
        assert done == ["svm_train", "svm_free_and_destroy_model"] * 2


def openmp_threads() -> set[int]:
    libraries = ThreadpoolController().select(user_api="openmp").info()
    return {library["num_threads"] for library in libraries}


def test_one_thread_inside_the_call_and_as_many_as_before_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    K, y = gram_and_labels()
    machine = SVM(y)
    train: Callable[..., object] = libsvm_api.libsvm.svm_train
    seen: list[set[int]] = []

    def watched(*arguments: object) -> object:
        seen.append(openmp_threads())
        return train(*arguments)

    monkeypatch.setattr(libsvm_api.libsvm, "svm_train", watched)
    with ThreadpoolController().limit(limits=2, user_api="openmp"):
        if 2 not in openmp_threads():
            pytest.skip("the OpenMP library here cannot be given two threads")
        before = openmp_threads()
        machine.solve(K)
        assert openmp_threads() == before
    assert seen == [{1}]


def test_labels_belong_to_the_machine() -> None:
    y = np.array([-1.0, 1.0, -1.0, 1.0])
    K = np.eye(4) + y[:, None] * y
    machine = SVM(y)
    before = machine.solve(K).dual_coef
    y[:] = [1.0, 1.0, 1.0, -1.0]
    assert_allclose(machine.solve(K).dual_coef, before)


def test_machines_in_several_threads_do_not_disturb_each_other() -> None:
    problems = [gram_and_labels(60 + seed, seed) for seed in range(8)]

    def solved(number: int) -> list[np.ndarray]:
        K, y = problems[number % len(problems)]
        machine = SVM(y, C=10.0, tol=TIGHT)
        return [machine.solve(factor * K).dual_coef for factor in (1.0, 0.5, 2.0)]

    alone = [solved(number) for number in range(len(problems))]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(solved, range(5 * len(problems))))
    for number, found in enumerate(together):
        assert_array_equal(found, alone[number % len(problems)])
