"""Blocks of rows: those that are kept are made once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mklbench.certify import Hinge
from mklbench.kernels import feature_gaussians
from mklbench.optim.row_blocks import terms_of
from mklbench.optim.row_engines import FactorProblem


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
        ("aim", (0.1,)),
        ("correct", (dx, 1e-3)),
        ("advance", (0.1, 0.01)),
        ("linearise", (x, 0.1, True)),
        ("dual_coef", ()),
    ]


def test_rows_that_are_kept_are_made_once(problem: FactorProblem, monkeypatch: Any) -> None:
    block = problem.block(slice(0, 300), 0.0)
    block.take(np.zeros(problem.factors.rank), 0.0)
    monkeypatch.setattr(type(problem.factors), "rows", None)
    for question, arguments in questions(problem.factors.rank):
        getattr(block, question)(*arguments)
