"""The semidefinite alignment problem beside a conic solver, which takes the cone as it is."""

from __future__ import annotations

from collections.abc import Callable

import conic_twins
import numpy as np
import pytest
from alignment_problems import plain_alignment, scaled_stack, widths_stack
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mklbench import certify
from mklbench.algorithms import align_sdp, f_heuristic
from mklbench.errors import InputError
from mklbench.kernels import CentredBank, PrecomputedBank

Array = NDArray[np.float64]


def smallest_eigenvalue(K: Array) -> float:
    """Return that of K as a share of the largest."""
    eigenvalues = np.linalg.eigvalsh(K)
    return float(eigenvalues[0] / eigenvalues[-1])


@pytest.mark.parametrize("make", [scaled_stack, widths_stack])
def test_is_the_optimum_of_a_conic_solver(make: object) -> None:
    stack, y = make()  # type: ignore[operator]
    stack, y = stack[:, :20, :20], y[:20]
    solution = align_sdp.solve(PrecomputedBank(stack), y, tol=1e-5)
    value, _ = conic_twins.alignment(stack, np.outer(y, y), semidefinite=True)
    K = np.tensordot(solution.weights, stack, axes=1)
    assert solution.converged
    assert_allclose(solution.objective, value, rtol=1e-4)
    assert_allclose(plain_alignment(K, y), solution.objective, rtol=1e-9)
    assert smallest_eigenvalue(K) >= -2e-7
    assert K.diagonal().mean() == pytest.approx(1.0)


def test_the_bounds_hold_for_every_semidefinite_combination() -> None:
    stack, y = scaled_stack()
    flat = stack.reshape(6, -1)
    Q, c = flat @ flat.T, flat @ np.outer(y, y).ravel()
    solution = align_sdp.solve(PrecomputedBank(stack), y, tol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(50):
        half = rng.standard_normal((40, 3))
        cuts = np.array([np.vdot(K, half @ half.T) for K in stack]) * rng.choice([0.0, 0.01, 1.0])
        bounds = certify.semidefinite_alignment_bounds(Q, c, 40.0, solution.weights, cuts)
        assert bounds.upper >= solution.objective * (1 - 1e-6)
        assert bounds.lower == pytest.approx(solution.objective)


def test_an_early_end_is_allowed_and_says_so() -> None:
    stack, y = widths_stack()
    bank = PrecomputedBank(stack)
    early = align_sdp.solve(bank, y, max_iter=1, tol=1e-9)
    exact = align_sdp.solve(bank, y, tol=1e-5)
    assert not early.converged
    assert smallest_eigenvalue(np.tensordot(early.weights, stack, axes=1)) >= -2e-7
    assert early.objective <= exact.objective * (1 + 1e-6)
    assert exact.objective <= early.objective / (1 - early.gap)
    assert early.objective >= f_heuristic.solve(bank, y).objective * 0.9


def test_centred_kernels_make_it_the_problem_beside_alignf() -> None:
    stack, y = widths_stack()
    H = np.eye(len(y)) - 1.0 / len(y)
    solution = align_sdp.solve(CentredBank(PrecomputedBank(stack)), y, tol=1e-5)
    target = H @ np.outer(y, y) @ H
    value, _ = conic_twins.alignment(H @ stack @ H, target, semidefinite=True)
    # The target of the one is y y', that of the other is centred; their products with K are equal.
    assert_allclose(solution.objective * len(y), value * np.linalg.norm(target), rtol=1e-3)


def test_a_path_of_C_is_what_solve_returns_one_by_one_from_one_alignment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stack, y = widths_stack()
    bank, Cs = PrecomputedBank(stack), [0.1, 10.0, 1.0]
    one_by_one = [align_sdp.solve(bank, y, C) for C in Cs]
    n_eigen: list[int] = []

    def counted(K: Array, eigh: Callable[[Array], object] = np.linalg.eigh) -> object:
        n_eigen.append(len(K))
        return eigh(K)

    monkeypatch.setattr(np.linalg, "eigh", counted)
    align_sdp.solve(bank, y)
    n_alone = len(n_eigen)
    together = align_sdp.solve_path(bank, y, Cs)
    assert len(n_eigen) == 2 * n_alone
    for found, alone in zip(together, one_by_one, strict=True):
        assert_array_equal(found.weights, alone.weights)
        assert_array_equal(found.dual_coef, alone.dual_coef)
        assert (found.intercept, found.gap, found.history) == (
            alone.intercept,
            alone.gap,
            alone.history,
        )
    assert len({float(np.abs(found.dual_coef).max()) for found in together}) == 3


def test_large_banks_are_refused() -> None:
    K = np.broadcast_to(np.eye(4), (201, 4, 4))
    with pytest.raises(InputError, match="at most 200 kernels, and this has 201: choose fewer, or"):
        align_sdp.solve(PrecomputedBank(K), np.resize([1.0, -1.0], 4))
