"""The benchmark of NKRR measures ways that agree."""

from __future__ import annotations

from benchmarks import nkrr
from benchmarks.timing import Result


def test_the_gradient_is_that_of_the_dense_stack() -> None:
    results: list[Result] = []
    nkrr.gradient(results.append, 20, 60)  # compares the two before it measures them
    (result,) = results
    assert result.name.endswith("n = 20, p = 60")
    assert result.met is not None


def test_the_path_is_that_of_single_solutions() -> None:
    results: list[Result] = []
    nkrr.path(results.append, 20, 30)
    (result,) = results
    assert result.met is None
