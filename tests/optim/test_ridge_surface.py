"""The Hessian of NKRR's objective, the paper's condition for convexity, and F on a grid."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import differences, random_problem, random_stack

from mklbench.kernels import linear_features
from mklbench.optim.ridge import on_grid, shape_at

LAM = 0.5


def value(stack: np.ndarray, y: np.ndarray, weights: np.ndarray, degree: int) -> float:
    K = np.tensordot(weights, stack, axes=1) ** degree
    return float(y @ np.linalg.solve(K + LAM * np.eye(len(y)), y))


def curvature_at(stack: np.ndarray, y: np.ndarray, weights: np.ndarray, degree: int) -> np.ndarray:
    """Return the Hessian of F by central differences."""

    def slopes(at: np.ndarray) -> np.ndarray:
        return differences(lambda mu: value(stack, y, mu, degree), at, 1e-3)

    return differences(slopes, weights, 1e-3)


def condition_18(
    stack: np.ndarray, y: np.ndarray, weights: np.ndarray, direction: np.ndarray
) -> float:
    """Return <M, N - 1~>_F, with matrices (n^2, n^2) indexed by pairs (i, j) and (k, l) of samples,

        M = alpha_i alpha_l [K_u]_ij [K_u]_kl,   N = 4 V_jk [K_mu]_ij [K_mu]_kl,

    K_u and K_mu the linear combinations, V = (K_mu o K_mu + lam I)^-1, alpha = V y, and 1~ the
    matrix of ones where j = l and k = i and zeros elsewhere.
    """
    n = len(y)
    K_mu, K_u = (np.tensordot(mu, stack, axes=1) for mu in (weights, direction))
    V = np.linalg.inv(K_mu * K_mu + LAM * np.eye(n))
    alpha = V @ y
    M = np.einsum("i,l,ij,kl->ijkl", alpha, alpha, K_u, K_u)
    N = 4.0 * np.einsum("jk,ij,kl->ijkl", V, K_mu, K_mu)
    ones = np.einsum("jl,ik->ijkl", np.eye(n), np.eye(n))
    return float((M * (N - ones)).sum())


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_hessian(degree: int) -> None:
    stack, y = random_stack(15, 3)
    weights = np.array([0.3, 0.8, 0.5])
    ours = shape_at(stack, y, weights, LAM, degree)[1]
    numeric = curvature_at(stack, y, weights, degree)
    assert_allclose(ours, numeric, atol=1e-4 * np.abs(numeric).max())


def test_condition_18_is_the_curvature_along_each_direction() -> None:
    """Proposition 4: u' Hessian u is twice the inner product that has to be >= 0."""
    stack, y = random_stack(8, 3)
    rng = np.random.default_rng(0)
    signs = set()
    for scale in (0.05, 1.0):
        weights = scale * rng.uniform(size=3)
        curvature = shape_at(stack, y, weights, LAM, 2)[1]
        numeric = curvature_at(stack, y, weights, 2)
        for direction in rng.standard_normal((5, 3)):
            condition = condition_18(stack, y, weights, direction)
            along = direction @ curvature @ direction
            assert_allclose(2.0 * condition, along, rtol=1e-8)
            assert_allclose(along, direction @ numeric @ direction, rtol=0.02)
            signs.add(condition >= 0)
    assert signs == {True, False}


def test_grid() -> None:
    X, y = random_problem(20, 2)
    stack = X.T[:, :, None] * X.T[:, None, :]
    axis = [0.0, 0.3, 1.0]
    values, curvatures = on_grid(linear_features(X), y, axis, LAM)
    for i, j in np.ndindex(3, 3):
        weights = np.array([axis[i], axis[j]])
        assert_allclose(values[i, j], value(stack, y, weights, 2))
        smallest = np.linalg.eigvalsh(shape_at(stack, y, weights, LAM, 2)[1])[0]
        assert_allclose(curvatures[i, j], smallest)
