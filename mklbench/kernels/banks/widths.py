"""Generated banks whose prices share more than distances: on features and on pairs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.generated import GeneratedBank
from mklbench.kernels.base import Array
from mklbench.kernels.bases import Basis
from mklbench.kernels.euclidean import squared_distances
from mklbench.kernels.functions import Gaussian
from mklbench.kernels.memory import NUMBER, Memory, Shape
from mklbench.kernels.row_factors import RowFactors
from mklbench.kernels.storage import pairs
from mklbench.kernels.storage.factored import ROWS
from mklbench.kernels.storage.nodes import Interpolation, Values, basis_of, feature_parts
from mklbench.kernels.storage.packed import pack, write_rows
from mklbench.kernels.storage.widths import doubled, half_of_square, root, sums
from mklbench.validation import check_training_features

# Kernels whose cores are kept where there are so many samples that there is no Gram matrix.
_MOST_CORES = 20_000
# Columns of the factors of so many widths on a feature which leave a share of 1e-5 out.
_REDUCED = 60
# With more nodes than this share of the samples, sums of Gaussians are formed on the samples.
_MOST_OF_SAMPLES = 0.25
# Features whose factors are there at once, and what rank a sum of Gaussians has on one, about.
_FEATURES, _RANK = 200, 32
# Coefficients from which on prices of pairs are taken from factors, and nodes up to which they are.
_FEW_SAMPLES, _MOST_NODES = 400, 150


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

    @classmethod
    def needs(cls, shape: Shape, n_groups: int, n_gammas: int) -> Memory:
        """Return the memory of so many gammas on so many features.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_groups, n_gammas : int
            d and k.
        """
        needed = super().needs(shape, n_groups, n_gammas)
        rank = min(shape.n, _REDUCED)
        roots = NUMBER * min(n_groups, _FEATURES) * _RANK * shape.n
        needed = replace(needed, combining=needed.combining + roots)
        if n_groups * n_gammas > _MOST_CORES:
            return needed
        streamed = 2.0 * shape.n * shape.d + float(n_groups * n_gammas) * rank**2
        return replace(needed, rank=n_groups * rank, streamed=NUMBER * streamed)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = self._check_coefficients(a)
        support = np.flatnonzero(vector)
        samples, coefficients = self._X[support], vector[support]
        return self._on_nodes(lambda basis: half_of_square(coefficients @ basis(samples)))

    def inner_products_with(self, K: Array) -> Array:
        def between(basis: Basis) -> Array:
            rows = basis(self._X)
            return doubled(pack(rows.T @ K @ rows), basis.rank)

        return self._on_nodes(between)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector, chosen = self._check_coefficients(a), self._check_kernels(kernels)
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

    def row_factors(self) -> RowFactors | None:
        if self.n_kernels > _MOST_CORES:
            return None
        functions = [Gaussian(gamma) for gamma in self._widths.gammas.tolist()]
        return RowFactors(self._X, feature_parts(self._X, functions))

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

    def _combine(self, weights: Array, out: Array, add: bool) -> None:
        by_feature = weights.reshape(len(self._groups), -1)
        in_use = np.flatnonzero(by_feature.any(axis=1))
        ranks = np.array([self._bases[g].rank for g in in_use.tolist()])
        many = ranks > _MOST_OF_SAMPLES * self.n_samples
        if many.any() or not len(in_use) or weights.min() < 0.0:  # there is no root
            others = in_use if len(in_use) and weights.min() < 0.0 else in_use[many]
            apart = np.zeros_like(by_feature)
            apart[others] = by_feature[others]
            super()._combine(apart.ravel(), out, add)
            in_use, add = np.setdiff1d(in_use, others), True
        for features in np.array_split(in_use, -(-len(in_use) // _FEATURES)) if len(in_use) else ():
            roots = np.hstack([self._root(g, by_feature[g]) for g in features.tolist()])
            for start in range(0, self.n_samples, ROWS):
                stop = min(start + ROWS, self.n_samples)
                write_rows(roots[start:stop] @ roots[:stop].T, start, out, add)
            add = True

    def _root(self, g: int, weights: Array) -> Array:
        """Return Z (n, rho) with Z Z' the sum of the kernels on feature g, weights >= 0."""
        distances = self._between_nodes(g)
        core, values = np.zeros_like(distances), np.empty_like(distances)
        gammas, shares = self._widths.weighted(weights)
        for gamma, share in zip(gammas.tolist(), shares.tolist(), strict=True):
            core += share * Gaussian(gamma).of_distances(distances, out=values)
        return self._bases[g](self._X) @ root(core)

    def _between_nodes(self, g: int) -> Array:
        """Return the squared distances (r, r) of the nodes of a feature."""
        nodes = self._bases[g].nodes[:, None]
        return squared_distances(nodes, nodes)


class PairWidths(GeneratedBank):
    """Gaussians of some widths on every pair of features: products of one a feature.

    A price of all pairs shares the work of a feature (`mklbench.kernels.storage.pairs`): with n_s
    coefficients that are not 0 it takes n_s rho^2 d^2 multiplications a width, rho being the rank
    of a Gaussian on one feature, 5 to 35; and where features are rough or the samples few,
    n_s (n_s + 1) / 2 times d^2.

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

    @classmethod
    def needs(cls, shape: Shape, n_groups: int, n_gammas: int) -> Memory:
        """Return the memory of so many gammas on so many pairs.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_groups, n_gammas : int
            Number of pairs, and k.
        """
        needed = super().needs(shape, n_groups, n_gammas)
        # The factors of a width, twice more side by side, and the sums of all pairs (i, j), (j, i).
        factors = 3.0 * shape.n * shape.d * _RANK
        sums = 3.0 * min(n_gammas, 100) * shape.d**2
        return replace(needed, active=needed.active + NUMBER * (factors + sums))

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = self._check_coefficients(a)
        support = np.flatnonzero(vector)
        bases = self._bases
        if len(support) < _FEW_SAMPLES or bases is None:
            return super().quadratic_forms(vector)
        samples, points = self._X[support], self._widths.points
        found = pairs.of_factors(bases, samples, points, vector[support])
        return self._priced(self._at_pairs(found))

    def _sums(self, X: Array, products: Array) -> Array:
        return self._at_pairs(pairs.of_samples(X, self._widths.points, products))

    def _at_pairs(self, found: Array) -> Array:
        """Return the entries (G, p) of matrices (p, d, d) that belong to pairs."""
        return found[:, *np.triu_indices(self._X.shape[1], 1)].T

    @cached_property
    def _bases(self) -> list[Interpolation | Values] | None:
        """Nodes of the features; None if one of them is too rough for these to pay."""
        narrowest = [Gaussian(float(self._widths.gammas.max()))]
        found = [basis_of(self._X, j, narrowest) for j in range(self._X.shape[1])]
        smooth = [basis for basis in found if basis is not None and basis.rank <= _MOST_NODES]
        return smooth if len(smooth) == len(found) else None


def _squares(points: Array) -> Array:
    """Return the half of the squared differences of `points` (r,)."""
    return pack(squared_distances(points[:, None], points[:, None]))
