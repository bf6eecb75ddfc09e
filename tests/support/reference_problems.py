"""The reference problems of exact MKL, for the tests of the solvers."""

from __future__ import annotations

import os

import pytest

from benchmarks import reference
from benchmarks.reference import GRID, NAMES, SETS, Problem
from mklbench.errors import DataError

__all__ = ["GRID", "NAMES", "SETS", "Problem", "reference_problem"]


def reference_problem(name: str) -> Problem:
    """Return a problem of `NAMES` or `GRID`; without its data the test is skipped.

    Its fields are K (M, n, n), y (n,), C and the optimum, or None where that is not known.
    """
    if not name.startswith("synthetic") and not os.environ.get("MKLBENCH_MIRROR"):
        pytest.skip("needs real data: set MKLBENCH_MIRROR to where they are")
    try:
        return reference.load(name)
    except DataError as error:
        pytest.skip(f"needs real data: {error}")
