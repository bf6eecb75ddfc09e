"""Very many Gaussians, made when they are asked for: no Gram matrix, no factor of any is kept.

Such a bank has G groups of columns and k widths, M = G k kernels. What a search asks of all of
them is one pass over the groups, which shares the work of a group (`quadratic_forms`); of the few
kernels in use it asks for more, and these are formed from the samples. Beside the samples there are
numbers of the length M and, for combinations, a few of the size of one Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.cross import GroupsCross, Indices, NodesCross
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.euclidean import squared_distances
from mklbench.kernels.functions import Gaussian
from mklbench.kernels.memory import NUMBER, Memory, Shape, gram_bytes
from mklbench.kernels.naming import NamesOfGroups, column_names, gaussian_names
from mklbench.kernels.row_factors import Basis, RowFactors
from mklbench.kernels.storage.nodes import Interpolation, Values, basis_of, feature_parts
from mklbench.kernels.storage.packed import half_size, pack, unpack
from mklbench.kernels.storage.widths import (
    AT_ONCE,
    Widths,
    doubled,
    half_of_square,
    sums,
)
from mklbench.validation import check_features, check_training_features

# Numbers a kernel that a bank and a search keep or pass around: its features, scales, weights and
# prices, sorted and unsorted.
_PER_KERNEL = 14
# Kernels whose cores are kept where there are so many samples that there is no Gram matrix.
_MOST_CORES = 20_000
# With more nodes than this share of the samples, sums of Gaussians are formed on the samples.
_MOST_OF_SAMPLES = 0.25


class GeneratedBank(Bank):
    """Gaussians of some widths on every one of some groups of columns, none of them kept.

    Kernels are ordered by group first: kernel m = g * len(gammas) + w has the factor w on group g.

    A price of all kernels takes n_s (n_s + 1) / 2 min(k, p) exponentials a group, with n_s the
    number of coefficients that are not 0 and p some 85 (`mklbench.kernels.storage.widths`).

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
        self._widths, self._groups = Widths(np.asarray(gammas, dtype=np.float64)), tuple(groups)
        self._bind(check_training_features("X", X))
        owners = [group[0] if len(group) == 1 else -1 for group in self._groups]
        self.features = tuple(j for j in owners for _ in range(len(self._widths)))

    @classmethod
    def needs(cls, shape: Shape, n_groups: int, n_gammas: int) -> Memory:
        """Return the memory of so many gammas on so many groups.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_groups, n_gammas : int
            G and k.
        """
        n_kernels = n_groups * n_gammas
        kept = NUMBER * (shape.n * shape.d + 2.0 * n_kernels)
        # While prices are taken: the samples with coefficients, and sums at the points.
        pricing = NUMBER * (shape.n * shape.d + n_groups * min(n_gammas, 100))
        return Memory(
            n_kernels,
            kept,
            kept + NUMBER * 2.0 * n_kernels,
            # Distances, their exponentials and the sum are halves; distances are made whole.
            combining=gram_bytes(shape.n, 3.0),
            restricting=NUMBER * shape.n * shape.d,
            active=NUMBER * _PER_KERNEL * n_kernels + pricing,
        )

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        unpack(self._combined(self._check_weights(d)), combined)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        unpack(self._combined(self._check_weights(d)), out, add=True)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = np.asarray(a, dtype=np.float64)
        support = np.flatnonzero(vector)
        if not len(support):
            return np.zeros(self.n_kernels)
        return self._priced(self._sums(self._X[support], half_of_square(vector[support])))

    def inner_products_with(self, K: Array) -> Array:
        return self._priced(self._sums(self._X, doubled(pack(np.asarray(K)), len(K))))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = np.asarray(a, dtype=np.float64), np.asarray(kernels, dtype=np.intp)
        rows = np.empty((len(chosen), self.n_samples))
        support = np.flatnonzero(vector)
        owners, widths = np.divmod(chosen, len(self._widths))
        for g in np.unique(owners):
            distances = self._distances(g, self._X, self._X[support])
            for row in np.flatnonzero(owners == g):
                kernel = Gaussian(float(self._widths.gammas[widths[row]])).of_distances(distances)
                rows[row] = kernel @ vector[support]
        return rows

    def traces(self) -> Array:
        return np.full(self.n_kernels, float(self.n_samples))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = self._X if Z is None else check_features("Z", Z, self._X.shape[1])
        return np.broadcast_to(1.0, (self.n_kernels, len(samples)))

    def dearest(self, prices: Array, count: int) -> Indices:
        # Of a group those at peaks along gamma: what is beside a peak is nearly the same kernel.
        by_group = prices.reshape(len(self._groups), -1)
        peaks = np.ones(by_group.shape, dtype=bool)
        peaks[:, 1:] &= by_group[:, 1:] >= by_group[:, :-1]
        peaks[:, :-1] &= by_group[:, :-1] > by_group[:, 1:]
        there = np.flatnonzero(peaks)
        return there[np.argsort(-prices[there], kind="stable")[:count]]

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        active = np.flatnonzero(d)
        return self._between(self._X, active).cross(d[active], Z)

    def for_prediction(self, rows: Indices, kernels: Indices) -> GroupsCross:
        return self._between(self._X[rows], kernels)

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        names = column_names(self._X.shape[1], columns)
        where = tuple(" and ".join(names[j] for j in group) for group in self._groups)
        return NamesOfGroups(tuple(gaussian_names(self._widths.gammas.tolist())), where)

    def restrict(self, rows: ArrayLike) -> GeneratedBank:
        restricted = type(self).__new__(type(self))
        restricted._widths, restricted._groups = self._widths, self._groups
        restricted._bind(self._X[self._check_rows(rows)])
        restricted.features, restricted.groups = self.features, self.groups
        return restricted

    def _bind(self, X: Array) -> None:
        self._X = X
        self.n_samples, self.n_kernels = len(X), len(self._groups) * len(self._widths)

    def _between(self, X: Array, kernels: Indices) -> GroupsCross:
        owners, widths = np.divmod(kernels, len(self._widths))
        functions = [Gaussian(gamma) for gamma in self._widths.gammas[widths].tolist()]
        return GroupsCross(X, [self._groups[g] for g in owners.tolist()], functions)

    def _distances(self, g: int, X: Array, Z: Array) -> Array:
        """Return the squared distances (n, n_z) of samples in the columns of group g."""
        columns = list(self._groups[g])
        if len(columns) > 2:
            left = X[:, columns]
            return squared_distances(left, left if Z is X else Z[:, columns])
        # Of one or two columns no digit is lost.
        distances = squared_distances(X[:, columns[:1]], Z[:, columns[:1]])
        for j in columns[1:]:
            distances += squared_distances(X[:, [j]], Z[:, [j]])
        return distances

    def _combined(self, weights: Array) -> Array:
        """Return the half of sum_m weights_m K_m."""
        total = np.zeros(half_size(self.n_samples))
        by_group = weights.reshape(len(self._groups), -1)
        for g in np.flatnonzero(by_group.any(axis=1)).tolist():
            self._add(g, *self._widths.weighted(by_group[g]), total)
        return total

    def _add(self, g: int, gammas: Array, weights: Array, total: Array) -> None:
        """Add a sum of Gaussians on group g onto the half `total`."""
        distances = pack(self._distances(g, self._X, self._X))
        values = np.empty_like(distances)
        for gamma, weight in zip(gammas.tolist(), weights.tolist(), strict=True):
            Gaussian(gamma).of_distances(distances, out=values)
            values *= weight
            total += values

    def _sums(self, X: Array, products: Array) -> Array:
        """Return the inner products (G, p) of a half and the Gaussians at the points, on samples.

        Parameters
        ----------
        X : ndarray of shape (n_s, d)
            The samples.
        products : ndarray
            The half of a symmetric matrix (n_s, n_s), with what is off its diagonal twice.
        """
        return np.array(
            [
                sums(self._widths.points, pack(self._distances(g, X, X)), products)
                for g in range(len(self._groups))
            ]
        )

    def _priced(self, at_points: Array) -> Array:
        """Return the numbers (M,) of all kernels from those (G, p) at the points."""
        return self._widths.at_gammas(at_points).ravel()


