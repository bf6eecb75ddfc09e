"""The hierarchical Bayesian test in clear cases, and against another sampler."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import gamma, norm, t

from mklbench.report.analysis.bayesian import Regions, hierarchical_draws

Array = NDArray[np.float64]

ROPE = 1.0


def sets(centre: float, spread: float, n_sets: int = 12) -> list[list[float]]:
    rng = np.random.default_rng(1)
    return [rng.normal(rng.normal(centre, spread), 2.0, 10).tolist() for _ in range(n_sets)]


def draw(given: list[list[float]]) -> Array:
    return hierarchical_draws(given, [0.3] * len(given), ROPE)


@pytest.mark.parametrize(("centre", "outcome"), [(4.0, "better"), (-4.0, "worse"), (0.0, "alike")])
def test_a_clear_case_is_called_so(centre: float, outcome: str) -> None:
    found = Regions.of(draw(sets(centre, 0.2)))
    assert getattr(found, outcome) > 0.95
    assert found.worse + found.alike + found.better == pytest.approx(1.0)


def test_to_exchange_the_two_methods_exchanges_worse_and_better() -> None:
    given = sets(0.7, 1.5)
    found = draw(given).mean(axis=0)
    other = draw([[-x for x in one] for one in given]).mean(axis=0)
    np.testing.assert_allclose(found, other[::-1], atol=0.02)


def test_methods_that_agree_on_every_split_are_alike() -> None:
    found = Regions.of(hierarchical_draws([[0.0] * 10] * 8, [0.3] * 8, ROPE))
    assert found.alike > 0.95


def log_posterior(at: Array, given: Array, rho: float) -> Array:
    """The density of the paper at points (k, 5 + 2 q): delta_0, log s_0, log(nu - 1), alpha,
    beta, then the delta_i and the log s_i."""
    q, n = given.shape
    centre, log_scale, log_freedom, alpha, beta = at[:, :5].T
    deltas, log_sigmas = at[:, 5 : 5 + q], at[:, 5 + q :]
    inside = (alpha > 0.5) & (alpha < 5) & (beta > 0.05) & (beta < 0.15) & (abs(centre) < 100)
    inside &= (log_scale < np.log(1e3)) & (log_freedom < 8) & (log_freedom > -8)
    inside &= (log_scale > np.log(1e-3)) & (abs(log_sigmas) < 5).all(axis=1)
    alpha, beta = np.where(inside, alpha, 1.0), np.where(inside, beta, 0.1)
    less_one = np.exp(np.clip(log_freedom, -8, 8))
    value = gamma.logpdf(less_one, alpha, scale=1 / beta) + log_freedom + log_scale
    scale = np.exp(np.clip(log_scale, -7, 7))[:, None]
    value += t.logpdf(deltas, 1 + less_one[:, None], centre[:, None], scale).sum(axis=1)
    # The covariance s_i^2 ((1 - rho) I + rho 11') splits into the mean and the rest.
    sigmas = np.exp(np.clip(log_sigmas, -5, 5))
    of_mean = sigmas * np.sqrt((1 + (n - 1) * rho) / n)
    value += norm.logpdf(given.mean(axis=1), deltas, of_mean).sum(axis=1) + log_sigmas.sum(axis=1)
    squares = ((given - given.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    value += (-(n - 1) * log_sigmas - squares / (2 * (1 - rho) * sigmas**2)).sum(axis=1)
    return np.where(inside, value, -1e300)  # never taken


@pytest.mark.slow
def test_the_hierarchical_posterior_is_that_of_another_sampler() -> None:
    """Stretch moves of many walkers (Goodman & Weare 2010) on the density as it is printed."""
    rho, q = 0.3, 5
    given = np.array(sets(0.8, 1.0, q))
    rng = np.random.default_rng(0)
    start = np.concatenate(
        [[0.5, 0.0, 2.0, 2.0, 0.1], given.mean(axis=1), np.log(given.std(axis=1))]
    )
    spread = np.concatenate([[0.5, 0.5, 0.5, 0.5, 0.01], np.full(2 * q, 0.1)])
    walkers = start + spread * rng.standard_normal((400, len(start)))
    value = log_posterior(walkers, given, rho)
    halves, kept = (slice(0, 200), slice(200, 400)), []
    for step in range(3000):
        for mine, others in (halves, halves[::-1]):
            stretch = (1 + rng.random(200)) ** 2 / 2
            partners = walkers[others][rng.integers(0, 200, 200)]
            asked = partners + stretch[:, None] * (walkers[mine] - partners)
            new = log_posterior(asked, given, rho)
            gain = (len(start) - 1) * np.log(stretch) + new - value[mine]
            taken = np.log(rng.random(200)) < gain
            walkers[mine] = np.where(taken[:, None], asked, walkers[mine])
            value[mine] = np.where(taken, new, value[mine])
        if step >= 1000 and step % 10 == 0:
            kept.append(walkers[:, :3].copy())
    centre, log_scale, log_freedom = np.concatenate(kept).T
    freedom, scale = 1 + np.exp(log_freedom), np.exp(log_scale)
    worse, better = t.cdf(-ROPE, freedom, centre, scale), t.sf(ROPE, freedom, centre, scale)
    expected = np.column_stack([worse, 1 - worse - better, better])
    found = hierarchical_draws(given.tolist(), [rho] * q, ROPE)
    np.testing.assert_allclose(found.mean(axis=0), expected.mean(axis=0), atol=0.03)
    for share in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(
            np.quantile(found, share, axis=0), np.quantile(expected, share, axis=0), atol=0.09
        )
