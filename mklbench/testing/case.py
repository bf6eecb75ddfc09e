"""An algorithm under test with one kind of kernels, and the problems that it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mklbench.contract import Algorithm, Solver
from mklbench.kernels import Family, KernelBuilder, KernelOperator, training_outputs
from mklbench.solution import Solution
from mklbench.testing.claims import Array

# Lower and upper bounds on the optimum from Gram matrices (M, n, n), labels, C and a solution.
Bounds = Callable[[Array, Array, float, Solution], tuple[float, float]]

# C of the problems here: some coefficients are at it.
BOX = 2.0


def problem(n: int = 40) -> tuple[Array, Array]:
    """Return features (n, 4) and noisy labels that depend on two of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    score = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 - 0.8 + 0.4 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


@dataclass(frozen=True)
class Case:
    """An algorithm with one kind of kernels.

    Attributes
    ----------
    solve : Solver
        With its options bound.
    algorithm : Algorithm
        What it declares.
    build : KernelBuilder
        Of the kernels.
    lenient, bounds : frozenset of str or Bounds or None
        As in `check_algorithm`.
    """

    solve: Solver
    algorithm: Algorithm
    build: KernelBuilder
    lenient: frozenset[str]
    bounds: Bounds | None

    @property
    def name(self) -> str:
        function = self.algorithm.solve
        return f"{function.__module__}.{function.__name__}"

    def __call__(self, X: Array, y: Array, **options: Any) -> Solution:
        """Solve on new kernels, C being that of the problems unless it is among the options."""
        if "C" in self.algorithm.options:
            options = {"C": BOX, **options}
        return self.solve(self.build(X), y, **options)

    def precise(self, tol: float = 1e-8) -> dict[str, float]:
        """Return the options that make the solution as accurate."""
        name = next((n for n in ("svm_tol", "tol") if n in self.algorithm.options), None)
        return {} if name is None else {name: tol}

    @property
    def is_regression(self) -> bool:
        """Whether it takes real targets, of those with a learner with the one at hand."""
        learner = inspect.signature(self.solve).parameters.get("learner")
        return self.algorithm.regression and (learner is None or learner.default != "svm")

    @property
    def is_svm(self) -> bool:
        """Whether the coefficients are those of an SVM for classes."""
        return "C" in self.algorithm.options and not self.is_regression


def dense_outputs(operator: KernelOperator, machine: Solution) -> Array:
    """Return K a (n,) of one machine on the training samples, from its dense Gram matrix."""
    if machine.thetas is not None:
        assert isinstance(operator, Family)
        return training_outputs(operator, machine.weights, machine.thetas, machine.dual_coef)
    return operator.gram(machine.weights) ** machine.degree @ machine.dual_coef