class FeatureWidths(GeneratedBank):
    """Gaussians of very many widths on every single feature.

    The kernels of a feature interpolate between some r nodes of it, 60 of a normal one
    (`mklbench.kernels.storage.nodes`): a price of all takes r n_s divisions and r (r + 1) / 2
    min(k, p) exponentials a feature. Where a feature is too rough for that, its nodes are its
    values.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    gammas : sequence of float
        Factors of the squared difference, > 0, ascending or descending.
    """

    def __init__(self, X: ArrayLike, gammas: Sequence[float] | Array) -> None:
        samples = check_training_features("X", X)
        super().__init__(samples, gammas, [(j,) for j in range(samples.shape[1])])

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = np.asarray(a, dtype=np.float64)
        support = np.flatnonzero(vector)
        samples, coefficients = self._X[support], vector[support]
        return self._on_nodes(lambda basis: half_of_square(coefficients @ basis(samples)))

    def inner_products_with(self, K: Array) -> Array:
        def between(basis: Basis) -> Array:
            rows = basis(self._X)
            return doubled(pack(rows.T @ K @ rows), basis.rank)

        return self._on_nodes(between)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = np.asarray(a, dtype=np.float64), np.asarray(kernels, dtype=np.intp)
        found = np.empty((len(chosen), self.n_samples))
        owners, widths = np.divmod(chosen, len(self._widths))
        for g in np.unique(owners):
            basis = self._bases[g]
            rows = basis(self._X)
            distances, projected = self._between_nodes(g), vector @ rows
            own = np.flatnonzero(owners == g)
            gammas = self._widths.gammas[widths[own]].tolist()
            at_nodes = [Gaussian(gamma).of_distances(distances) @ projected for gamma in gammas]
            found[own] = np.array(at_nodes) @ rows.T
        return found

    def row_factors(self, landmarks: int | None = None) -> RowFactors | None:
        if self.n_kernels > _MOST_CORES:
            return None
        functions = [Gaussian(gamma) for gamma in self._widths.gammas.tolist()]
        parts, nodes = feature_parts(self._X, functions)
        return RowFactors(self._X, parts, NodesCross(functions, nodes))

    def _on_nodes(self, half: Callable[[Basis], Array]) -> Array:
        """Return the inner products (M,) of the cores of kernels with a half in their basis."""
        points = self._widths.points
        at_points = [sums(points, _squares(basis.nodes), half(basis)) for basis in self._bases]
        return self._priced(np.array(at_points))

    @cached_property
    def _bases(self) -> list[Interpolation | Values]:
        narrowest = [Gaussian(float(self._widths.gammas.max()))]
        return [
            basis_of(self._X, j, narrowest) or Values(j, np.unique(self._X[:, j]))
            for j in range(self._X.shape[1])
        ]

    def _add(self, g: int, gammas: Array, weights: Array, total: Array) -> None:
        basis = self._bases[g]
        if basis.rank > _MOST_OF_SAMPLES * self.n_samples:
            super()._add(g, gammas, weights, total)
            return
        distances = self._between_nodes(g)
        core = np.zeros_like(distances)
        for gamma, weight in zip(gammas.tolist(), weights.tolist(), strict=True):
            core += weight * Gaussian(gamma).of_distances(distances)
        rows = basis(self._X)
        total += pack(rows @ core @ rows.T)

    def _between_nodes(self, g: int) -> Array:
        """Return the squared distances (r, r) of the nodes of a feature."""
        nodes = self._bases[g].nodes[:, None]
        return squared_distances(nodes, nodes)


