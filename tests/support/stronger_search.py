"""A search for kernels that infinite kernel learning has left out, written apart from it.

It prices by the definition, on products of Gaussians only, and shares no code with the package but
the solver of the finite problem.
"""

from __future__ import annotations

import numpy as np
from narrowing import present
from numpy.typing import NDArray
from scipy.optimize import differential_evolution, minimize

from mklbench.algorithms import mkl
from mklbench.kernels import FamilyBank, product_gaussians
from mklbench.solution import Solution

Array = NDArray[np.float64]

# Draws beside each kernel found, sparse draws anywhere, and the best of each that are climbed from.
_BESIDE, _ANYWHERE, _CLIMBS = 300, 4000, 12
# Products of two and of three kernels found, so many of each.
_PRODUCTS = 1000
# Ascents coordinate by coordinate, half of them from nothing and half from a kernel found, three of
# whose parameters are dropped; values that a parameter may take, and rounds through all of them.
_ASCENTS, _VALUES, _ROUNDS = 40, 25, 4
_LEAST_GAMMA = 1e-4


def decrease_by_more_search(X: Array, y: Array, C: float, box: float, found: Solution) -> float:
    """Return by what share J falls when the finite problem is solved with what is found here.

    300 perturbations theta * exp(0.5 N(0, 1)) of every kernel found, sparse log-uniform draws,
    products of two or three kernels found, long climbs from the best of all these and from the best
    beside each kernel, differential evolution, and ascents coordinate by coordinate.
    """
    rng = np.random.default_rng(77)
    d = X.shape[1]
    thetas, a = present(found.thetas), found.dual_coef
    support = np.flatnonzero(a)
    i, j = np.triu_indices(len(support), 1)
    squares = (X[support[i]] - X[support[j]]) ** 2
    signed = a[support[i]] * a[support[j]]
    rough, rough_signed = squares.astype(np.float32), signed.astype(np.float32)

    def priced(drawn: Array) -> Array:
        """Return a' K a / 2 without the diagonal, which all kernels share."""
        parts = np.array_split(-drawn.astype(np.float32), 1 + len(drawn) // 100)
        return np.concatenate([np.exp(part @ rough.T) @ rough_signed for part in parts])

    def descended(theta: Array) -> tuple[float, Array]:
        terms = signed * np.exp(-squares @ theta)
        return -float(terms.sum()), terms @ squares

    def climbed(start: Array) -> Array:
        options = {"maxiter": 200, "ftol": 1e-9}
        bounds = [(0.0, box)] * d
        ended = minimize(
            descended, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        return np.asarray(ended.x)

    def ascended(start: Array) -> Array:
        theta = start.copy()
        values = np.append(0.0, np.geomspace(_LEAST_GAMMA * box, box, _VALUES))
        for _ in range(_ROUNDS):
            for m in rng.permutation(d):
                others = np.where(np.arange(d) == m, 0.0, theta)
                terms = rough_signed * np.exp(-(rough @ others.astype(np.float32)))
                along = np.exp(-np.outer(values, rough[:, m]).astype(np.float32))
                theta[m] = values[np.argmax(along @ terms)]
        return theta

    def dropped() -> Array:
        theta = thetas[rng.integers(len(thetas))].copy()
        theta[rng.choice(d, min(3, d), replace=False)] = 0.0
        return theta

    def evolved(exponents: Array) -> float:
        return -float(priced(_parameters(exponents)[None])[0])

    factors = np.exp(0.5 * rng.standard_normal((_BESIDE, len(thetas), d)))
    beside = np.clip(thetas * factors, 0.0, box)
    prices = priced(beside.reshape(-1, d)).reshape(_BESIDE, -1)
    shape = (_ANYWHERE, d)
    anywhere = 10.0 ** rng.uniform(np.log10(_LEAST_GAMMA), np.log10(box), shape)
    anywhere *= rng.uniform(size=shape) < rng.uniform(size=(_ANYWHERE, 1))
    factors_of = [rng.integers(len(thetas), size=(_PRODUCTS, count)) for count in (2, 3)]
    products = np.concatenate([thetas[factors].sum(axis=1) for factors in factors_of])
    products = np.minimum(products, box)
    evolution = differential_evolution(
        evolved,
        [(np.log10(_LEAST_GAMMA) - 1.0, np.log10(box))] * d,
        maxiter=40,
        popsize=5,
        rng=rng,
        polish=False,
        tol=0.0,
    )
    starts = [
        *beside.reshape(-1, d)[np.argsort(-prices.ravel())[:_CLIMBS]],
        *beside[prices.argmax(axis=0), np.arange(len(thetas))],
        *anywhere[np.argsort(-priced(anywhere))[:_CLIMBS]],
        *products[np.argsort(-priced(products))[:_CLIMBS]],
        _parameters(evolution.x),
        *(ascended(start) for start in np.zeros((_ASCENTS // 2, d))),
        *(ascended(dropped()) for _ in range(_ASCENTS // 2)),
    ]
    ends = np.unique(np.round([climbed(start) for start in starts], 9), axis=0)
    bank = FamilyBank(product_gaussians(X, gamma_max=box), np.concatenate([thetas, ends]))
    return 1.0 - mkl.solve(bank, y, C=C, tol=1e-5).objective / found.objective


def _parameters(exponents: Array) -> Array:
    """Return powers of ten, 0 below the least gamma: kernels of few features are to be found."""
    return np.where(exponents < np.log10(_LEAST_GAMMA), 0.0, 10.0**exponents)
