"""The radius as a function of the weights: its gradient, and searches that end."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import differences, random_stack

from mklbench.algorithms import radius_margin
from mklbench.kernels import PrecomputedBank
from mklbench.optim.problem import Problem
from mklbench.optim.radius import Radius
from mklbench.optim.svm_value import Objective

Array = np.ndarray


def test_the_gradient_is_that_of_differences() -> None:
    """Of R^2 itself, and of a function of v = d / R^2(d)."""
    stack, _ = random_stack(n=30)
    ball, M = Radius(PrecomputedBank(stack)), len(stack)
    d, c = np.linspace(0.5, 2.0, M), np.linspace(-1.0, 3.0, M)
    at = ball.scaled(d)
    squared = differences(lambda at: ball.scaled(at).squared_radius, d, 1e-5)
    linear = differences(lambda at: c @ ball.scaled(at).weights, d, 1e-5)
    assert_allclose(at.radii, squared, rtol=1e-4, atol=1e-6)
    assert_allclose(at.gradient(c), linear, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("first", [0, 3])
def test_a_search_ends_where_rounding_makes_a_value_negative(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does of margins by kernels that are nearly constant; a warning would fail the test."""
    stack, y = random_stack(n=20)
    bank = PrecomputedBank(stack[:2])
    search = radius_margin._RadiusMarginSearch(bank, Objective(bank, Problem.of(y, 1.0)), 1e-9)
    visit = search._visit
    seen: list[float] = []

    def rounded(u: Array) -> tuple[float, Array]:
        value, gradient = visit(u)
        seen.append(value if len(seen) < first else -1e-9)
        return seen[-1], gradient

    monkeypatch.setattr(search, "_visit", rounded)
    monkeypatch.setattr(search, "_close_together", lambda max_iter: None)
    search.run(1, 200)
    assert len(seen) < 25
    assert min(seen) < 0
