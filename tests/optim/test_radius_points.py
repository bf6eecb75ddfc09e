"""Mixtures of dual points and balls: what they prove holds, and is no less than each alone."""

from __future__ import annotations

import numpy as np
import pytest
from problems import categories, random_stack

from mklbench.algorithms import radius_margin
from mklbench.kernels import PrecomputedBank
from mklbench.optim.problem import Problem
from mklbench.optim.radius import PointAndBall, Radius, together
from mklbench.optim.svm_value import Objective
from mklbench.penalties.simple import Budget

C = 10.0


@pytest.mark.parametrize("problem", [random_stack, lambda n: categories(3, n)])
def test_mixtures_prove_what_holds(problem: object) -> None:
    stack, y = problem(n=30)  # type: ignore[operator]
    bank = PrecomputedBank(stack)
    ball, objective = Radius(bank), Objective(bank, Problem.of(y, C, svm_tol=1e-6))
    pairs, alone = [], []
    rng = np.random.default_rng(0)
    for _ in range(40):
        inside = ball.scaled(rng.exponential(size=len(stack)) * ball.units)
        point = objective(inside.weights, inside.K)
        alone.append(objective.bounds(point, Budget(inside.radii)).lower)
        a = point.trained.dual_coef
        pairs.append(
            PointAndBall(a, np.abs(a).sum(), 0.5 * point.forms, inside.shares, inside.radii)
        )
    found = together(pairs, ball.units)
    assert found is not None
    mixture, shares, weights = found
    assert mixture @ np.ones(30) == pytest.approx(0.0, abs=1e-6)
    assert np.abs(mixture).max() <= C * (1 + 1e-9)
    proved = []
    for beta in shares:
        assert beta.min() >= 0
        assert beta.sum() == pytest.approx(1.0)
        penalty = Budget(ball.radii(beta))
        proved.append(objective.bounds_by(point, mixture, penalty).lower)
    least = radius_margin.solve(bank, y, C, tol=1e-4).objective
    assert max(alone) < max(proved) <= least * (1 + 1e-4)
    # Where the bounds are lowest, no ball has a radius of more than 1 by what has been seen.
    v = weights * ball.units
    assert v @ ball.radii(np.full(30, 1 / 30)) <= 1 + 1e-6
    assert v.min() >= -1e-12


def test_one_pair_is_a_mixture_of_one() -> None:
    stack, y = random_stack(n=20)
    ball = Radius(PrecomputedBank(stack))
    a, beta = y / np.sum(y > 0), np.full(20, 1 / 20)
    forms = np.einsum("i,mij,j->m", a, stack, a)
    found = together([PointAndBall(a, 1.0, forms, beta, ball.radii(beta))], ball.units)
    assert found is not None
    assert np.array_equal(found[0], a)
    np.testing.assert_allclose(found[1][0], beta, atol=1e-12)
