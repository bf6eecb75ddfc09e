"""What an algorithm returns: shapes, feasibility, the KKT conditions, predictions, the gap."""

from __future__ import annotations

import inspect
import math

import numpy as np

from mklbench import multiclass
from mklbench.kernels import Bank
from mklbench.solution import Solution
from mklbench.testing.case import BOX, Case, dense_outputs, problem
from mklbench.testing.claims import Array, agree, require


def form(case: Case) -> None:
    """It is a `Solution` with the shapes, the history and the counts of one."""
    X, y = problem()
    solution, n_kernels = case(X, y), case.build(X).n_kernels
    require(isinstance(solution, Solution), f"{case.name} must return a Solution.")
    _check_shapes(case, solution, n_kernels, len(y))
    calls = [entry.get("n_svm_calls", -1.0) for entry in solution.history]
    require(calls, f"{case.name} returns an empty history: add an entry for each iteration.")
    require(
        calls == sorted(calls) and calls[0] >= 0 and calls[-1] <= solution.n_svm_calls,
        f"the history of {case.name} has n_svm_calls={calls}: they must be there, never fall, and "
        f"end at most at those of the solution, {solution.n_svm_calls}.",
    )
    values = [entry.get("objective", math.nan) for entry in solution.history]
    require(
        np.isfinite(values).all(), f"the history of {case.name} lacks a finite objective: {values}."
    )
    require(
        solution.converged in (True, False),
        f"{case.name} returns converged={solution.converged!r}: it must be True or False.",
    )
    require(
        solution.n_iter >= 1 and solution.svm_seconds >= 0.0,
        f"{case.name} returns n_iter={solution.n_iter} and svm_seconds={solution.svm_seconds}: at "
        "least one iteration and no negative time are expected.",
    )


def _check_shapes(case: Case, solution: Solution, n_kernels: int, n: int) -> None:
    thetas = solution.thetas
    wanted = (n_kernels,) if thetas is None else (len(thetas),)
    require(
        solution.weights.shape == wanted,
        f"{case.name} returns weights of shape {solution.weights.shape}, and {wanted} is expected.",
    )
    require(
        (case.algorithm.signed or (solution.weights >= 0).all()) and solution.weights.any(),
        f"{case.name} returns weights that are negative or all 0: {solution.weights}.",
    )
    require(
        solution.dual_coef.shape == (n,),
        f"{case.name} returns dual_coef of shape {solution.dual_coef.shape}, and ({n},) is "
        "expected.",
    )
    require(
        solution.gap >= -1e-12, f"{case.name} returns gap={solution.gap}: a gap is never negative."
    )


def dual_feasibility(case: Case) -> None:
    """The coefficients of an SVM are in their box, and their sum is 0."""
    if not case.is_svm:
        return
    X, y = problem()
    solution = case(X, y)
    alpha = y * solution.dual_coef
    require(
        (alpha >= -1e-12 * BOX).all() and (alpha <= BOX * (1 + 1e-12)).all(),
        f"{case.name} returns y * dual_coef from {alpha.min():.3g} to {alpha.max():.3g}, outside "
        f"of the box from 0 to C={BOX}.",
    )
    total = float(solution.dual_coef.sum())
    require(
        abs(total) <= 1e-9 * BOX * len(y),
        f"{case.name} returns dual_coef with the sum {total:.3g}: that of an SVM is 0.",
    )
    if "class_weight" in case.algorithm.options:
        _class_weights(case, X, y)


def _class_weights(case: Case, X: Array, y: Array) -> None:
    size = np.abs(case(X, y, class_weight={1: 0.1}).dual_coef)
    require(
        size[y > 0].max() <= 0.1 * BOX * (1 + 1e-12) < size[y < 0].max(),
        f"{case.name} with class_weight={{1: 0.1}} returns coefficients of up to "
        f"{size[y > 0].max():.3g} for the class +1 and {size[y < 0].max():.3g} for -1: C times the "
        "factor of the class bounds them.",
    )


