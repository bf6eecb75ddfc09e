"""ALIGNF: the largest alignment against conic solvers, and where its programme is degenerate."""

from __future__ import annotations

import conic_twins
import numpy as np
from alignment_problems import (
    centred,
    dense_alignment,
    scaled_stack,
)
from numpy.testing import assert_allclose

from mklbench import certify
from mklbench.algorithms import alignf
from mklbench.kernels import PrecomputedBank
from mklbench.optim.alignment import Alignment
from mklbench.solution import Solution


def solve(stack: np.ndarray, y: np.ndarray, programme: str = "alignment") -> Solution:
    return alignf.solve(PrecomputedBank(stack), y, svm_tol=1e-6, programme=programme)


def problem(stack: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return Q, c and the norm of the target, written out."""
    flat, target = centred(stack).reshape(len(stack), -1), centred(np.outer(y, y))
    return flat @ flat.T, flat @ target.ravel(), float(np.linalg.norm(target))


def test_largest_alignment_of_a_conic_solver() -> None:
    stack, y = scaled_stack()
    solution = solve(stack, y)
    value, v = conic_twins.alignment(centred(stack), centred(np.outer(y, y)), semidefinite=False)
    assert_allclose(solution.objective, value, rtol=1e-7)
    assert_allclose(solution.weights, v / np.linalg.norm(v), atol=1e-4)
    assert_allclose(np.linalg.norm(solution.weights), 1.0)


def test_of_equal_kernels_none_is_preferred() -> None:
    """Many weights are optimal then; which are returned is no matter of the last digits."""
    stack, y = scaled_stack()
    once = solve(stack, y)
    thrice = solve(np.concatenate([stack, 4.0 * stack[::-1], stack]), y)
    shares = thrice.weights * np.repeat([1.0, 4.0, 1.0], len(stack))
    first, second, third = shares.reshape(3, -1)
    assert_allclose(second[::-1], first, rtol=1e-4)
    assert_allclose(third, first, rtol=1e-4)
    assert_allclose(3.0 * first / np.linalg.norm(3.0 * first), once.weights, rtol=1e-4, atol=1e-8)
    assert_allclose(thrice.objective, once.objective, rtol=1e-8)


class TestSimplexProgramme:
    def test_optimum_of_a_conic_solver(self) -> None:
        stack, y = scaled_stack()
        Q, c, _ = problem(stack, 0.2 * y)  # at this scale several kernels are used
        weights = solve_simplex(stack, 0.2 * y)
        assert_allclose(weights, conic_twins.simplex_programme(Q, c), atol=1e-6)
        assert np.count_nonzero(weights > 1e-6) > 1


def solve_simplex(stack: np.ndarray, y: np.ndarray) -> np.ndarray:
    return alignf.least_on_simplex(Alignment.of(PrecomputedBank(stack), y))


class TestCertificates:
    def test_alignment_is_bounded_at_any_weights(self) -> None:
        stack, y = scaled_stack()
        Q, c, norm = problem(stack, y)
        best = solve(stack, y).objective
        for weights in np.random.default_rng(0).random((50, 6)) ** 3:
            bounds = certify.alignment_bounds(Q, c, norm, weights)
            reached = dense_alignment(np.tensordot(weights, stack, axes=1), y)
            assert_allclose(bounds.lower, reached, rtol=1e-9)
            assert bounds.lower <= best <= bounds.upper + 1e-9
        assert certify.alignment_bounds(Q, c, norm, solve(stack, y).weights).relative_gap < 1e-9

    def test_the_programme_on_the_simplex_is_bounded_at_any_weights(self) -> None:
        stack, y = scaled_stack()
        Q, c, norm = problem(stack, 0.2 * y)
        programme = Alignment(Q, c, norm)
        at = conic_twins.simplex_programme(Q, c)
        best = 0.5 * at @ Q @ at - c @ at
        for weights in np.random.default_rng(0).dirichlet(np.ones(6), size=50):
            bounds = alignf.programme_bounds(programme, weights)
            assert_allclose(bounds.upper, 0.5 * weights @ Q @ weights - c @ weights)
            assert bounds.lower <= best + 1e-9
            assert best <= bounds.upper + 1e-9
        found = solve_simplex(stack, 0.2 * y)
        assert alignf.programme_bounds(programme, found).relative_gap < 1e-9
