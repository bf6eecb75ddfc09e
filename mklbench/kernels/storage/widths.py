"""Sums over Gaussians of many widths, evaluated at few of them.

With products w_i and squared distances u_i >= 0, what prices and combinations ask of the Gaussians
on one group of columns is

    f(gamma) = sum_i w_i exp(-gamma u_i)

at k gammas. As a function of s = log gamma it is entire, and |f| <= sum_i |w_i| as long as
|Im s| <= pi / 2, whatever the distances are. So p Chebyshev points of the interval of s suffice:
with rho the parameter of the ellipse of Bernstein of this height, f is interpolated with an error
of at most 4 rho^(1-p) / (rho - 1) sum_i |w_i| (Trefethen, Approximation Theory and Approximation
Practice, theorem 8.2). From 0.5 to 20 widths are told by 85 points, a thousand of them or a
million.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mklbench.kernels.storage.factored import interpolation
from mklbench.kernels.storage.packed import diagonal, pack

Array = NDArray[np.float64]

# Of the sum of |w_i|.
_ERROR = 1e-14
# What a root leaves of the diagonal of a core, as a share of the largest entry.
_LEFT = 1e-13
# Numbers of which exponentials are taken at once: they stay in a processor's cache.
AT_ONCE = 2**16
# Gammas to which is interpolated at once.
_ROWS = 2**12


class Widths:
    """The gammas of Gaussians on one group of columns, and those at which sums are evaluated.

    Parameters
    ----------
    gammas : array_like of shape (k,)
        Factors of the squared distance, > 0.

    Attributes
    ----------
    gammas : ndarray of shape (k,)
        The same.
    points : ndarray of shape (p,)
        Where sums are evaluated: the gammas themselves where there are few.
    """

    def __init__(self, gammas: Array) -> None:
        self.gammas = self.points = np.asarray(gammas, dtype=np.float64)
        logarithms = np.log(self.gammas)
        first, last = float(logarithms.min()), float(logarithms.max())
        self._first, self._radius = first, (last - first) / 2
        self._angles: Array | None = None
        if self._radius > 0.0 and (p := _n_points(self._radius)) < len(self.gammas):
            self._angles = np.pi * (np.arange(p) + 0.5) / p
            self.points = np.exp(first + self._radius * (1.0 + np.cos(self._angles)))

    def __len__(self) -> int:
        return len(self.gammas)

    def at_gammas(self, sums: Array) -> Array:
        """Return sums (g, k) at the gammas of those (g, p) at the points."""
        if self._angles is None:
            return sums
        found = np.empty((len(sums), len(self)))
        for part, matrix in self._interpolations(self._angles):
            np.matmul(sums, matrix.T, out=found[:, part])
        return found

    def weighted(self, weights: Array) -> tuple[Array, Array]:
        """Return gammas and weights whose sum of Gaussians is that of `weights` (k,), the fewer.

        With weight on more Gaussians than there are points, it is those of the points.
        """
        active = np.flatnonzero(weights)
        if self._angles is None or len(active) <= len(self.points):
            return self.gammas[active], weights[active]
        at_points = np.zeros(len(self.points))
        for part, matrix in self._interpolations(self._angles):
            at_points += weights[part] @ matrix
        return self.points, at_points

    def _interpolations(self, angles: Array) -> Iterator[tuple[slice, Array]]:
        """Yield the matrices from the points to some of the gammas each, which are made anew."""
        for start in range(0, len(self), _ROWS):
            part = slice(start, start + _ROWS)
            places = (np.log(self.gammas[part]) - self._first) / self._radius - 1.0
            yield part, interpolation(places, angles)


def sums(gammas: Array, distances: Array, products: Array) -> Array:
    """Return sum_i products_i exp(-gamma distances_i) (p,) for each of `gammas` (p,).

    Parameters
    ----------
    gammas : ndarray of shape (p,)
        Factors of the distances.
    distances, products : ndarray of shape (N,)
        Squared distances, which may be infinite, and what the Gaussians are multiplied by.
    """
    total = np.zeros(len(gammas))
    columns = min(len(distances), AT_ONCE)
    rows = max(1, AT_ONCE // max(1, columns))
    buffer = np.empty((min(rows, len(gammas)), columns))
    for start in range(0, len(distances), max(1, columns)):
        part = slice(start, start + columns)
        for first in range(0, len(gammas), rows):
            chosen = slice(first, first + rows)
            values = buffer[: len(gammas[chosen]), : len(distances[part])]
            np.multiply(-gammas[chosen, None], distances[part], out=values)
            total[chosen] += np.exp(values, out=values) @ products[part]
    return total


def root(core: Array) -> Array:
    """Return L (r, rho) with L L' a core (r, r), but for its rounding (pivoted Cholesky)."""
    lower, pivots, rank, _ = lapack.dpstrf(core, tol=_LEFT * core.diagonal().max(), lower=1)
    found = np.empty((len(core), rank))
    found[pivots - 1] = np.tril(lower)[:, :rank]
    return found


def doubled(half: Array, n: int) -> Array:
    """Return the half of a symmetric matrix (n, n) with what is off its diagonal twice, in place.

    Its inner product with the half of another one is that of the matrices.
    """
    half *= 2.0
    half[diagonal(n)] *= 0.5
    return half


def half_of_square(t: Array) -> Array:
    """Return the half of t t' for `t` (r,), with what is off its diagonal twice."""
    return doubled(pack(np.outer(t, t)), len(t))


def _n_points(radius: float) -> int:
    """Return how many points an interval of log gamma of this radius needs."""
    height = np.pi / 2 / radius  # (rho - 1 / rho) / 2
    rho = height + np.sqrt(1.0 + height**2)
    return 2 + int(np.log(4.0 / (rho - 1.0) / _ERROR) / np.log(rho))
