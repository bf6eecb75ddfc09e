"""What holds for every algorithm, whatever it solves: what it declares, returns and ignores.

Each check is a function of a `_Case`, an algorithm with one kind of kernels.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklbench import multiclass
from mklbench.contract import Algorithm, Solver, algorithm_of, check_options, named
from mklbench.kernels import (
    Bank,
    Family,
    KernelBuilder,
    KernelOperator,
    feature_gaussians,
    product_gaussians,
)
from mklbench.kernels.families import training_outputs
from mklbench.solution import Solution
from mklbench.testing.operators import Array, agree, refuses, require

# C of the problems here: some coefficients are at it.
_BOX = 2.0


def _problem(n: int = 40) -> tuple[Array, Array]:
    """Return features (n, 4) and noisy labels that depend on two of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    score = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 - 0.8 + 0.4 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


@dataclass(frozen=True)
class _Case:
    """An algorithm with one kind of kernels.

    Attributes
    ----------
    solve : Solver
        With its options bound.
    algorithm : Algorithm
        What it declares.
    build : KernelBuilder
        Of the kernels.
    """

    solve: Solver
    algorithm: Algorithm
    build: KernelBuilder

    @property
    def name(self) -> str:
        return named(self.algorithm.solve)

    def __call__(self, X: Array, y: Array, **options: Any) -> Solution:
        """Solve on new kernels, C being that of the problems unless it is among the options."""
        if "C" in self.algorithm.options:
            options = {"C": _BOX, **options}
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
        declared = self.algorithm
        return declared.is_svm and "C" in declared.options and not self.is_regression


def _dense_outputs(operator: KernelOperator, machine: Solution) -> Array:
    """Return K a (n,) of one machine on the training samples, from its dense Gram matrix."""
    if machine.model is not None:
        assert isinstance(operator, Family)
        return machine.model(operator.samples)
    if machine.thetas is not None:
        assert isinstance(operator, Family)
        return training_outputs(operator, machine.weights, machine.thetas, machine.dual_coef)
    return operator.gram(machine.weights) ** machine.degree @ machine.dual_coef


def check_algorithm(
    solve: Solver | str,
    *,
    kernels: KernelBuilder | None = None,
    config_dir: Path | str | None = None,
) -> None:
    """Check what holds for every algorithm (`mklbench.contract`).

    The problems have 40 samples of 4 features and labels -1 and +1; with ``REGRESSION = True``
    there is one with real targets as well.

    Parameters
    ----------
    solve : callable or str
        ``solve`` of a module, options bound or not, or the name of its config ``algo/NAME.yaml``,
        which binds the options and chooses the kernels.
    kernels : callable, optional
        Builder of the kernels, from features to a bank or a family. If not given, Gaussians on
        single features, products of Gaussians in a box, or both, as the annotation of the first
        parameter of `solve` says.
    config_dir : Path, str or None, default=None
        The directory of your own configs, where `solve` is a name.

    Raises
    ------
    AssertionError
        In one sentence, for the first thing that does not hold.
    """
    if isinstance(solve, str):
        from mklbench import config as configs

        config = configs.run_config(configs.compose([f"algo={solve}"], config_dir))
        solve, kernels = configs.algorithm(config.algo), kernels or configs.kernel(config.kernel)
    for build in [kernels] if kernels else _builders(algorithm_of(solve)):
        case = _Case(solve, algorithm_of(solve), build)
        for check in _CHECKS:
            check(case)


def _builders(algorithm: Algorithm) -> list[KernelBuilder]:
    """Return builders of the kernels that an algorithm says it takes."""
    family: KernelBuilder = partial(product_gaussians, gamma_max=30.0)
    by_kind: dict[type, list[KernelBuilder]] = {Bank: [feature_gaussians], Family: [family]}
    return by_kind.get(algorithm.takes, [feature_gaussians, family])


# Values of common options that nothing can be done with.
_WRONG: Mapping[str, tuple[Any, ...]] = {
    "C": (0.0, math.nan),
    "tol": (0.0, math.nan),
    "svm_tol": (0.0, math.nan),
    "max_iter": (0,),
    "class_weight": ({0: 2.0},),
}
# No number, choice or list that an option might be.
_NONSENSE = "nonsense"


