"""The gap of every convex algorithm, computed again from what it returns, on dense Gram matrices.

Nothing here uses `mklbench.certify`: primal and dual values are written out as in the papers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import conic_twins
import numpy as np
import pytest
from alignment_problems import dense_alignment
from problems import random_stack

from mklbench.kernels import PrecomputedBank
from mklbench.solution import Solution

Array = np.ndarray

GROUPS = [[0, 3, 1], [4, 2]]
EPSILON = 0.2


@dataclass(frozen=True)
class Numbers:
    """A solution on a stack (M, n, n), and what its bounds are made of."""

    stack: Array
    y: Array
    C: float
    solution: Solution

    @property
    def norms(self) -> Array:
        """||f_m|| (M,) of the functions f_m = weights_m K_m a."""
        return self.solution.weights * np.sqrt(self.forms)

    @property
    def forms(self) -> Array:
        a = self.solution.dual_coef
        return np.array([a @ K @ a for K in self.stack])

    @property
    def outputs(self) -> Array:
        a = self.solution.dual_coef
        return sum(w * (K @ a) for w, K in zip(self.solution.weights, self.stack, strict=True))

    @property
    def total(self) -> float:
        return float(np.abs(self.solution.dual_coef).sum())

    @property
    def J(self) -> float:
        """The SVM's dual value at the weights."""
        return self.total - 0.5 * float(self.solution.weights @ self.forms)

    def primal(self, squared_norm: float) -> float:
        """1/2 the squared norm plus the hinge loss, of f or of f over its smallest margin."""
        margins = self.y * (self.outputs + self.solution.intercept)
        value = 0.5 * squared_norm + self.C * sum(max(0.0, 1.0 - margin) for margin in margins)
        return min(value, 0.5 * squared_norm / min(margins) ** 2) if min(margins) > 0 else value


# Each returns the primal value, the dual value and the objective of a solution.
Values = tuple[float, float, float]


def one_svm(at: Numbers) -> Values:
    return at.primal(float(at.solution.weights @ at.forms)), at.J, at.J


def simplex(at: Numbers) -> Values:
    assert at.solution.weights.sum() == pytest.approx(1.0, abs=1e-12)
    squared_norm = float(at.solution.weights @ at.forms)
    return at.primal(squared_norm), at.total - 0.5 * float(at.forms.max()), at.J


def mixed_norm(at: Numbers, q: float, groups: list[list[int]]) -> Values:
    within = np.array([at.norms[group].sum() for group in groups])
    largest = np.array([np.sqrt(at.forms[group]).max() for group in groups])
    primal = at.primal(float(np.linalg.norm(within, 2 * q)) ** 2)
    return primal, at.total - 0.5 * float(np.linalg.norm(largest, conjugate(q))) ** 2, at.J


def conjugate(q: float) -> float:
    """The exponent of the norm that is dual to that of the exponent 2 q."""
    if q == np.inf:
        return 1.0
    return 2 * q / (2 * q - 1) if q > 0.5 else np.inf


def vskl(at: Numbers, q: float, groups: list[list[int]]) -> Values:
    """As `mixed_norm`, the objective with the gamma that suits alpha best (Proposition 3.3)."""
    primal, dual, _ = mixed_norm(at, q, groups)
    weights = at.solution.weights
    D = [weights[group] @ at.forms[group] / weights[group].sum() for group in groups]
    return primal, dual, at.total - 0.5 * float(np.linalg.norm(np.sqrt(D), conjugate(q))) ** 2


def l1(at: Numbers, strength: float = 1.0) -> Values:
    weights, shrink = at.solution.weights, min(1.0, np.sqrt(2 * strength / at.forms.max()))
    penalty = strength * weights.sum()
    return at.primal(float(weights @ at.forms)) + penalty, shrink * at.total, at.J + penalty


def l2(at: Numbers, strength: float = 5.0) -> Values:
    weights = at.solution.weights
    penalty = strength * float(((weights - 1.0) ** 2).sum())
    # The least of strength (d - 1)^2 - d q / 2 over d.
    least = -float(at.forms.sum()) / 2 - float((at.forms**2).sum()) / (16 * strength)
    return at.primal(float(weights @ at.forms)) + penalty, at.total + least, at.J + penalty


def one_logistic(at: Numbers) -> Values:
    a, norm = at.solution.dual_coef, float(at.solution.weights @ at.forms)
    margins = at.y * (at.outputs + at.solution.intercept)
    share = np.abs(a) / at.C
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share)).sum()
    dual = float(at.C * entropy - 0.5 * norm)
    return 0.5 * norm + at.C * float(np.log1p(np.exp(-margins)).sum()), dual, dual


def one_svr(at: Numbers) -> Values:
    a, norm = at.solution.dual_coef, float(at.solution.weights @ at.forms)
    loss = np.maximum(0.0, np.abs(at.y - at.outputs - at.solution.intercept) - EPSILON).sum()
    dual = float(a @ at.y - EPSILON * np.abs(a).sum() - 0.5 * norm)
    return 0.5 * norm + at.C * float(loss), dual, dual


def ridge(at: Numbers) -> Values:
    a, lam = at.solution.dual_coef, at.C
    norm, residuals = float(at.solution.weights @ at.forms), at.y - at.outputs
    dual = float(2 * a @ at.y - norm - lam * a @ a)
    return norm + float(residuals @ residuals) / lam, dual, dual


def ridge_in_a_ball(at: Numbers, norm: int) -> Values:
    """Weights >= 0 with ||mu - 1|| <= 1: the dual takes the mu that suits its alpha best."""
    a, lam = at.solution.dual_coef, at.C
    steepest = at.forms.max() if norm == 1 else np.linalg.norm(at.forms)
    dual = 2 * a @ at.y - lam * a @ a - at.forms.sum() - steepest
    return ridge(at)[0], float(dual), float(a @ at.y)


