"""What holds for every classifier: found by their modules, so that a new one is tested as well."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_problem

import mklbench.algorithms
from mklbench import multiclass
from mklbench.errors import InputError
from mklbench.kernels import KernelOperator, feature_gaussians, gaussian, product_gaussians
from mklbench.solution import Solution

Solver = Callable[..., Solution]

# Which operators a solver takes is said by the name of its first parameter.
OPERATORS: dict[str, tuple[Callable[[np.ndarray], KernelOperator], ...]] = {
    "bank": (feature_gaussians,),
    "family": (product_gaussians,),
    "operator": (feature_gaussians, product_gaussians),
    "kernel": (gaussian,),  # a bank of one
    "kernels": (feature_gaussians,),  # or a family with a bounded box, tested with the solver
}
C = 2.0


def precise(solve: Solver, tol: float) -> dict[str, float]:
    """Return the arguments that make the SVM solutions of `solve` this accurate."""
    parameters = inspect.signature(solve).parameters
    return {"svm_tol": tol} if "svm_tol" in parameters else {"tol": tol}


def classifies(module: ModuleType) -> bool:
    """Tell whether an algorithm is a classifier, or its second stage is one by default."""
    learner = inspect.signature(module.solve).parameters.get("learner")
    regression = getattr(module, "REGRESSION", False)
    return not regression or (learner is not None and learner.default == "svm")


def solvers() -> dict[str, tuple[Solver, Callable[[np.ndarray], KernelOperator]]]:
    found = {}
    for info in pkgutil.iter_modules(mklbench.algorithms.__path__):
        module = importlib.import_module(f"mklbench.algorithms.{info.name}")
        if hasattr(module, "solve") and classifies(module):
            first = next(iter(inspect.signature(module.solve).parameters))
            for build in OPERATORS[first]:
                found[f"{info.name} on {build.__name__}"] = (module.solve, build)
    return found


@pytest.fixture(params=solvers())
def solver(request: pytest.FixtureRequest) -> tuple[Solver, Callable[..., KernelOperator]]:
    return solvers()[request.param]


@pytest.fixture
def solve(solver: tuple[Solver, Callable[..., KernelOperator]]) -> Solver:
    return solver[0]


@pytest.fixture
def build(solver: tuple[Solver, Callable[..., KernelOperator]]) -> Callable[..., KernelOperator]:
    return solver[1]


class TestSolution:
    def test_is_a_feasible_kernel_machine(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        operator = build(X)
        solution = solve(operator, y, C=C)
        assert solution.weights.shape == (operator.n_kernels,)
        assert (solution.weights >= 0).all()
        assert solution.weights.any()
        alpha = y * solution.dual_coef
        assert ((alpha >= 0) & (alpha <= C * (1 + 1e-12))).all()
        assert_allclose(solution.dual_coef.sum(), 0.0, atol=1e-9)
        assert np.isfinite([solution.intercept, solution.objective, solution.gap]).all()
        assert solution.gap >= -1e-12

    def test_bookkeeping(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        solution = solve(build(X), y, C=C)
        assert solution.converged in (True, False)
        assert solution.n_svm_calls >= 1
        assert solution.n_iter >= 1
        assert solution.svm_seconds > 0
        calls = [entry["n_svm_calls"] for entry in solution.history]
        assert calls == sorted(calls)
        assert calls[-1] <= solution.n_svm_calls
        assert all(np.isfinite(entry["objective"]) for entry in solution.history)

    def test_the_svm_fits_the_weights_it_is_returned_with(
        self, solve: Solver, build: Callable
    ) -> None:
        """KKT conditions of the SVM at the kernel of the returned weights."""
        X, y = random_problem(40)
        solution = solve(build(X), y, C=C, **precise(solve, 1e-6))
        for machine in solution.members or (solution,):
            margin = y * (build(X).gram(machine.weights) @ machine.dual_coef + machine.intercept)
            alpha = y * machine.dual_coef
            inside = (alpha > 1e-9) & (alpha < C * (1 - 1e-9))
            assert_allclose(margin[inside], 1.0, atol=1e-3)
            assert (margin[alpha <= 1e-9] > 1 - 1e-3).all()
            assert (margin[alpha >= C * (1 - 1e-9)] < 1 + 1e-3).all()

    def test_decision_values_at_new_samples(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        operator = build(X)
        solution = solve(operator, y, C=C)
        at_training = multiclass.decision_function(operator, [solution], X)
        machines = solution.members or (solution,)
        expected = [operator.gram(m.weights) @ m.dual_coef + m.intercept for m in machines]
        assert_allclose(at_training, np.mean(expected, axis=0), atol=1e-8)

    def test_class_weights_bound_the_coefficients(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        solution = solve(build(X), y, C=C, class_weight={1: 0.1})
        assert np.abs(solution.dual_coef[y > 0]).max() <= 0.1 * C * (1 + 1e-12)
        assert np.abs(solution.dual_coef[y < 0]).max() > 0.1 * C * (1 + 1e-12)

    def test_is_the_same_when_asked_again(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        operator = build(X)
        first, second = solve(operator, y, C=C), solve(operator, y, C=C)
        assert_array_equal(first.weights, second.weights)
        assert_array_equal(first.dual_coef, second.dual_coef)

    def test_leaves_its_arguments_alone(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        X_before, y_before = X.copy(), y.copy()
        solve(build(X), y, C=C)
        assert_array_equal(X, X_before)
        assert_array_equal(y, y_before)


class TestInvariance:
    def test_label_flip(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        there, back = (solve(build(X), labels, C=C, **precise(solve, 1e-8)) for labels in (y, -y))
        assert_allclose(back.objective, there.objective, rtol=2e-3)
        assert_allclose(back.weights, there.weights, atol=0.02 * there.weights.max())
        assert_allclose(back.dual_coef, -there.dual_coef, atol=0.02 * C)

    def test_order_of_the_samples(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(40)
        order = np.random.default_rng(0).permutation(len(y))
        there = solve(build(X), y, C=C, **precise(solve, 1e-8))
        shuffled = solve(build(X[order]), y[order], C=C, **precise(solve, 1e-8))
        assert_allclose(shuffled.objective, there.objective, rtol=2e-3)
        assert_allclose(shuffled.dual_coef, there.dual_coef[order], atol=0.02 * C)

    def test_shift_of_the_features(self, solve: Solver, build: Callable) -> None:
        """Gaussians see differences only."""
        X, y = random_problem(40)
        Z = random_problem(50, seed=9)[0]
        shift = np.array([5.0, -3.0, 100.0, 0.5])
        decisions = []
        for move in (0.0, shift):
            operator = build(X + move)
            solution = solve(operator, y, C=C, **precise(solve, 1e-8))
            decisions.append(multiclass.decision_function(operator, [solution], Z + move))
        assert_allclose(decisions[1], decisions[0], atol=1e-2)


class TestBadInput:
    @pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
    def test_numbers_that_must_be_positive(
        self, solve: Solver, build: Callable, value: float
    ) -> None:
        X, y = random_problem(10)
        for wrong in ({"C": value}, precise(solve, value)):
            with pytest.raises(InputError, match="must be a finite number > 0"):
                solve(build(X), y, **wrong)

    @pytest.mark.parametrize("labels", [np.ones(10), np.arange(10) % 2, np.arange(10) % 3 - 1])
    def test_labels(self, solve: Solver, build: Callable, labels: np.ndarray) -> None:
        X, _ = random_problem(10)
        with pytest.raises(InputError, match="y has"):
            solve(build(X), labels)

    def test_real_targets(self, solve: Solver, build: Callable) -> None:
        X, _ = random_problem(10)
        with pytest.raises(InputError, match=r"takes (labels )?-1 and \+1 only.* real targets"):
            solve(build(X), X[:, 0])

    def test_one_label_too_few(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(10)
        with pytest.raises(InputError, match="y has 9 labels, but the kernels are on 10 samples"):
            solve(build(X), y[1:])

    def test_numbers_of_the_outer_loop(self, solve: Solver, build: Callable) -> None:
        X, y = random_problem(10)
        parameters = inspect.signature(solve).parameters
        for name, bad in {"tol": 0.0, "max_iter": 0, "initial_step": -1, "strength": 0}.items():
            if name in parameters:
                with pytest.raises(InputError, match=f"{name}={bad} is not accepted"):
                    solve(build(X), y, **{name: bad})

    def test_a_bank_is_not_a_family_and_a_family_not_a_bank(
        self, solve: Solver, build: Callable
    ) -> None:
        X, y = random_problem(10)
        first = next(iter(inspect.signature(solve).parameters))
        other = {"bank": product_gaussians, "family": feature_gaussians}.get(first)
        if other is not None:
            with pytest.raises(InputError, match="choose"):
                solve(other(X), y)