class PairWidths(GeneratedBank):
    """Gaussians of some widths on every pair of features: products of one a feature.

    With V (d, N) the values of the Gaussians of one width on single features at N pairs of samples,
    and w (N,) the products of their coefficients, the prices of all pairs of features are entries
    of V diag(w) V'. A price of all therefore takes n_s (n_s + 1) / 2 times d exponentials and d^2
    multiplications a width, where pairs of features one by one take d^2 / 2 exponentials.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples, of two features or more.
    gammas : sequence of float
        Factors of the squared distance, > 0, ascending or descending.

    Raises
    ------
    InputError
        If `X` is no finite matrix, or has one column only.
    """

    def __init__(self, X: ArrayLike, gammas: Sequence[float] | Array) -> None:
        samples = check_training_features("X", X)
        if samples.shape[1] < 2:
            raise InputError(
                "X has 1 column, but the kernels look at pairs of columns: pass two or more, or "
                "choose kernel=feature_widths."
            )
        super().__init__(samples, gammas, list(combinations(range(samples.shape[1]), 2)))

    def _sums(self, X: Array, products: Array) -> Array:
        points, d = self._widths.points, X.shape[1]
        columns = np.ascontiguousarray(X.T)
        found = np.zeros((len(points), d, d))
        for first, last in _row_blocks(len(X), max(1, 4 * AT_ONCE // d)):
            start, stop = half_size(first), half_size(last)
            i = np.repeat(np.arange(first, last), np.arange(first, last) + 1)
            j = np.arange(start, stop) - i * (i + 1) // 2
            with np.errstate(over="ignore"):  # to an infinite distance
                distances = columns[:, i]
                distances -= columns[:, j]
                distances *= distances
            own, values = products[start:stop], np.empty_like(distances)
            for gamma, at_gamma in zip(points.tolist(), found, strict=True):
                Gaussian(gamma).of_distances(distances, out=values)
                at_gamma += (values * own) @ values.T
        return found[:, *np.triu_indices(d, 1)].T


def _squares(points: Array) -> Array:
    """Return the half of the squared differences of `points` (r,)."""
    return pack(squared_distances(points[:, None], points[:, None]))


def _row_blocks(n: int, size: int) -> list[tuple[int, int]]:
    """Return where blocks of rows of a half start and stop, each of `size` entries or one row."""
    ends = half_size(0) + np.cumsum(np.arange(1, n + 1))
    blocks, first = [], 0
    while first < n:
        last = int(np.searchsorted(ends, half_size(first) + size, side="right"))
        last = min(n, max(last, first + 1))
        blocks.append((first, last))
        first = last
    return blocks
