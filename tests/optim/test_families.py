"""The joint method on families of problems that it was not tuned on, those of the benchmark."""

from __future__ import annotations

from typing import Any

import conic_twins
import numpy as np
import pytest
from certificates import joint_upper

from benchmarks.families import BOXES, FAMILIES, samples
from mklbench.algorithms import mkl
from mklbench.certify import Hinge
from mklbench.kernels import feature_gaussians
from mklbench.optim import joint
from mklbench.solution import Solution

# By the number of samples, a little beyond what was seen.
MOST_ITERATIONS = {2_000: 20, 5_000: 25}


def solved(family: str, n: int, C: float | None = None, **options: Any) -> Solution:
    X, y = samples(family, n, seed=0)
    weight = "balanced" if family.endswith("balanced") else None
    C = BOXES.get(family, 10.0) if C is None else C
    return mkl.solve(feature_gaussians(X), y, C, class_weight=weight, **options)


@pytest.mark.parametrize("n", MOST_ITERATIONS)
def test_takes_few_iterations_on_every_family(n: int) -> None:
    for family, C in [*dict.fromkeys(FAMILIES).items(), ("normal", 0.1), ("normal", 1000.0)]:
        solution = solved(family, n, C, tol=1e-3, method="joint")
        assert solution.converged, family
        assert solution.n_iter <= MOST_ITERATIONS[n], family


def test_further_correctors_make_the_way_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where few alpha limit the steps."""
    few = ("1 % positive, balanced", "1 % positive", "little noise")
    taken = []
    for long in (joint._LONG, 0.0):
        monkeypatch.setattr(joint, "_LONG", long)
        found = [solved(family, 3_000, tol=1e-5, method="joint") for family in few]
        assert all(solution.converged for solution in found)
        taken.append(sum(solution.n_iter for solution in found))
    assert taken[0] < taken[1] - 2


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_has_the_optimum_of_the_method_on_gram_matrices(family: str) -> None:
    found = solved(family, 3_000, tol=2e-5, method="joint")
    grams = solved(family, 3_000, tol=2e-5, method="libsvm")
    assert found.objective == pytest.approx(grams.objective, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["normal", "heavy tails", "one-hot"])
def test_has_the_optimum_of_a_conic_solver(family: str) -> None:
    X, y = samples(family, 300, seed=0)
    bank = feature_gaussians(X)
    grams = np.array([bank.combine(unit) for unit in np.eye(bank.n_kernels)])
    optimum = conic_twins.mkl(grams, y, 10.0).value
    # `objective` is a dual value at the weights, which is within the gap of the optimum.
    found = mkl.solve(bank, y, 10.0, tol=5e-7, method="joint")
    assert found.objective == pytest.approx(optimum, rel=1e-6)


def test_the_certificate_of_heavy_tails_holds_for_dense_kernels() -> None:
    X, y = samples("heavy tails", 2_000, seed=0)
    bank = feature_gaussians(X)
    found = mkl.solve(bank, y, 10.0, tol=1e-3, method="joint")
    a = found.dual_coef
    forms = np.array([a @ bank.combine(unit) @ a for unit in np.eye(bank.n_kernels)])
    upper = joint_upper(bank, X, Hinge(y, 10.0), found)
    lower = np.abs(a).sum() - 0.5 * forms.max()
    assert found.gap == pytest.approx((upper - lower) / upper, rel=1e-4)
