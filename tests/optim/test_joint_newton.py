"""The reduced Newton system against the whole one, of a size with the number of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from mklbench.kernels import feature_gaussians
from mklbench.kernels.groups import Groups
from mklbench.optim.joint import NewtonSystem
from mklbench.optim.linearised import Linearised, Products
from mklbench.optim.weight_sets import Ball, ElasticBox, Given, Grouped, WeightSet, one_sum

N = 40


SETS: dict[str, WeightSet] = {
    "simplex": one_sum(6),
    "given": Given(np.arange(1.0, 7.0)),
    "ball": Ball(6, 1.7),
    "vskl": Grouped(Groups([[0, 1, 4], [2, 3], [5]], 6), 2.5),
    "elastic net": ElasticBox(6, 0.4),
    "vskl, q = 1": Grouped(Groups([[0, 1, 4], [2, 3], [5]], 6), 1.0),
}


def at_a_point(seed: int, weight_set: WeightSet) -> tuple[Linearised, dict[str, Any]]:
    """What samples add up to at some alpha, d and multipliers, and all that it is made of."""
    rng = np.random.default_rng(seed)
    factors = feature_gaussians(rng.standard_normal((N, 3)), [0.3, 2.0]).row_factors().reduced(1e-3)
    B = factors.rows(0, N)
    y = np.where(rng.standard_normal(N) > 0, 1.0, -1.0)
    alpha, lower, upper = rng.uniform(0.1, 0.9, (3, N))
    theta = 1.0 / (lower / alpha + upper / (1.0 - alpha))
    rho = rng.standard_normal(N)
    at = Linearised(
        parts=Products([B.T @ (theta[:, None] * B)], [slice(None)]),
        column_sums=B.T @ theta,
        projected=B.T @ (y * theta * rho),
        expansion=B.T @ (y * alpha),
        theta=float(theta.sum()),
        labelled=float(y @ (theta * rho)),
        loss=0.0,
        linear=float(alpha.sum()),
        complementarity=0.0,
        balance=float(y @ alpha),
        n_pairs=2 * N,
    )
    k = len(weight_set.start)
    x, prices = rng.uniform(0.1, 1.0, (2, k))
    v, r = rng.standard_normal(factors.rank), rng.standard_normal(k)
    return at, {
        "factors": factors, "B": B, "y": y, "alpha": alpha, "theta": theta, "rho": rho,
        "weight_set": weight_set, "x": x, "prices": prices, "v": v, "r": r,
    }  # fmt: skip


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_has_the_solution_of_the_whole_system(seed: int, name: str) -> None:
    weight_set = SETS[name]
    at, of = at_a_point(seed, weight_set)
    factors, B, y, theta = of["factors"], of["B"], of["y"], of["theta"]
    x, prices, v = of["x"], of["prices"], of["v"]
    found = NewtonSystem(factors, at, weight_set, x, prices, v).solve(
        at.projected, at.labelled, of["r"]
    )
    # The whole: alpha, x, b and lam, with K and the K_m v formed, and finite differences in x.
    k, A, signs = len(x), weight_set.sums, weight_set.signs
    YB = y[:, None] * B
    S = np.zeros((factors.rank, factors.rank))
    for core, own in zip(factors.combined(weight_set.weights(x)), factors.columns, strict=True):
        S[own, own] = core
    J = jacobian(weight_set.weights, x)
    G = YB @ factors.products(v) @ J
    halves = 0.5 * factors.forms(v)
    bent = -jacobian(lambda x: weight_set.slopes(x, halves), x)
    whole = np.zeros((N + k + 1 + len(A),) * 2)
    whole[:N, :N] = YB @ S @ YB.T + np.diag(1.0 / theta)
    whole[:N, N : N + k], whole[N : N + k, :N] = G, -signs[:, None] * G.T
    whole[:N, N + k] = whole[N + k, :N] = y
    whole[N : N + k, N : N + k] = np.diag(prices / x) + bent
    whole[N : N + k, N + k + 1 :], whole[N + k + 1 :, N : N + k] = A.T, A
    behind = B.T @ (y * of["alpha"]) - v
    rho = of["rho"] - YB @ (S @ behind)
    r = of["r"] + signs * (J.T @ (factors.products(v).T @ behind))
    right = np.concatenate([rho, r, [-float(y @ of["alpha"])], 1.0 - A @ x])
    expected = np.linalg.solve(whole, right)
    assert found.x == pytest.approx(expected[N : N + k], rel=1e-5, abs=1e-7)
    assert found.intercept == pytest.approx(expected[N + k], rel=1e-5)
    assert found.levels == pytest.approx(expected[N + k + 1 :], rel=1e-5, abs=1e-7)
    alpha = theta * (of["rho"] - y * (B @ found.outputs + found.intercept))
    assert alpha == pytest.approx(expected[:N], rel=1e-5, abs=1e-6)


def jacobian(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Derivatives (.., k) by central differences."""
    steps = 1e-6 * np.eye(len(x))
    slopes = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    return np.stack(slopes, axis=-1) if slopes else np.zeros((len(function(x)), 0))


def test_a_matrix_that_is_indefinite_by_rounding_is_solved_nevertheless() -> None:
    at, of = at_a_point(7, SETS["simplex"])
    at.products = at.products - 1e-9 * np.eye(len(at.products))
    system = NewtonSystem(of["factors"], at, of["weight_set"], of["x"], of["prices"], of["v"])
    assert np.isfinite(system.solve(at.projected, at.labelled, of["r"]).x).all()


def test_one_that_is_indefinite_by_more_is_refused() -> None:
    at, of = at_a_point(8, SETS["simplex"])
    at.products = -1e3 * at.products
    with pytest.raises(LinAlgError):
        NewtonSystem(of["factors"], at, of["weight_set"], of["x"], of["prices"], of["v"])
