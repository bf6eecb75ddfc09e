"""Warm starts of the default solver: the same results, sooner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import random_problem

from mklbench import multiclass
from mklbench.algorithms import mkl
from mklbench.errors import InputError
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.run import Run
from mklbench.kernels import Bank, simplemkl_bank
from mklbench.kernels.base import Array
from mklbench.solution import Solution

PATH = np.geomspace(2.0, 2000.0, 5)


@pytest.fixture(scope="module")
def bank() -> tuple[Bank, Array]:
    """Thirteen kernels on each of 6 features and on all of them, on 90 samples; and labels."""
    X, y = random_problem(90, 6)
    return simplemkl_bank(X), y


def objectives(solutions: list[Solution]) -> list[float]:
    return [solution.objective for solution in solutions]


def calls(solutions: list[Solution]) -> int:
    return sum(solution.n_svm_calls for solution in solutions)


def test_a_path_of_C_ends_at_the_same_optima_with_fewer_svm_calls(bank: tuple[Bank, Array]) -> None:
    kernels, y = bank
    cold = [mkl.solve(kernels, y, C) for C in PATH]
    warm: list[Solution] = []
    for C in PATH:
        warm.append(mkl.solve(kernels, y, C, start=warm[-1].weights if warm else None))
    assert all(solution.gap <= 1e-4 for solution in [*warm, *cold])
    np.testing.assert_allclose(objectives(warm), objectives(cold), rtol=2e-4)
    assert calls(warm) < calls(cold)


def test_a_start_without_the_new_kernel_is_refused_with_the_remedy(
    bank: tuple[Bank, Array],
) -> None:
    kernels, y = bank
    with pytest.raises(InputError, match=r"start .*91 kernels"):
        mkl.solve(kernels, y, start=np.ones(kernels.n_kernels - 1))


def test_a_search_chooses_the_same_with_and_without_warm_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solve, svm_calls = mkl.solve, {"warm": 0, "cold": 0}

    def counted(
        bank: Bank, y: Array, C: float, *, start: Array | None = None, **options: Any
    ) -> Solution:
        solution = solve(bank, y, C, start=start, **options)
        svm_calls["cold" if start is None else "warm"] += solution.n_svm_calls
        return solution

    monkeypatch.setattr(mkl, "solve", counted)
    data = ["data=twonorm", "data.n_samples=120"]
    run = Run.from_overrides(["algo=mkl", "kernel=feature_gaussians", "search=cv", *data])
    warm = run_split(run, 0)
    with_starts = sum(svm_calls.values())
    assert svm_calls["warm"] > svm_calls["cold"]
    monkeypatch.setattr(multiclass, "takes_start", lambda solve: False)
    cold = run_split(run, 0)
    assert with_starts < sum(svm_calls.values()) - with_starts
    for name in ("params", "accuracy", "objective", "svm_calls", "weights"):
        assert getattr(warm, name) == getattr(cold, name)
    assert warm.search_accuracy == pytest.approx(cold.search_accuracy, abs=0.01)
