"""Grids in units of the kernel: where the search along them ends, and what it calls a border."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mklbench import grids
from mklbench.kernels import PrecomputedBank, product_gaussians


def found(optimum: float) -> tuple[float, list[str], list[float]]:
    """Return the best C, what is at the border and all that was tried, of a loss around a C."""
    tried: list[float] = []

    def losses(entries: Sequence[dict[str, Any]]) -> list[float]:
        tried.extend(entry["C"] for entry in entries)
        return [abs(math.log10(entry["C"] / optimum)) for entry in entries]

    entries = [{"C": c} for c in grids.DECADES]
    best, _, at_end = grids.search(entries, losses, lambda entry: (), ["C"])
    return best["C"], at_end, tried


@pytest.mark.parametrize(
    ("optimum", "best", "at_end", "n_tried"),
    [
        (1.0, 1.0, [], 8),
        (3.0, math.sqrt(10), [], 8),
        (2e3, math.sqrt(10) * 1e3, [], 9),
        (1e9, math.sqrt(10) * 1e5, ["C"], 10),
        (1e-9, 1e-4 / math.sqrt(10), ["C"], 10),
    ],
)
def test_the_grid_goes_on_where_its_end_is_the_best(
    optimum: float, best: float, at_end: list[str], n_tried: int
) -> None:
    chosen, border, tried = found(optimum)
    assert chosen == pytest.approx(best)
    assert border == at_end
    assert len(tried) == n_tried


def test_the_unit_is_the_mean_diagonal_of_the_uniform_combination() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    K = np.array([X @ X.T, 3.0 * np.eye(6)])
    bank = PrecomputedBank(K)
    assert grids.unit_of(bank) == pytest.approx(K.mean(axis=0).diagonal().mean())
    assert grids.unit_of(product_gaussians(X)) == 1.0
    assert grids.resolved("C", 10.0, 4.0) == 2.5
    assert grids.resolved("lam", 10.0, 4.0) == 0.4


def test_ends_of_given_values() -> None:
    grid = {"algo.C": [1, 10, 100], "algo.iterations": [0, 1, 5], "kernel.how": ["a", "b"]}
    assert grids.at_ends(grid, {"algo.C": 100, "algo.iterations": 0}) == ["algo.C"]
    assert grids.at_ends(grid, {"algo.C": 10, "algo.iterations": 5}) == ["algo.iterations"]
    assert grids.at_ends({"algo.C": [1]}, {"algo.C": 1}) == []
