"""The start of the joint method: the smoothed loss, and where its least value is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from mklbench.certify import Hinge, Tube
from mklbench.kernels import feature_gaussians
from mklbench.optim import joint_start
from mklbench.optim.joint import root
from mklbench.optim.joint_start import SmoothedPath
from mklbench.optim.linearised import terms_of
from mklbench.optim.row_blocks import FactorProblem, Rows, threads
from mklbench.optim.weight_sets import Given

N, WIDTH = 200, 0.7


def problem(loss: str) -> FactorProblem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3))
    values = np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(N)
    factors = feature_gaussians(X).row_factors().reduced(1e-6)
    of = Hinge(np.sign(values), 2.0) if loss == "hinge" else Tube(values, 2.0, 0.1)
    return FactorProblem(factors, factors, terms_of(of), np.float64)


@pytest.mark.parametrize("loss", ["hinge", "tube"])
def test_alpha_are_the_slopes_of_the_smoothed_loss(loss: str) -> None:
    made = problem(loss)
    block = Rows(made, slice(0, N), 0.0)
    rng = np.random.default_rng(1)
    x, dx = rng.standard_normal((2, made.factors.rank))
    block.take(x, 0.1)
    at = block.smooth(WIDTH, False)
    falls, _, _ = block.along(dx, 0.3)
    h = 1e-5
    value = [block.ahead(step, WIDTH)[0] for step in (-h, 0.0, h)]
    assert falls == pytest.approx((value[0] - value[2]) / (2.0 * h), rel=1e-6)
    curvature = dx @ at.products @ dx + 0.6 * at.column_sums @ dx + 0.09 * at.theta
    block.go(h)
    block.smooth(WIDTH, False)
    assert (falls - block.along(dx, 0.3)[0]) / h == pytest.approx(curvature, rel=1e-3)


@pytest.mark.parametrize("mu", [1e-6, 1.0])
@pytest.mark.parametrize("resumed", [False, True])
def test_multipliers_account_for_the_loss_where_the_next_method_enters(
    mu: float, resumed: bool
) -> None:
    made = problem("tube")
    block = Rows(made, slice(0, N), 0.0)
    block.take(np.full(made.factors.rank, 0.2), 0.1)
    a = np.linspace(-1.0, 1.0, N) * made.terms.box
    block.enter(mu, WIDTH, a if resumed else None)
    at = block.linearise(np.full(made.factors.rank, 0.2), 0.1, True)
    assert at.complementarity >= mu * at.n_pairs * (1.0 - 1e-12)
    least = at.projected - made.factors.rows(0, N).T @ made.terms.dual_coef(
        block._theta * (block._upper - block._lower)
    )
    assert np.abs(least).max() <= 1e-9


def test_it_ends_near_the_least_smoothed_loss() -> None:
    """L-BFGS finds it, in the coordinates w of a function B L w + b with L L' = S_d."""
    made = problem("hinge")
    factors, weights = made.factors, np.array([0.5, 0.3, 0.2])
    B, C = factors.rows(0, N), made.terms.box[0]
    L = np.zeros((factors.rank, factors.rank))
    for core, own in zip(factors.combined(weights), factors.columns, strict=True):
        L[own, own] = root(core)
    with threads(made) as engine:
        given = Given(weights)
        path = SmoothedPath(factors, engine, given, given.start, np.zeros(factors.rank), 0.0)
        *_, last = path.iterates(1e-3)
        width = path.width

    def smoothed(w: np.ndarray) -> float:
        rho = 1.0 - made.terms.signs[0] * (B @ (L @ w[:-1]) + w[-1])
        inner = np.clip(rho / width + 0.5, 0.0, 1.0)
        loss = np.where(rho < width / 2.0, width * inner**2 / 2.0, rho).sum()
        return float(w[:-1] @ w[:-1] / 2.0 + C * loss)

    least = minimize(smoothed, np.zeros(factors.rank + 1), method="L-BFGS-B").fun
    outputs = factors.expanded(weights, last.expansion)
    rho = 1.0 - made.terms.signs[0] * (B @ outputs + last.intercept)
    inner = np.clip(rho / width + 0.5, 0.0, 1.0)
    loss = np.where(rho < width / 2.0, width * inner**2 / 2.0, rho).sum()
    reached = last.expansion @ outputs / 2.0 + C * loss
    assert least * (1.0 - 1e-6) <= reached <= least * (1.0 + joint_start._SETTLED)
