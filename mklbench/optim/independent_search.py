"""A second search in a family, of another kind than the one that generates kernels.

Column generation ends where its own search (`mklbench.optim.kernel_search`) finds no kernel beyond
the tolerance. That search climbs from the family's own starts and from the kernels at hand, and may
miss the same local maximum of T(theta) = 1/2 a' K_theta a every time. Here many kernels are drawn
and priced in one pass, without gradients: kernels beside those at hand, with parameters that are
perturbed, exchanged or replaced, and sparse ones anywhere in the box. Only the best are climbed
from. What it finds beyond says how far the solution is from the optimum of the family, as far as
such a search can tell.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds

from mklbench.kernels.base import Family
from mklbench.optim.kernel_search import DECADES, Found, climb, distinct
from mklbench.solution import Mixture

Array = NDArray[np.float64]

# So many of all draws are sparse kernels, the others beside the kernels at hand.
_SPARSE = 0.4
# Parameters are perturbed by factors exp(s N(0, 1)), or so many of a kernel are replaced.
_SPREAD, _REPLACED = 0.5, 2.0
# Climbs from the best draws beside different kernels at hand, and as many from the sparse ones.
_CLIMBS = 12
# They go on for longer than those of the search that generates: nothing comes after them.
_GROWTH, _ITERATIONS = 1e-5, 40
# A look while generation goes on has this share of the draws.
_LOOK = 0.2


class IndependentSearch:
    """Searches in one family, each with other draws.

    Parameters
    ----------
    family : Family
        On the training samples, with a bounded box.
    draws : int
        Kernels drawn for each search.
    """

    def __init__(self, family: Family, draws: int) -> None:
        self._family = family
        self._n_sparse = round(_SPARSE * draws)
        self._n_beside = draws - self._n_sparse
        self._random = np.random.default_rng(1)  # another than that of the first search
        self._box = Bounds(family.lower, family.upper)

    def run(self, dual_coef: Array, known: Mixture) -> list[Found]:
        """Return local maxima of T, the largest first, no two of them the same.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            Alpha o y.
        known : Mixture
            The kernels at hand with their weights.
        """
        return self._search(dual_coef, known, self._n_beside, self._n_sparse)

    def look(self, dual_coef: Array, known: Mixture) -> list[Found]:
        """Do so with a fifth of the draws, for a search that goes on."""
        counts = (math.ceil(_LOOK * count) for count in (self._n_beside, self._n_sparse))
        return self._search(dual_coef, known, *counts)

    def _search(
        self, dual_coef: Array, known: Mixture, n_beside: int, n_sparse: int
    ) -> list[Found]:
        support = np.flatnonzero(dual_coef)
        family, a = self._family.restrict(support).rough(), dual_coef[support]
        beside, origins = self._beside(known.thetas[known.weights > 0], n_beside)
        drawn = np.concatenate([beside, self._sparse(n_sparse)])
        drawn = np.clip(drawn, self._family.lower, self._family.upper, out=drawn)
        prices = family.values(drawn, a)
        by_price = np.argsort(-prices, kind="stable")
        is_beside = by_price < len(beside)
        # The best one beside each kernel: the best of all would lead to the same few maxima.
        near, far = by_price[is_beside], by_price[~is_beside]
        _, firsts = np.unique(origins[near], return_index=True)
        chosen = [*near[np.sort(firsts)][:_CLIMBS], *far[:_CLIMBS]]
        return distinct(
            climb(family, self._box, a, drawn[i], float(prices[i]), _GROWTH, _ITERATIONS)
            for i in chosen
        )

    def _beside(self, thetas: Array, count: int) -> tuple[Array, NDArray[np.intp]]:
        """Return draws (count, M) beside the kernels at hand, and beside which (count,) each is."""
        random, upper = self._random, self._family.upper
        origins = np.resize(random.permutation(len(thetas)), count)
        perturbed, crossed, changed = np.array_split(thetas[origins], 3)
        perturbed *= np.exp(_SPREAD * random.standard_normal(perturbed.shape))
        others = thetas[random.integers(len(thetas), size=len(crossed))]
        share = random.uniform(size=(len(crossed), 1))
        np.copyto(crossed, others, where=random.uniform(size=crossed.shape) < share)
        # A parameter that is replaced is dropped, halved, doubled or, as often, drawn anew.
        shape = changed.shape
        factors = random.choice(np.array([0.0, 0.5, 2.0]), size=shape)
        values = np.where(
            random.uniform(size=shape) < 0.5, changed * factors, self._logarithmic(shape) * upper
        )
        replaced = random.uniform(size=shape) < _REPLACED / shape[1]
        np.copyto(changed, values, where=replaced)
        return np.concatenate([perturbed, crossed, changed]), origins

    def _sparse(self, count: int) -> Array:
        """Return kernels (count, M) with 1 to M parameters above 0, few as often as many."""
        shape = count, self._family.n_kernels
        share = shape[1] ** -self._random.uniform(size=(shape[0], 1))
        used = self._random.uniform(size=shape) < share
        used[np.arange(shape[0]), self._random.integers(shape[1], size=shape[0])] = True
        return np.where(used, self._logarithmic(shape) * self._family.upper, 0.0)

    def _logarithmic(self, shape: tuple[int, ...]) -> Array:
        """Return shares of the box on a logarithmic scale, as widths of kernels are."""
        return 10.0 ** self._random.uniform(-DECADES, 0.0, shape)
