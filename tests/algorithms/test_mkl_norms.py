"""The l_p norm in `mkl`: against a conic solver, the plain sum, and p = 1 to the last bit."""

from __future__ import annotations

import conic_twins
import numpy as np
import pytest
from certificates import bank_bounds
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_stack

from mklbench.algorithms import mkl, svm
from mklbench.kernels import PrecomputedBank
from mklbench.kernels.groups import Groups
from mklbench.penalties.mixed_norm import MixedNorm

# The conic solver says so where it misses its 1e-9, and where a norm takes it many cones.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate", "ignore:pnorm")

SINGLETONS = [[m] for m in range(5)]


@pytest.mark.parametrize(("p", "C"), [(1.1, 1.0), (4 / 3, 0.1), (2.0, 100.0), (5.0, 1.0)])
def test_optimum_of_a_conic_solver(p: float, C: float) -> None:
    stack, y = random_stack()
    tol = 1e-6 if C < 100 else 2e-5  # what is left of LIBSVM's single precision
    solution = mkl.solve(PrecomputedBank(stack), y, C, p=p, tol=tol, max_iter=500)
    assert solution.converged
    twin = conic_twins.mixed_norm(stack, y, C, SINGLETONS, p / (p + 1))
    assert solution.objective == pytest.approx(twin.value, rel=4.0 * tol + 1e-6)
    assert_allclose(solution.weights, twin.weights, atol=0.01)
    assert np.linalg.norm(solution.weights, p) == pytest.approx(1.0)
    penalty = MixedNorm(Groups(SINGLETONS, 5), p / (p + 1))
    bounds = bank_bounds(PrecomputedBank(stack), y, solution, C, penalty)
    assert bounds.relative_gap == pytest.approx(solution.gap, rel=1e-6, abs=1e-12)


def test_infinity_is_the_plain_sum() -> None:
    stack, y = random_stack()
    ours = mkl.solve(PrecomputedBank(stack), y, 1.0, p=np.inf, tol=1e-6)
    plain = svm.solve(PrecomputedBank(stack), y, 1.0, weights=np.ones(5), svm_tol=1e-6)
    assert_allclose(ours.weights, 1.0)
    assert ours.objective == pytest.approx(plain.objective, rel=1e-5)
    assert ours.gap <= 1e-6


def test_1_is_the_simplex_to_the_last_bit() -> None:
    stack, y = random_stack()
    there = mkl.solve(PrecomputedBank(stack), y, 10.0)
    for p in (None, 1, 1.0):
        here = mkl.solve(PrecomputedBank(stack), y, 10.0, p=p)
        assert_array_equal(here.weights, there.weights)
        assert_array_equal(here.dual_coef, there.dual_coef)


def test_a_start_with_zeros_is_no_end() -> None:
    stack, y = random_stack()
    cold = mkl.solve(PrecomputedBank(stack), y, 1.0, p=2.0, tol=1e-6)
    warm = mkl.solve(PrecomputedBank(stack), y, 1.0, p=2.0, tol=1e-6, start=[1, 0, 0, 0, 0])
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
