"""Bounds bracket the optimum whatever the numbers they are given, and close at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import conic_twins
import numpy as np
import pytest
from certificates import bank_bounds
from conic_twins import ConicSolution
from numpy.testing import assert_allclose
from problems import random_stack

from mklbench import certify
from mklbench.certify import Bounds, Hinge, PrimalDualPoint
from mklbench.kernels import PrecomputedBank
from mklbench.kernels.groups import Groups
from mklbench.penalties.base import Penalty
from mklbench.penalties.mixed_norm import MixedNorm
from mklbench.penalties.simple import L1, L2, Simplex
from mklbench.solution import KernelMachine

STRENGTH = 0.3
GROUPS = [[1, 4], [0], [3, 2]]


# Problem: its penalty, and how to solve it.
PROBLEMS: dict[str, tuple[Penalty, Callable[..., ConicSolution]]] = {
    "simplex": (Simplex(), conic_twins.mkl),
    "l1": (L1(STRENGTH), partial(conic_twins.gmkl_l1, strength=STRENGTH)),
    "l2": (L2(STRENGTH), partial(conic_twins.gmkl_l2, strength=STRENGTH)),
    **{
        f"mixed norm, q = {q}": (
            MixedNorm(Groups(GROUPS, 5), q),
            partial(conic_twins.mixed_norm, groups=GROUPS, q=q),
        )
        for q in (0.5, 0.75, 1, 2, 3, np.inf)
    },
}

BOXES: dict[str, float | np.ndarray] = {
    "C=0.2": 0.2,
    "C=5": 5.0,
    "by sample": np.linspace(0.1, 3.0, 30),
}


@cache
def problem() -> tuple[PrecomputedBank, np.ndarray, np.ndarray]:
    stack, y = random_stack(n=30, n_kernels=5)
    return PrecomputedBank(stack), stack, y


@cache
def optimum(name: str, box: str) -> ConicSolution:
    _, stack, y = problem()
    return PROBLEMS[name][1](stack, y, BOXES[box])


def feasible_dual_coef(
    rng: np.random.Generator, y: np.ndarray, box: float | np.ndarray
) -> np.ndarray:
    """Return a random alpha o y with 0 <= alpha <= box and y'alpha = 0, some entries zero."""
    alpha = rng.uniform(size=len(y)) ** rng.uniform(0.2, 4.0) * box
    alpha *= rng.uniform(size=len(y)) < rng.uniform(0.2, 1.0)
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    smaller = min(positive, negative)
    if smaller == 0:
        return np.zeros(len(y))
    alpha[y > 0] *= smaller / positive
    alpha[y < 0] *= smaller / negative
    return alpha * y * rng.choice([1.0, 0.1, 0.01])


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("name", PROBLEMS)
class TestConvexProblems:
    def test_bounds_bracket_the_optimum_at_random_numbers(self, name: str, box: str) -> None:
        penalty, _ = PROBLEMS[name]
        bank, _, y = problem()
        value = optimum(name, box).value
        rng = np.random.default_rng(0)
        for _ in range(60):
            weights = rng.exponential(size=bank.n_kernels) * (rng.uniform(size=5) < 0.7)
            weights[0] += 1e-3
            if name == "simplex":
                weights /= weights.sum()
            dual_coef = feasible_dual_coef(rng, y, BOXES[box])
            machine = KernelMachine(weights, dual_coef, rng.normal(scale=2.0))
            bounds = bank_bounds(bank, y, machine, BOXES[box], penalty)
            assert bounds.lower <= value * (1 + 1e-7)
            assert bounds.upper >= value * (1 - 1e-7)
            assert bounds.relative_gap >= -1e-12
            # The upper bound needs no feasible coefficients.
            other = replace(machine, dual_coef=rng.normal(size=len(y)) * rng.choice([0.01, 1.0]))
            bounds = bank_bounds(bank, y, other, BOXES[box], penalty)
            assert bounds.upper >= value * (1 - 1e-7)

    def test_the_gap_closes_at_the_optimum(self, name: str, box: str) -> None:
        penalty, _ = PROBLEMS[name]
        bank, _, y = problem()
        best = optimum(name, box)
        inside = y * np.clip(y * best.dual_coef, 0.0, BOXES[box])
        machine = KernelMachine(best.weights, inside, best.intercept)
        bounds = bank_bounds(bank, y, machine, BOXES[box], penalty)
        assert abs(bounds.relative_gap) < 1e-4
        assert_allclose([bounds.lower, bounds.upper], best.value, rtol=1e-4)


def upper_bound(margins: list[float], box: float | list[float]) -> float:
    """Return that of a function with ||f||^2 = 8 and these margins, for labels 1."""
    outputs = np.array(margins)
    point = PrimalDualPoint(
        Hinge(np.ones(len(margins)), box), np.array([2.0]), np.array([4.0]), outputs, outputs
    )
    return certify.bounds(point, Simplex()).upper


def test_a_function_that_separates_is_rescaled() -> None:
    margins = [0.5, 2.0]
    assert upper_bound(margins, 1e9) == pytest.approx(4.0 / 0.5**2)
    assert upper_bound(margins, 1e-3) == pytest.approx(4.0 + 0.5e-3)


def test_relative_gap_of_a_problem_whose_value_is_zero() -> None:
    assert Bounds(0.0, 0.0).relative_gap == 0.0
    assert Bounds(4.0, 3.0).relative_gap == pytest.approx(0.25)
