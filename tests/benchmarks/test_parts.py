"""The benchmarks: the reference problems and the yardstick."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference_problems import NAMES, SETS, reference_problem

from benchmarks import newton_prototype, reference
from mklbench.kernels import Bank, feature_gaussians, simplemkl_bank


def published_sizes() -> dict[str, tuple[int, int]]:
    lines = reference.OPTIMA.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["problem"]: (int(row["n_kernels"]), int(row["n_samples"])) for row in rows}


def synthetic_first(names: Iterable[str]) -> list[Any]:
    """Return names as parameters of a test, where those of real sets are slow."""
    return [
        pytest.param(name, marks=[] if name.startswith("synthetic") else pytest.mark.slow)
        for name in names
    ]


class TestReferenceProblems:
    @pytest.mark.parametrize("name", synthetic_first(NAMES))
    def test_sizes_and_optimum(self, name: str) -> None:
        problem = reference_problem(name)
        n_kernels, n = published_sizes()[name]
        assert problem.K.shape == (n_kernels, n, n)
        assert problem.y.shape == (n,)
        assert set(problem.y) == {-1.0, 1.0}
        assert problem.name == f"{name.split('-')[0]}-C{problem.C:g}"
        assert problem.optimum is not None
        assert_allclose(problem.optimum.lower_bound, problem.optimum.value, rtol=3e-5)

    @pytest.mark.parametrize("name", synthetic_first(SETS))
    def test_kernels_are_those_of_the_bank(self, name: str) -> None:
        problem = reference_problem(f"{name}-C100")
        if name == "synthetic":
            bank: Bank = feature_gaussians(reference.synthetic_samples()[0])
        else:
            bank = simplemkl_bank(reference.real_samples(name)[0])
        weights = np.random.default_rng(0).dirichlet(np.ones(bank.n_kernels))
        assert_allclose(
            bank.combine(weights), np.tensordot(weights, problem.K, axes=1), atol=1e-12, rtol=1e-9
        )


class TestYardstick:
    @pytest.mark.slow
    def test_reaches_the_optimum(self) -> None:
        problem = reference_problem("synthetic-C10")
        found = newton_prototype.solve(problem.K, problem.y, problem.C, tol=1e-4)
        assert found.converged
        assert found.gap <= 1e-4
        assert problem.optimum is not None
        assert_allclose(found.objective, problem.optimum.value, rtol=1e-4)
        assert_allclose(found.weights.sum(), 1.0)
        assert (found.weights >= 0).all()
        gaps = [entry["gap"] for entry in found.history]
        assert gaps[-1] == found.gap
        assert max(gaps[:-1]) > 1e-4