def alignment(at: Numbers) -> float:
    """The centred alignment of the combination with the labels."""
    return dense_alignment(np.tensordot(at.solution.weights, at.stack, 1), at.y)


@dataclass(frozen=True)
class Case:
    """A convex problem: options of an algorithm, and the values of its primal and dual there."""

    algorithm: str
    values: Callable[[Numbers], Values]
    options: dict[str, Any] = field(default_factory=dict)
    groups: list[list[int]] | None = None

    def solve(self, C: float) -> Numbers:
        stack, y = random_stack(n=40)
        bank = PrecomputedBank(stack, self.groups)
        name = "lam" if self.algorithm in ("krr", "nkrr") else "C"
        solve = importlib.import_module(f"mklbench.algorithms.{self.algorithm}").solve
        if self.algorithm == "early_fusion":
            bank, stack = PrecomputedBank(stack[:1]), stack[:1]
        return Numbers(stack, y, C, solve(bank, y, **{name: C}, **self.options))


CASES = {
    "svm": Case("svm", one_svm, {"weights": [1.0, 0.0, 2.0, 0.5, 0.1]}),
    "uniform": Case("uniform", one_svm),
    "early_fusion": Case("early_fusion", one_svm),
    "best_kernel": Case("best_kernel", one_svm),
    "logistic_regression": Case("logistic_regression", one_logistic),
    "svr": Case("svr", one_svr, {"epsilon": EPSILON}),
    "krr": Case("krr", ridge, {"weights": 0.5}),
    "nkrr l1": Case("nkrr", partial(ridge_in_a_ball, norm=1), {"degree": 1, "norm": 1}),
    "nkrr l2": Case("nkrr", partial(ridge_in_a_ball, norm=2), {"degree": 1, "norm": 2}),
    "mkl": Case("mkl", simplex),
    "simplemkl": Case("simplemkl", simplex),
    "hessianmkl": Case("hessianmkl", simplex),
    "ikl": Case("ikl", simplex),
    "gmkl l1": Case("gmkl", l1),
    "gmkl l2": Case("gmkl", l2, {"regulariser": "l2"}),
    "vskl one group": Case("vskl", partial(vskl, q=2, groups=[[0, 1, 2, 3, 4]])),
    **{
        f"vskl q={q}": Case("vskl", partial(vskl, q=q, groups=GROUPS), {"q": q}, GROUPS)
        for q in (1, 1.5, 2, np.inf)
    },
    "vskl_qcqp": Case("vskl_qcqp", partial(vskl, q=np.inf, groups=GROUPS), groups=GROUPS),
    **{
        f"ckl q={q}": Case("ckl", partial(mixed_norm, q=q, groups=GROUPS), {"q": q}, GROUPS)
        for q in (0.5, 0.75, 0.9)
    },
    "l_p": Case(
        "ckl",
        partial(mixed_norm, q=0.9, groups=[[m] for m in range(5)]),
        {"q": 0.9, "groups": "singletons", "tol": 1e-3},
    ),
    "cut short": Case(
        "vskl", partial(vskl, q=2, groups=GROUPS), {"max_iter": 2, "tol": 1e-6}, GROUPS
    ),
    "a rule without a gap": Case("simplemkl", simplex, {"tol": 1e-9, "objective_tol": 1e-2}),
}


@pytest.mark.parametrize("C", [0.5, 10.0, 1e4])
class TestGap:
    @pytest.mark.parametrize("name", CASES)
    def test_is_that_of_the_numbers_returned(self, name: str, C: float) -> None:
        at = CASES[name].solve(C)
        primal, dual, objective = CASES[name].values(at)
        upper = max(primal, at.solution.objective)
        assert at.solution.objective == pytest.approx(objective, rel=1e-9)
        assert at.solution.gap == pytest.approx((upper - dual) / upper, rel=1e-6, abs=1e-9)
        assert at.solution.gap > -1e-9

    def test_of_two_stages_is_the_larger_one(self, C: float) -> None:
        for name in ("align", "alignf"):
            at = Case(name, one_svm).solve(C)
            primal, dual, _ = one_svm(at)
            assert at.solution.objective == pytest.approx(alignment(at), rel=1e-9)
            second_stage = (primal - dual) / primal
            if name == "align":  # its weights are a formula
                assert at.solution.gap == pytest.approx(second_stage, rel=1e-6, abs=1e-9)
            else:
                assert at.solution.gap >= second_stage - 1e-9

    def test_of_several_machines_is_the_largest(self, C: float) -> None:
        at = Case("late_fusion", one_svm).solve(C)
        assert at.solution.members is not None
        gaps = []
        for member in at.solution.members:
            primal, dual, _ = one_svm(Numbers(at.stack, at.y, C, member))
            gaps.append((primal - dual) / primal)
        assert at.solution.gap == pytest.approx(max(gaps), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("name", ["ckl q=0.75", "ckl q=0.9", "l_p", "vskl q=1.5", "vskl q=inf"])
def test_bounds_the_objective_above_the_optimum(name: str, C: float, tol: float) -> None:
    """The mixed norms have a primal value that may be below the SVM's at the weights."""
    case = CASES[name]
    at = Case(case.algorithm, case.values, {**case.options, "tol": tol}, case.groups).solve(C)
    groups = [[m] for m in range(5)] if name == "l_p" else GROUPS
    optimum = conic_twins.mixed_norm(at.stack, at.y, C, groups, case.options["q"]).value
    assert (at.solution.objective - optimum) / at.solution.objective <= at.solution.gap + 1e-8