def machine_fits_its_kernel(case: Case) -> None:
    """The KKT conditions of the SVM hold at the kernel of the returned weights."""
    if not case.is_svm:
        return
    X, y = problem()
    operator, solution = case.build(X), case(X, y, **case.precise(1e-6))
    for machine in solution.members or (solution,):
        margins = y * (dense_outputs(operator, machine) + machine.intercept)
        alpha = y * machine.dual_coef
        low, high = alpha <= 1e-9, alpha >= BOX * (1 - 1e-9)
        violation = np.where(low, 1.0 - margins, np.where(high, margins - 1.0, abs(margins - 1.0)))
        require(
            violation.max() <= 1e-3,
            f"{case.name} returns coefficients that are not the SVM's at the kernel of its weights:"
            f" the KKT conditions are violated by {violation.max():.2g}, and 1e-3 is accepted.",
        )


def prediction(case: Case) -> None:
    """The decision function is that of the coefficients, by dense Gram matrices."""
    X, y = problem()
    _check_prediction(case, X, y)
    if case.is_regression:
        _check_prediction(case, X, X[:, 0] + np.sin(X[:, 1]))


def _check_prediction(case: Case, X: Array, y: Array) -> None:
    operator, solution = case.build(X), case(X, y)
    machines = solution.members or (solution,)
    values = np.array([dense_outputs(operator, m) + m.intercept for m in machines])
    dense = multiclass.vote(values) if solution.vote else values.mean(axis=0)
    at_training = multiclass.decision_function(operator, [solution], X)
    agree(
        f"the decision function of {case.name}", at_training, dense,
        1e-7 * max(1.0, float(np.abs(dense).max())), "sum_i dual_coef_i K(x_i, .) + intercept",
    )  # fmt: skip


def gap(case: Case) -> None:
    """The gap bounds how far the objective is above the optimum, by dense Gram matrices."""
    X, y = problem()
    operator = case.build(X)
    bounds = case.bounds or (_simplex_bounds if case.algorithm.exact else None)
    if bounds is None or not isinstance(operator, Bank):
        return
    grams = np.array([operator.combine(unit) for unit in np.eye(operator.n_kernels)])
    solution = case(X, y)
    lower, upper = bounds(grams, y, BOX, solution)
    objective = solution.objective
    rounding = 1e-7 * abs(objective)
    require(
        lower <= objective + rounding and objective <= upper + rounding,
        f"{case.name} returns objective={objective:.8g}, outside of its bounds {lower:.8g} and "
        f"{upper:.8g} by the dense Gram matrices.",
    )
    share = (objective - lower) / abs(objective)
    require(
        share <= solution.gap + 1e-7,
        f"{case.name} returns gap={solution.gap:.3g}, but its objective may be {share:.3g} above "
        "the optimum by the dense Gram matrices.",
    )
    tol = inspect.signature(case.solve).parameters.get("tol")
    if solution.converged and tol is not None and isinstance(tol.default, float):
        require(
            solution.gap <= tol.default,
            f"{case.name} says that it has converged, and its gap {solution.gap:.3g} is above "
            f"tol={tol.default}.",
        )


def _simplex_bounds(grams: Array, y: Array, C: float, solution: Solution) -> tuple[float, float]:
    """Return the bounds of weights on the simplex with the hinge loss, at a solution."""
    a = solution.dual_coef
    forms = np.einsum("i,mij,j->m", a, grams, a)
    K = np.tensordot(solution.weights, grams, axes=1)
    slacks = np.maximum(0.0, 1.0 - y * (K @ a + solution.intercept))
    require(
        abs(solution.weights.sum() - 1.0) <= 1e-9,
        f"weights on the simplex have the sum 1, and these {solution.weights.sum()}.",
    )
    return float(np.abs(a).sum() - 0.5 * forms.max()), float(0.5 * a @ K @ a + C * slacks.sum())
