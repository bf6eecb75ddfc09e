"""A Bayesian test with a region of practical equivalence: is a method worse, alike, or better?

A. Benavoli, G. Corani, J. Demšar, M. Zaffalon, "Time for a change: a tutorial for comparing
multiple classifiers through Bayesian analysis", JMLR 18, 2017. The package of its authors,
baycomp, compiles a program of Stan for the hierarchical test and is not used: here the same model
is drawn from by Gibbs sampling, in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

N_CHAINS, N_WARM, N_KEPT = 20, 50, 150
# Bounds of the uniform priors of the parameters of the gamma prior of the degrees of freedom.
ALPHA, BETA = (0.5, 5.0), (0.05, 0.15)
FREEDOMS = np.geomspace(1.05, 300.0, 60)


class Regions(NamedTuple):
    """How probable it is that each of three regions is the most probable one for a method.

    Attributes
    ----------
    worse, alike, better : float
        A difference below the region of practical equivalence, in it, above it; they add to 1.
    """

    worse: float
    alike: float
    better: float

    @classmethod
    def of(cls, draws: Array) -> Regions:
        """Count which region is the largest in draws (n, 3) of their probabilities."""
        shares = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
        return cls(*shares.tolist())


def hierarchical_draws(
    differences: Sequence[Sequence[float]],
    correlations: Sequence[float],
    rope: float,
    seed: int = 0,
) -> Array:
    """Draw from the posterior of the hierarchical correlated t-test.

    G. Corani, A. Benavoli, J. Demšar, F. Mangili, M. Zaffalon, "Statistical comparison of
    classifiers through Bayesian hierarchical modelling", Machine Learning 106, 2017. The
    differences on the splits of set i are normal with mean delta_i, variance s_i^2 and a common
    correlation, which overlapping splits have; the delta_i follow Student's t distribution around
    delta_0 with scale s_0 and nu degrees of freedom. The priors are the paper's: s_i and s_0
    uniform, delta_0 flat, nu - 1 gamma with uniform parameters.

    Parameters
    ----------
    differences : sequence of q sequences of float
        Difference of two methods on each split of each set, at least two sets of two splits.
    correlations : sequence of q float
        Share of the test part in all samples of a set.
    rope : float
        Differences between -rope and rope are none in practice.
    seed : int, default=0
        Of the draws.

    Returns
    -------
    draws : ndarray of shape (N_CHAINS * N_KEPT, 3)
        Probabilities that the difference on a new set is worse, alike, better.
    """
    from scipy.stats import t

    draws = _Gibbs(differences, correlations, rope, np.random.default_rng(seed)).run()
    centre, scale, freedom = draws
    worse = t.cdf(-rope, freedom, centre, scale)
    better = t.sf(rope, freedom, centre, scale)
    return np.column_stack([worse, 1.0 - worse - better, better])


class _Gibbs:
    """Gibbs sampler of the hierarchical model, with t as a mixture of normals.

    delta_i is normal around delta_0 with variance s_0^2 / l_i, and l_i is gamma(nu/2, nu/2). Given
    l and the s_i, the triple (s_0, delta_0, delta) is drawn at once, s_0 on a grid: one after the
    other they would hardly move where s_0 is small.
    """

    def __init__(
        self,
        differences: Sequence[Sequence[float]],
        correlations: Sequence[float],
        rope: float,
        generator: np.random.Generator,
    ) -> None:
        from scipy.special import gammaln

        rows = [np.asarray(row, dtype=np.float64) for row in differences]
        shares = np.asarray(correlations, dtype=np.float64)
        self._rng = generator
        self._n_splits = np.array([len(row) for row in rows])
        self._means = np.array([row.mean() for row in rows])
        self._powers = self._means ** np.arange(3)[:, None]
        squares = np.array([((row - row.mean()) ** 2).sum() for row in rows])
        # Where two methods agree on every split, they do so within the region: as in the paper.
        tiny = np.maximum(rope, 1e-9) ** 2 / 3.0
        squares = np.where(squares > 0.0, squares, tiny * self._n_splits)
        self._squares = squares / (1.0 - shares)
        # Variance of the mean of a set, in units of s_i^2.
        self._of_mean = (1.0 + (self._n_splits - 1) * shares) / self._n_splits
        spread = max(float(self._means.std()), float(np.sqrt(squares / self._n_splits).mean()))
        self._scales = spread * np.geomspace(1e-3, 1e3, 61)
        half = FREEDOMS / 2.0
        prior = _log_prior() + np.log(FREEDOMS)  # on a log grid
        self._of_freedoms = prior + len(rows) * (half * np.log(half) - gammaln(half))

    def run(self) -> tuple[Array, Array, Array]:
        """Return delta_0, s_0 and nu of all draws."""
        shape = (N_CHAINS, len(self._means))
        variances = np.tile(self._squares / self._n_splits, (N_CHAINS, 1))
        mixing = self._rng.gamma(2.0, 0.5, shape)
        kept = []
        for step in range(N_WARM + N_KEPT):
            centre, scale, deltas = self._draw_level(variances * self._of_mean, mixing)
            # The s_i^2 are inverse gamma under a uniform prior of s_i.
            misfit = self._squares + (self._means - deltas) ** 2 / self._of_mean
            variances = (misfit / 2.0) / self._rng.gamma((self._n_splits - 1) / 2.0, 1.0, shape)
            # nu is drawn on its grid, given l.
            exponent = (np.log(mixing) - mixing).sum(axis=1)[:, None] * (FREEDOMS / 2.0)
            freedom = FREEDOMS[self._choose(self._of_freedoms + exponent)][:, None]
            rate = (freedom + ((deltas - centre) / scale) ** 2) / 2.0
            mixing = np.maximum(self._rng.gamma((freedom + 1.0) / 2.0, 1.0 / rate), 1e-12)
            if step >= N_WARM:
                kept.append(np.hstack([centre, scale, freedom]))
        centre, scale, freedom = np.concatenate(kept).T
        return centre, scale, freedom

    def _draw_level(self, of_mean: Array, mixing: Array) -> tuple[Array, Array, Array]:
        """Draw s_0, then delta_0, then the delta_i, given the variances of the means and l."""
        # By set, chain and scale.
        spread = (1.0 / mixing.T)[:, :, None] * self._scales**2
        spread += of_mean.T[:, :, None]
        # One logarithm of a product of five takes a fifth of the time of theirs.
        products = [spread[i : i + 5].prod(axis=0) for i in range(0, len(spread), 5)]
        weights = np.reciprocal(spread, out=spread).reshape(len(spread), -1)
        total, first, second = (self._powers @ weights).reshape(3, *products[0].shape)
        best = first / total
        misfit = second - best * first
        density = -0.5 * (np.log(products).sum(axis=0) + np.log(total) + misfit)
        chosen = self._choose(density + np.log(self._scales))
        at = np.arange(len(chosen)), chosen
        scale = self._scales[chosen][:, None]
        centre = best[at][:, None] + self._normal(1) / np.sqrt(total[at])[:, None]
        precision = 1.0 / of_mean + mixing / scale**2
        mean = (self._means / of_mean + centre * mixing / scale**2) / precision
        return centre, scale, mean + self._normal(len(self._means)) / np.sqrt(precision)

    def _choose(self, log_density: Array) -> NDArray[np.int64]:
        """Draw a position of each row (chain) by its unnormalised log probabilities."""
        noise = -np.log(-np.log(1.0 - self._rng.random(log_density.shape)))  # as `gumbel`, faster
        return np.argmax(log_density + noise, axis=1)

    def _normal(self, n: int) -> Array:
        return self._rng.standard_normal((N_CHAINS, n))


@cache
def _log_prior() -> Array:
    """Return the log density of nu: nu - 1 is gamma(alpha, beta), both of which are uniform."""
    from scipy.stats import gamma

    alphas, betas = (np.linspace(low, high, 41) for low, high in (ALPHA, BETA))
    densities = gamma.pdf(
        (FREEDOMS - 1.0)[:, None, None], alphas[:, None], scale=1.0 / betas[None, :]
    )
    return np.log(densities.mean(axis=(1, 2)) + 1e-300)