def _signature(case: _Case) -> None:
    """All options have defaults, all but the first are keywords, and the docstring names each."""
    parameters = list(inspect.signature(case.algorithm.solve).parameters.values())
    require(
        parameters[1].name == "y",
        f"{case.name} calls its second parameter {parameters[1].name}: the labels are called y.",
    )
    for number, parameter in enumerate(parameters[2:]):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        has_default = parameter.default is not parameter.empty
        require(
            has_default and (number == 0 or parameter.kind is parameter.KEYWORD_ONLY),
            f"{case.name} takes its option {parameter.name} without a default, or by position: "
            "give it a default, and put * before all options but the first.",
        )
    document = inspect.getdoc(case.algorithm.solve) or ""
    for parameter in parameters:
        require(
            parameter.name in document or "those of `" in document,
            f"the docstring of {case.name} does not explain {parameter.name}.",
        )


def _refusals(case: _Case) -> None:
    """Options, labels and kernels of which nothing can be made are refused in a sentence."""
    X, y = _problem(10)
    operator = case.build(X)
    # Of a second stage's machines each has options that the others do not look at.
    unseen = {"lam", "epsilon"} if "learner" in case.algorithm.options else set[str]()
    for name in sorted({*case.algorithm.options} - unseen):
        for value in (*_WRONG.get(name, ()), _NONSENSE):
            asked = partial(case.solve, **{name: value})
            what = f"{case.name} with {name}={value!r}"
            refuses(what, partial(asked, operator, y), names=name)
            if case.algorithm.options_first and name != "start":
                refuses(f"{what}, before it is given kernels,", partial(check_options, asked), name)
    labels: dict[str, Any] = {"one label too few": y[1:]}
    if not case.is_regression:
        labels |= {"one class": np.ones(10), "labels 0 and 1": np.arange(10) % 2}
    for what, wrong in labels.items():
        refuses(f"{case.name} with {what}", partial(case.solve, operator, wrong), names="y ")
    others: dict[type, KernelBuilder] = {Bank: product_gaussians, Family: feature_gaussians}
    if case.algorithm.takes in others:
        other = others[case.algorithm.takes](X)
        what = f"{case.name}, which takes a {case.algorithm.takes.__name__}, with another operator"
        refuses(what, partial(case.solve, other, y), names=type(other).__name__)


def _form(case: _Case) -> None:
    """The solution has the shapes, and the history the entries, that others rely on."""
    X, y = _problem()
    try:
        solution = multiclass.checked(case(X, y), case.solve, case.build(X))
    except (TypeError, ValueError) as error:
        raise AssertionError(str(error)) from error
    calls = [entry.get("n_svm_calls", -1.0) for entry in solution.history]
    values = [entry.get("objective", math.nan) for entry in solution.history]
    sound = {
        f"weights that are negative or all 0: {solution.weights}": solution.weights.any()
        and (case.algorithm.signed or (solution.weights >= 0).all()),
        f"gap={solution.gap}, which is never negative": solution.gap >= -1e-12,
        f"n_svm_calls={calls}: there must be one an iteration, never falling": calls
        and calls[0] >= 0
        and calls == sorted(calls)
        and calls[-1] <= solution.n_svm_calls,
        f"a history without a finite objective: {values}": np.isfinite(values).all(),
        f"converged={solution.converged!r}, not True or False": solution.converged in (True, False),
        f"n_iter={solution.n_iter}, less than 1": solution.n_iter >= 1,
    }
    for what, holds in sound.items():
        require(holds, f"{case.name} returns {what}.")


def _machine(case: _Case) -> None:
    """The coefficients are feasible for the SVM, and its optimum at the kernel of the weights."""
    if not case.is_svm:
        return
    X, y = _problem()
    operator, solution = case.build(X), case(X, y, **case.precise(1e-6))
    for machine in solution.members or (solution,):
        margins = y * (_dense_outputs(operator, machine) + machine.intercept)
        alpha = y * machine.dual_coef
        low, high = alpha <= 1e-9, alpha >= _BOX * (1 - 1e-9)
        violation = np.where(low, 1.0 - margins, np.where(high, margins - 1.0, abs(margins - 1.0)))
        infeasible = max(-alpha.min(), alpha.max() - _BOX, abs(machine.dual_coef.sum()) / len(y))
        require(
            violation.max() <= 1e-3 and infeasible <= 1e-9 * _BOX,
            f"{case.name} returns coefficients that are not the SVM's at the kernel of its weights:"
            f" the KKT conditions are violated by {violation.max():.2g}, and 1e-3 is accepted, or "
            f"the constraints 0 <= y * dual_coef <= C={_BOX} and sum 0 by {infeasible:.2g}.",
        )


