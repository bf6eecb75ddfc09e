"""How much of an algorithm's time is spent inside LIBSVM, and on what the rest goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from benchmarks.problems import sonar_like_split
from benchmarks.timing import Result
from mklbench.algorithms import qnpkl, simplemkl
from mklbench.kernels import KernelOperator, feature_gaussians, product_gaussians
from mklbench.optim import svm_value
from mklbench.optim.problem import Problem
from mklbench.solution import Solution

_TARGET = 0.5


def run() -> list[Result]:
    """Return the share for SimpleMKL (60 kernels) and QN-PKL on sonar."""
    X, y, name = sonar_like_split()
    printed = partial(qnpkl.solve, **qnpkl.PRINTED)
    return [
        _share(f"SimpleMKL, 60 kernels, {name}", simplemkl.solve, feature_gaussians(X), y, C=10.0),
        _share(f"QN-PKL, {name}", printed, product_gaussians(X), y, C=1.0),
    ]


def _share(
    name: str,
    solve: Callable[..., Solution],
    operator: KernelOperator,
    y: np.ndarray,
    C: float,
) -> Result:
    solve(operator, y, C)
    started = perf_counter()
    solution = solve(operator, y, C)
    total = perf_counter() - started
    rest = _kernel_seconds(operator, y, C, solution)
    share = solution.svm_seconds / total
    return Result(
        f"time inside svm_train, {name}",
        f"{share:.0%} of {total * 1e3:.0f} ms in {solution.n_svm_calls} calls "
        f"(Gram matrices {rest['gram'] / total:.0%}, gradients {rest['gradient'] / total:.0%})",
        f">= {_TARGET:.0%}",
        share >= _TARGET,
    )


def _kernel_seconds(
    operator: KernelOperator, y: np.ndarray, C: float, solution: Solution
) -> dict[str, float]:
    """Time one Gram matrix and one gradient at the solution, times the calls."""
    point = svm_value.Objective(operator, Problem.of(y, C))(solution.weights)
    repeats = 50
    started = perf_counter()
    for _ in range(repeats):
        operator.gram(solution.weights)
    gram = (perf_counter() - started) / repeats
    started = perf_counter()
    for _ in range(repeats):
        replace(point).gradient  # noqa: B018
    gradient = (perf_counter() - started) / repeats
    return {
        "gram": gram * solution.n_svm_calls,
        "gradient": gradient * solution.n_svm_calls,
    }
