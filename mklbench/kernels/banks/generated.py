"""Very many Gaussians, made when they are asked for: no Gram matrix, no factor of any is kept.

Such a bank has G groups of columns and k widths, M = G k kernels. What a search asks of all of
them is one pass over the groups, which shares the work of a group (`quadratic_forms`); of the few
kernels in use it asks for more, and these are formed from the samples. Beside the samples there are
numbers of the length M and, for combinations, a few of the size of one Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.banks.features import GroupedBank
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.contract import NUMBER, Memory
from mklbench.kernels.functions import Gaussian, squared_distances
from mklbench.kernels.gram_matrices import doubled, pack, write_rows
from mklbench.kernels.row_factors import Basis, basis_of, interpolation
from mklbench.validation import check_features, check_training_features

# Numbers a kernel that a bank and a search keep or pass around: its features, scales, weights and
# prices, sorted and unsorted.
_PER_KERNEL = 14
# Of the sum of |w_i|, that of an interpolation between gammas.
_ERROR = 1e-14
# Numbers of which exponentials are taken at once: they stay in a processor's cache.
_AT_ONCE = 2**16


class Widths:
    """The gammas of Gaussians on one group of columns, and those at which sums are evaluated.

    With products w_i and squared distances u_i >= 0, what prices and combinations ask of the
    Gaussians is f(gamma) = sum_i w_i exp(-gamma u_i) at k gammas. As a function of s = log gamma it
    is entire, and |f| <= sum_i |w_i| as long as |Im s| <= pi / 2, whatever the distances are. So p
    Chebyshev points of the interval of s suffice: with rho the parameter of the ellipse of
    Bernstein of this height, f is interpolated with an error of at most 4 rho^(1-p) / (rho - 1)
    sum_i |w_i| (Trefethen, Approximation Theory and Approximation Practice, theorem 8.2). From 0.5
    to 20 widths are told by 85 points, a thousand of them or a million.

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
        radius = (last - first) / 2
        self._from_points: Array | None = None  # (k, p)
        if radius > 0.0 and (p := _n_points(radius)) < len(self.gammas):
            angles = np.pi * (np.arange(p) + 0.5) / p
            self.points = np.exp(first + radius * (1.0 + np.cos(angles)))
            self._from_points = interpolation((logarithms - first) / radius - 1.0, angles)

    def __len__(self) -> int:
        return len(self.gammas)

    def at_gammas(self, sums: Array) -> Array:
        """Return sums (g, k) at the gammas of those (g, p) at the points."""
        return sums if self._from_points is None else sums @ self._from_points.T

    def weighted(self, weights: Array) -> tuple[Array, Array]:
        """Return gammas and weights whose sum of Gaussians is that of `weights` (k,), the fewer.

        With weight on more Gaussians than there are points, it is those of the points.
        """
        active = np.flatnonzero(weights)
        if self._from_points is None or len(active) <= len(self.points):
            return self.gammas[active], weights[active]
        return self.points, weights @ self._from_points