def _prediction(case: _Case) -> None:
    """Decision values are those of the dense kernel at the weights."""
    X, y = _problem()
    for responses in [y, X[:, 0] + np.sin(X[:, 1])] if case.is_regression else [y]:
        operator, solution = case.build(X), case(X, responses)
        dense = multiclass.decision_values([solution], partial(_dense_outputs, operator))
        agree(
            f"the decision function of {case.name}",
            multiclass.decision_function(operator, [solution], X), dense,
            1e-7 * max(1.0, float(np.abs(dense).max())), "sum_i dual_coef_i K(x_i, .) + intercept",
        )  # fmt: skip


def _determinism(case: _Case) -> None:
    """The same samples give the same solution, and are left as they are."""
    X, y = _problem()
    X_before, y_before = X.copy(), y.copy()
    first, second = case(X, y), case(X, y)
    for name in ("weights", "dual_coef"):
        require(
            np.array_equal(getattr(first, name), getattr(second, name)),
            f"{case.name} returns other {name} when it is called again: fix its random numbers.",
        )
    require(
        np.array_equal(X, X_before) and np.array_equal(y, y_before),
        f"{case.name} changes the samples or the labels that it is given.",
    )


def _symmetry(case: _Case) -> None:
    """Samples in another order, with the signs of y turned, give the same machine."""
    X, y = _problem()
    order = np.arange(len(y))
    # Else the order decides which samples are held out together.
    if case.algorithm.default("folds") is None:
        order = np.random.default_rng(0).permutation(len(y))
    there = case(X, y, **case.precise())
    now = case(X[order], -y[order], **case.precise())
    how = f"{case.name} for the samples in another order and with the signs of y turned"
    atol = 2e-3 * abs(there.objective)
    agree(f"the objective of {how}", now.objective, there.objective, atol, "what it was")
    if now.thetas is None:  # a search in a family may end at other kernels as good
        atol = 0.02 * float(np.abs(there.dual_coef).max())
        agree(f"dual_coef of {how}", now.dual_coef, -there.dual_coef[order], atol, "what it was")


def _gap(case: _Case) -> None:
    """The objective is the SVM's at weights on the simplex, and no further from the optimum.

    The bounds of an exact MKL solver are computed from the dense Gram matrices.
    """
    X, y = _problem()
    operator = case.build(X)
    if not case.algorithm.exact or not isinstance(operator, Bank):
        return
    solution = case(X, y)
    a, objective = solution.dual_coef, solution.objective
    forms = np.array([a @ operator.combine(unit) @ a for unit in np.eye(operator.n_kernels)])
    K = operator.combine(solution.weights)
    slacks = np.maximum(0.0, 1.0 - y * (K @ a + solution.intercept))
    lower, upper = np.abs(a).sum() - 0.5 * forms.max(), 0.5 * a @ K @ a + _BOX * slacks.sum()
    share = (objective - lower) / abs(objective)
    require(
        -1e-7 <= share <= solution.gap + 1e-7 and objective <= upper + 1e-7 * abs(objective),
        f"{case.name} returns objective={objective:.8g} with gap={solution.gap:.3g}, but the dense "
        f"Gram matrices say that the optimum is from {lower:.8g} to {upper:.8g}.",
    )
    tol = inspect.signature(case.solve).parameters["tol"].default
    require(
        not solution.converged or solution.gap <= tol,
        f"{case.name} has converged with gap={solution.gap:.3g}, which is above tol={tol}.",
    )


_CHECKS = (
    _signature, _form, _machine, _prediction, _determinism, _symmetry, _gap, _refusals,
)  # fmt: skip
