"""The benchmarks: the reference problems, the registry of exact solvers, the yardstick."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference_problems import GRID, NAMES, SETS, reference_problem

from benchmarks import reference
from mklbench import certify
from mklbench.algorithms import exact_solvers, simplemkl
from mklbench.kernels import PrecomputedBank, feature_gaussians, simplemkl_bank


def published_sizes() -> dict[str, tuple[int, int]]:
    lines = reference.OPTIMA.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["problem"]: (int(row["n_kernels"]), int(row["n_samples"])) for row in rows}


class TestReferenceProblems:
    def test_nine_have_an_optimum_and_the_grid_holds_all_but_none_else(self) -> None:
        assert len(NAMES) == 9
        assert len(GRID) == 16
        assert set(NAMES) <= set(GRID)

    @pytest.mark.parametrize("name", NAMES)
    def test_sizes_and_optimum(self, name: str) -> None:
        problem = reference_problem(name)
        n_kernels, n = published_sizes()[name]
        assert problem.K.shape == (n_kernels, n, n)
        assert problem.y.shape == (n,)
        assert set(problem.y) == {-1.0, 1.0}
        assert problem.name == f"{name.split('-')[0]}-C{problem.C:g}"
        assert problem.optimum is not None
        assert_allclose(problem.optimum.lower_bound, problem.optimum.value, rtol=3e-5)

    def test_optimum_is_unknown_elsewhere(self) -> None:
        assert reference_problem("synthetic-C5").optimum is None

    @pytest.mark.parametrize("name", SETS)
    def test_kernels_are_those_of_the_bank(self, name: str) -> None:
        problem = reference_problem(f"{name}-C100")
        if name == "synthetic":
            bank = feature_gaussians(reference.synthetic_samples()[0])
        else:
            bank = simplemkl_bank(reference.real_samples(name)[0])
        weights = np.random.default_rng(0).dirichlet(np.ones(bank.n_kernels))
        assert_allclose(
            bank.combine(weights), np.tensordot(weights, problem.K, axes=1), atol=1e-12, rtol=1e-9
        )

    def test_a_solution_brackets_the_optimum(self) -> None:
        problem = reference_problem("synthetic-C10")
        bank = PrecomputedBank(problem.K)
        found = simplemkl.solve(bank, problem.y, problem.C, tol=1e-2)
        bounds = certify.mkl_bounds(
            bank, problem.y, found.weights, found.dual_coef, found.intercept, problem.C
        )
        assert problem.optimum is not None
        assert bounds.lower <= problem.optimum.value
        assert bounds.upper >= problem.optimum.lower_bound


class TestExactSolvers:
    def test_finds_those_that_say_so(self) -> None:
        found = exact_solvers()
        assert found["simplemkl"] is simplemkl.solve
        assert list(found) == sorted(found)
        assert not found.keys() & {"svm", "uniform", "gmkl", "qnpkl", "objective"}

    @pytest.mark.parametrize("name", exact_solvers())
    def test_keeps_the_contract(self, name: str) -> None:
        problem = reference_problem("synthetic-C10")
        bank = PrecomputedBank(problem.K)
        found = exact_solvers()[name](bank, problem.y, problem.C, tol=1e-2)
        assert found.converged
        assert found.gap <= 1e-2
        assert problem.optimum is not None
        assert_allclose(found.objective, problem.optimum.value, rtol=1e-2)
        assert all({"objective", "gap", "n_svm_calls"} <= entry.keys() for entry in found.history)
        calls = [entry["n_svm_calls"] for entry in found.history]
        assert calls == sorted(calls)

    def test_importing_the_package_imports_no_algorithm(self) -> None:
        program = (
            "import sys, mklbench.algorithms;"
            "print([name for name in sys.modules if name.startswith('mklbench.algorithms.')])"
        )
        finished = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert finished.stdout.strip() == "[]"
