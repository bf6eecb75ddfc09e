"""Landmarks against the formula of Nystroem and against Gram matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklbench.kernels import Gaussian, Linear, Polynomial
from mklbench.kernels.landmarks import LEFT_OUT, landmark_factors


def samples(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def approximation(factors: Any, part: int = 0) -> np.ndarray:
    rows = factors.parts[part].basis(factors.X)
    return rows @ factors.parts[part].cores[0] @ rows.T


def halves(between: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """K_XZ L^-T for K_ZZ = L L', with more digits than doubles have."""
    whole = np.vstack([between, columns]).astype(np.longdouble)
    m = len(between)
    for j in range(m):
        whole[:, j] /= np.sqrt(whole[j, j])
        whole[:, j + 1 :] -= np.outer(whole[:, j], whole[j + 1 : m, j])
    return whole[m:].astype(np.float64)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 120),
    d=st.integers(1, 6),
    seed=st.integers(0, 10_000),
    log_gamma=st.floats(-4, 2),
    log_scale=st.floats(-5, 5),
    share=st.floats(0.05, 1.0),
)
def test_are_those_of_nystroem_and_never_above_the_kernel(
    n: int, d: int, seed: int, log_gamma: float, log_scale: float, share: float
) -> None:
    X = 10.0**log_scale * samples(n, d, seed)
    function = Gaussian(10.0 ** (log_gamma - 2 * log_scale))
    factors = landmark_factors(X, [function], max(1, int(share * n)))
    basis: Any = factors.parts[0].basis
    found, whole = approximation(factors), function(X, X)
    half = halves(function(basis.points, basis.points), function(X, basis.points))
    np.testing.assert_allclose(found, half @ half.T, atol=1e-4)
    assert np.linalg.eigvalsh(whole - found)[0] >= -1e-6 * n
    left = 1.0 - np.trace(found) / n
    assert factors.parts[0].left_out == pytest.approx(left, abs=1e-6)


def test_all_samples_leave_nothing_out() -> None:
    X = samples(200, 4, 0)
    functions: list[Any] = [Gaussian(0.1), Gaussian(10.0), Polynomial(3), Linear()]
    factors = landmark_factors(X, functions, 200)
    for i, function in enumerate(functions):
        whole = function(X, X)
        np.testing.assert_allclose(
            approximation(factors, i), whole, atol=1e-6 * np.abs(whole).max()
        )
    # Of inner products no more are needed than there are features.
    assert factors.parts[3].basis.rank == 4
    assert factors.parts[2].basis.rank == 35  # monomials of four features up to the third degree


def test_as_many_are_chosen_as_leave_out_a_thousandth_of_other_samples() -> None:
    X = samples(9000, 3, 1)
    (part,) = landmark_factors(X, [Gaussian(0.1)]).parts
    assert 20 < part.basis.rank < 1000
    others = samples(2000, 3, 2)
    left = 1.0 - np.mean(np.square(part.basis(others)).sum(axis=1))
    assert 0.2 * LEFT_OUT < left < 2 * LEFT_OUT
    assert part.left_out is not None
    assert part.left_out <= LEFT_OUT


def test_more_leave_less_out_and_the_first_are_the_same() -> None:
    X = samples(500, 3, 3)
    few, many = (landmark_factors(X, [Gaussian(1.0)], m).parts[0] for m in (50, 100))
    assert few.left_out is not None
    assert many.left_out is not None
    assert many.left_out < few.left_out
    a: Any = few.basis
    b: Any = many.basis
    np.testing.assert_array_equal(a.points, b.points[:50])
    np.testing.assert_allclose(a(X), b.first_landmarks(50)(X), atol=1e-10)


def test_the_same_samples_have_the_same_landmarks() -> None:
    X = samples(300, 3, 4)
    first, second = (landmark_factors(X.copy(), [Gaussian(1.0)], 30) for _ in range(2))
    np.testing.assert_array_equal(first.rows(0, 300), second.rows(0, 300))


def test_copies_of_samples_are_no_landmarks_twice() -> None:
    X = np.repeat(samples(20, 2, 5), 10, axis=0)
    (part,) = landmark_factors(X, [Gaussian(1.0)], 200).parts
    assert part.basis.rank <= 20
    assert part.left_out == pytest.approx(0.0, abs=1e-9)


def test_a_kernel_that_is_zero_has_a_basis() -> None:
    factors = landmark_factors(np.zeros((30, 2)), [Linear()])
    assert not factors.rows(0, 30).any()
    assert factors.parts[0].left_out == 0.0


def test_products_without_rows_are_those_with_rows() -> None:
    X = samples(100, 3, 6)
    factors = landmark_factors(X, [Gaussian(0.5), Polynomial(2)], 15)
    rng = np.random.default_rng(7)
    a, x = rng.standard_normal(100), rng.standard_normal((factors.rank, 2))
    B = factors.rows(0, 100)
    np.testing.assert_allclose(factors.projected(slice(0, 100), a), B.T @ a, atol=1e-9)
    projected, outputs = factors.both(slice(0, 100), a, x)
    np.testing.assert_allclose(projected, B.T @ a, atol=1e-9)
    np.testing.assert_allclose(outputs, B @ x, atol=1e-9)
    for part, columns in zip(factors.parts, factors.columns, strict=True):
        own = part.basis.outputs(X, x[columns])
        np.testing.assert_allclose(own, B[:, columns] @ x[columns], atol=1e-9)
    reduced = factors.reduced(1e-3)
    np.testing.assert_allclose(
        reduced.projected(slice(0, 100), a), reduced.rows(0, 100).T @ a, atol=1e-9
    )


def test_functions_on_nodes_are_those_in_the_basis() -> None:
    X = samples(100, 3, 8)
    factors = landmark_factors(X, [Gaussian(0.5), Polynomial(2)], 12)
    v = np.random.default_rng(9).standard_normal(factors.rank)
    weights, Z = np.array([0.3, 0.7]), samples(20, 3, 10)
    on_nodes = factors.cross.cross(weights, Z) @ factors.on_nodes(v)
    rows = factors.on(Z).rows(0, 20)
    np.testing.assert_allclose(on_nodes, rows @ factors.expanded(weights, v), atol=1e-8)