def _sums_at(gammas: Array, distances: Array, products: Array) -> Array:
    """Return sum_i products_i exp(-gamma distances_i) (p,) for each of `gammas` (p,).

    Parameters
    ----------
    gammas : ndarray of shape (p,)
        Factors of the distances.
    distances, products : ndarray of shape (N,)
        Squared distances, which may be infinite, and what the Gaussians are multiplied by.
    """
    total = np.zeros(len(gammas))
    columns = min(len(distances), _AT_ONCE)
    rows = max(1, _AT_ONCE // max(1, columns))
    buffer = np.empty((min(rows, len(gammas)), columns))
    for start in range(0, len(distances), max(1, columns)):
        part = slice(start, start + columns)
        for first in range(0, len(gammas), rows):
            chosen = slice(first, first + rows)
            values = buffer[: len(gammas[chosen]), : len(distances[part])]
            np.multiply(-gammas[chosen, None], distances[part], out=values)
            total[chosen] += np.exp(values, out=values) @ products[part]
    return total


def _n_points(radius: float) -> int:
    """Return how many points an interval of log gamma of this radius needs."""
    height = np.pi / 2 / radius  # (rho - 1 / rho) / 2
    rho = height + np.sqrt(1.0 + height**2)
    return 2 + int(np.log(4.0 / (rho - 1.0) / _ERROR) / np.log(rho))


class GeneratedBank(GroupedBank):
    """Gaussians of some widths on every one of some groups of columns, none of them kept.

    Kernels are ordered by group first: kernel m = g * len(gammas) + w has the factor w on group g.

    A price of all kernels takes n_s (n_s + 1) / 2 min(k, p) exponentials a group, with n_s the
    number of coefficients that are not 0 and p some 85 (`Widths`).

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    gammas : sequence of float
        Factors of the squared distance, > 0, ascending or descending.
    groups : sequence of tuple of int
        The columns of each group.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    def __init__(
        self, X: ArrayLike, gammas: Sequence[float] | Array, groups: Sequence[tuple[int, ...]]
    ) -> None:
        self._widths = Widths(np.asarray(gammas, dtype=np.float64))
        functions = [Gaussian(gamma) for gamma in self._widths.gammas.tolist()]
        super().__init__(check_training_features("X", X), functions, groups)

    def memory(self, n: int) -> Memory:
        # The samples, and while prices are taken those with coefficients, and sums at the points.
        samples = 2.0 * n * self._X.shape[1]
        at_points = min(len(self._widths), 100) * (len(self._groups) + len(self._widths))
        return Memory(NUMBER * (samples + at_points + _PER_KERNEL * self.n_kernels))

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        by_group = self._check_weights(d).reshape(len(self._groups), -1)
        in_use = np.flatnonzero(by_group.any(axis=1)).tolist()
        active = [(g, *self._widths.weighted(by_group[g])) for g in in_use]
        for part in self._row_blocks():
            rows = np.zeros((part.stop - part.start, part.stop))
            values = np.empty_like(rows)
            for g, gammas, shares in active:
                distances = self._distances(g, self._X[part], self._X[: part.stop])
                for gamma, share in zip(gammas.tolist(), shares.tolist(), strict=True):
                    Gaussian(gamma).of_distances(distances, out=values)
                    values *= share
                    rows += values
            write_rows(rows, part.start, combined)
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = self._check_coefficients(a)
        support = np.flatnonzero(vector)
        if not len(support):
            return np.zeros(self.n_kernels)
        points, at_points = self._widths.points, []
        for g in range(len(self._groups)):
            distances, a_g = self._condensed(g, self._X[support], vector[support])
            at_points.append(_sums_at(points, pack(distances), doubled(np.outer(a_g, a_g))))
        return self._widths.at_gammas(np.array(at_points)).ravel()

    def inner_products_with(self, K: Array) -> Array:
        products = doubled(np.asarray(K))
        at_points = [
            _sums_at(self._widths.points, pack(self._distances(g, self._X, self._X)), products)
            for g in range(len(self._groups))
        ]
        return self._widths.at_gammas(np.array(at_points)).ravel()

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = self._check_coefficients(a), self._check_kernels(kernels)
        found = np.empty((len(chosen), self.n_samples))
        support = np.flatnonzero(vector)
        for row, m in zip(found, chosen.tolist(), strict=True):
            g, width = divmod(m, len(self._widths))
            kernel = Gaussian(float(self._widths.gammas[width]))
            for part in self._row_blocks():
                distances = self._distances(g, self._X[part], self._X[support])
                row[part] = kernel.of_distances(distances, out=distances) @ vector[support]
        return found

    def traces(self) -> Array:
        return np.full(self.n_kernels, float(self.n_samples))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = self._X if Z is None else check_features("Z", Z, self._X.shape[1])
        return np.broadcast_to(1.0, (self.n_kernels, len(samples)))

    def top_k(self, prices: Array, count: int) -> Indices:
        # Of a group those at peaks along gamma: what is beside a peak is nearly the same kernel.
        by_group = prices.reshape(len(self._groups), -1)
        peaks = np.ones(by_group.shape, dtype=bool)
        peaks[:, 1:] &= by_group[:, 1:] >= by_group[:, :-1]
        peaks[:, :-1] &= by_group[:, :-1] > by_group[:, 1:]
        there = np.flatnonzero(peaks)
        return there[np.argsort(-prices[there], kind="stable")[:count]]

    def _kernels_changed(self) -> None:
        super()._kernels_changed()
        vars(self).pop("_bases", None)

    def _distances(self, g: int, X: Array, Z: Array) -> Array:
        """Return the squared distances (n, n_z) of samples in the columns of group g."""
        first, *others = self._groups[g]
        distances = squared_distances(X[:, [first]], Z[:, [first]])  # which loses no digit
        for j in others:
            distances += squared_distances(X[:, [j]], Z[:, [j]])
        return distances

    def _row_blocks(self) -> Iterator[slice]:
        """Yield blocks of rows of a Gram matrix that stay in a processor's cache."""
        size = max(8, _AT_ONCE // 2 // self.n_samples)
        for start in range(0, self.n_samples, size):
            yield slice(start, min(start + size, self.n_samples))

    def _condensed(self, g: int, X: Array, a: Array) -> tuple[Array, Array]:
        """Return the distances of points in group g, and coefficients of the same forms there.

        Those of a single feature are on its nodes (`mklbench.kernels.row_factors`), where these are
        fewer than the samples.
        """
        basis = self._bases.get(g)
        if basis is None or basis.rank >= len(X):
            return self._distances(g, X, X), a
        nodes = basis.nodes
        return squared_distances(nodes, nodes), a @ basis(X[:, list(self._groups[g])])

    @cached_property
    def _bases(self) -> dict[int, Basis]:
        """The nodes of single features that are not too rough for them, by group."""
        narrowest = [Gaussian(float(self._widths.gammas.max()))]
        found = {
            g: basis_of(self._X[:, group[0]], narrowest)
            for g, group in enumerate(self._groups)
            if len(group) == 1
        }
        return {g: basis for g, basis in found.items() if basis is not None}
