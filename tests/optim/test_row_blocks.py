"""Blocks of rows: those that are kept are made once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mklbench.certify import Hinge
from mklbench.kernels import feature_gaussians
from mklbench.optim import row_blocks
from mklbench.optim.linearised import terms_of
from mklbench.optim.row_blocks import FactorProblem, Rows


@pytest.fixture
def problem() -> FactorProblem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(300) > 0, 1.0, -1.0)
    exact = feature_gaussians(X).row_factors()
    return FactorProblem(exact.reduced(1e-5), exact, terms_of(Hinge(y, 10.0)), np.float32)


def questions(rank: int) -> list[tuple[str, tuple[Any, ...]]]:
    """An iteration of the start and one of the method, on vectors that are not those of a path."""
    x, dx = np.full(rank, 0.1), np.full(rank, 1e-3)
    return [
        ("take", (x, 0.1)),
        ("smooth", (1.0, False)),
        ("along", (dx, 1e-3)),
        ("ahead", (0.5, 0.5)),
        ("go", (0.5,)),
        ("enter", (0.1, 0.5, None)),
        ("linearise", (x, 0.1, False)),
        ("correct", (dx, 1e-3)),
        ("aim", (0.1, 1.0, 1.0, np.inf)),
        ("correct", (dx, 1e-3)),
        ("back", ()),
        ("advance", (0.1, 0.1, 1e-4, 1.0)),
        ("linearise", (x, 0.1, True)),
        ("dual_coef", ()),
    ]


def test_rows_that_are_kept_are_made_once(problem: FactorProblem, monkeypatch: Any) -> None:
    block = Rows(problem, slice(0, 300), 0.0)
    block.take(np.zeros(problem.factors.rank), 0.0)
    monkeypatch.setattr(type(problem.factors), "rows", None)
    for question, arguments in questions(problem.factors.rank):
        getattr(block, question)(*arguments)


def test_what_is_aimed_at_brings_products_within_a_factor_but_none_down_by_much() -> None:
    rng = np.random.default_rng(0)
    products, mu = 10.0 ** rng.uniform(-4.0, 2.0, 500), 0.05
    reached = products + row_blocks._towards(products, np.full(500, mu), 10.0, 3.0)
    near = (0.99 * mu / 10.0 <= reached) & (reached <= 1.01 * mu * 10.0)
    assert np.all(near | np.isclose(products - reached, 3.0 * mu))
    assert np.all(
        np.isclose(reached, products) | ~((mu / 10.0 < products) & (products < 10.0 * mu))
    )


def test_a_direction_that_is_taken_back_is_the_one_before(problem: FactorProblem) -> None:
    rank = problem.factors.rank
    coefficients = []
    for steps in (10, 9):  # with and without the direction after `aim` that is taken back
        block = Rows(problem, slice(0, 300), 0.0)
        for question, arguments in questions(rank)[:steps]:
            getattr(block, question)(*arguments)
        if steps == 10:
            block.back()
        block.advance(0.1, 0.1, 1e-4, 1.0)
        coefficients.append(block.dual_coef())
    assert np.array_equal(coefficients[0], coefficients[1])


@pytest.mark.parametrize(("b", "are_free"), [(10.0, False), (0.9999, True), (-10.0, True)])
def test_alpha_stay_at_their_bound_until_their_hinge_comes_near(
    problem: FactorProblem, b: float, are_free: bool
) -> None:
    """Near its corner, or beyond it, where the bound is the wrong one."""
    block, nothing, mu = Rows(problem, slice(0, 300), 0.0), np.zeros(problem.factors.rank), 1e-6
    block.take(nothing, 10.0)  # hinges of y = 1 at 1 - 10, those of y = -1 at 1 + 10
    block.enter(mu, 1.0, None)
    block._settle(mu, 1e-4, 1.0)
    at_bound = block.linearise(nothing, b, True)
    assert at_bound.theta == 0.0
    assert not at_bound.products.any()
    positive = problem.terms.signs[0] > 0
    assert np.abs(block.dual_coef() - np.where(positive, 0.0, -10.0)).max() < 1e-11
    assert at_bound.complementarity == pytest.approx(600 * mu)
    block._settle(mu, 1e-4, 1.0)
    block.linearise(nothing, b, True)
    assert np.array_equal(block._theta[0, positive] > 0.0, np.full(positive.sum(), are_free))
