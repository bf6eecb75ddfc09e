"""The reduced Newton system against the whole one, of a size with the number of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from mklbench.kernels import feature_gaussians
from mklbench.optim.joint_newton import NewtonSystem, root
from mklbench.optim.row_blocks import Linearised

N = 40


def at_a_point(seed: int) -> tuple[Linearised, dict[str, Any]]:
    """What samples add up to at some alpha, d and multipliers, and all that it is made of."""
    rng = np.random.default_rng(seed)
    factors = feature_gaussians(rng.standard_normal((N, 3)), [0.3, 2.0]).row_factors().reduced(1e-3)
    B = factors.rows(0, N)
    y = np.where(rng.standard_normal(N) > 0, 1.0, -1.0)
    alpha, lower, upper = rng.uniform(0.1, 0.9, (3, N))
    theta = 1.0 / (lower / alpha + upper / (1.0 - alpha))
    rho = rng.standard_normal(N)
    at = Linearised(
        products=B.T @ (theta[:, None] * B),
        column_sums=B.T @ theta,
        projected=B.T @ (y * theta * rho),
        theta=float(theta.sum()),
        labelled=float(y @ (theta * rho)),
        hinge=0.0,
        alpha=float(alpha.sum()),
        complementarity=0.0,
        balance=float(y @ alpha),
    )
    weights, prices = rng.uniform(0.1, 1.0, (2, factors.n_kernels))
    v, r = rng.standard_normal(factors.rank), rng.standard_normal(factors.n_kernels)
    return at, {
        "factors": factors, "B": B, "y": y, "alpha": alpha, "theta": theta, "rho": rho,
        "weights": weights, "prices": prices, "v": v, "r": r,
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_has_the_solution_of_the_whole_system(seed: int) -> None:
    at, of = at_a_point(seed)
    factors, B, y, theta = of["factors"], of["B"], of["y"], of["theta"]
    weights, prices = of["weights"], of["prices"]
    found = NewtonSystem(factors, at, weights, prices, of["v"]).solve(
        at.projected, at.labelled, of["r"]
    )
    # The whole: alpha, d, b and lam, with K and the K_m v formed.
    m = factors.n_kernels
    YB = y[:, None] * B
    S = np.zeros((factors.rank, factors.rank))
    for core, own in zip(factors.combined(weights), factors.columns, strict=True):
        S[own, own] = core
    G = YB @ factors.products(of["v"])
    whole = np.zeros((N + m + 2,) * 2)
    whole[:N, :N] = YB @ S @ YB.T + np.diag(1.0 / theta)
    whole[:N, N : N + m], whole[N : N + m, :N] = G, -G.T
    whole[:N, N + m] = whole[N + m, :N] = y
    whole[N : N + m, N : N + m] = np.diag(prices / weights)
    whole[N : N + m, N + m + 1] = whole[N + m + 1, N : N + m] = 1.0
    right = np.concatenate(
        [of["rho"], of["r"], [-float(y @ of["alpha"]), 1.0 - float(weights.sum())]]
    )
    expected = np.linalg.solve(whole, right)
    assert found.weights == pytest.approx(expected[N : N + m], rel=1e-7, abs=1e-9)
    assert found.intercept == pytest.approx(expected[N + m], rel=1e-7)
    assert found.largest == pytest.approx(expected[N + m + 1], rel=1e-7)
    alpha = theta * (of["rho"] - y * (B @ found.outputs + found.intercept))
    assert alpha == pytest.approx(expected[:N], rel=1e-6, abs=1e-8)


def test_a_matrix_that_is_indefinite_by_rounding_is_solved_nevertheless() -> None:
    at, of = at_a_point(7)
    at.products = at.products - 1e-9 * np.eye(len(at.products))
    system = NewtonSystem(of["factors"], at, of["weights"], of["prices"], of["v"])
    assert np.isfinite(system.solve(at.projected, at.labelled, of["r"]).weights).all()


def test_one_that_is_indefinite_by_more_is_refused() -> None:
    at, of = at_a_point(8)
    at.products = -1e3 * at.products
    with pytest.raises(LinAlgError):
        NewtonSystem(of["factors"], at, of["weights"], of["prices"], of["v"])


def test_a_root_squares_to_its_matrix() -> None:
    half = np.random.default_rng(0).standard_normal((5, 3))
    core = half @ half.T
    assert root(core) @ root(core).T == pytest.approx(core)
