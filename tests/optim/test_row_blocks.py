"""Blocks of rows: what they answer, and that a question leaves the block before it as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mklbench.certify import Hinge
from mklbench.kernels import feature_gaussians
from mklbench.optim.row_blocks import terms_of
from mklbench.optim.row_engines import FactorProblem, cut, threads


@pytest.fixture
def problem() -> FactorProblem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(300) > 0, 1.0, -1.0)
    exact = feature_gaussians(X).row_factors()
    return FactorProblem(exact.reduced(1e-5), exact, terms_of(Hinge(y, 10.0)), np.float32)


def questions(rank: int) -> list[tuple[str, tuple[Any, ...]]]:
    """An iteration of the method, on vectors that are not those of a path."""
    x, dx = np.full(rank, 0.1), np.full(rank, 1e-3)
    return [
        ("begin", (x, 0.1, 0.5)),
        ("linearise", (x, 0.1, False)),
        ("correct", (dx, 1e-3)),
        ("aim", (0.1,)),
        ("correct", (dx, 1e-3)),
        ("recentre", (0.5, 0.01, 1.0)),
        ("correct", (dx, 1e-3)),
        ("advance", (0.1, True, 0.01)),
        ("linearise", (x, 0.1, True)),
        ("dual_coef", ()),
    ]


def test_rows_that_are_kept_are_made_once(problem: FactorProblem, monkeypatch: Any) -> None:
    block = problem.block(slice(0, 300))
    block.begin(np.zeros(problem.factors.rank), 0.0, 1.0)
    monkeypatch.setattr(type(problem.factors), "rows", None)
    for question, arguments in questions(problem.factors.rank):
        getattr(block, question)(*arguments)


def test_each_block_is_given_its_own_samples(problem: FactorProblem) -> None:
    a = np.random.default_rng(1).standard_normal(300)
    B = problem.exact.rows(0, 300)
    with threads(problem) as engine:
        answers = engine.each("both_exactly", a, np.zeros((B.shape[1], 1)))
    assert sum(projected for projected, _ in answers) == pytest.approx(B.T @ a)


@pytest.mark.parametrize("n", [1, 7, 300, 1001])
def test_blocks_are_of_about_the_same_size_and_leave_nothing_out(n: int) -> None:
    rows = cut(n, min(n, 4))
    assert np.array_equal(np.concatenate([np.arange(n)[own] for own in rows]), np.arange(n))
    sizes = [own.stop - own.start for own in rows]
    assert max(sizes) - min(sizes) <= 1
