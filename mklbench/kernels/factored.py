"""Kernels on single features as low-rank factors.

A smooth kernel on one real feature has a Gram matrix of small numerical rank (15 to 50 for
Gaussians, degree + 1 for polynomials), and all kernels on the same feature share one basis. With
B_j (n, r) a basis on the samples' values of feature j and S_m (r, r) the core of kernel m,

    K_m = B_j S_m B_j',    K_m a = B_j S_m t,    a' K_m a = t' S_m t    with  t = B_j' a,

so that all quadratic forms cost one matrix-vector product with the stacked bases, and one with the
cores. The factors take n * sum_j r_j numbers where the stack of Gram matrices takes M n^2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from mklbench.kernels.cross import Array
from mklbench.kernels.functions import Gaussian, KernelFunction, Linear, Polynomial, matrices
from mklbench.kernels.gram_matrices import diagonal, pack, write_rows

# Relative to the largest diagonal entry of a Gram matrix. What is dropped stays two orders below
# the 1e-10 to which a bank agrees with its dense twin.
_RANK_TOLERANCE = 1e-13

# With more nodes or fewer functions a decomposition finds a lower rank, which is worth its time.
_MOST_NODES, _SEVERAL = 80, 4
# Of polynomials that interpolate a kernel, to the largest value of the kernel.
_INTERPOLATION_ERROR = 1e-14
_ELLIPSES = np.geomspace(1.01, 100.0, 200)

# Ranks are rounded up to multiples of this, so that one batched product serves all features of one
# rounded rank in place of a Python loop over features.
_RANK_STEP = 4

# Rows of a combined matrix that one product forms: with the columns up to the diagonal only, half
# the work of the full product.
ROWS = 128


@dataclass(frozen=True)
class _Batch:
    """Features whose bases have one rounded rank r; what a basis lacks is zero.

    Attributes
    ----------
    features : ndarray of int of shape (f,)
        Indices of the features.
    bases : ndarray of shape (f, r, n)
        The transposes B_j'.
    cores : ndarray
        (f, k, r (r + 1) / 2) the triangles of the k cores of each feature.
    """

    features: NDArray[np.intp]
    bases: Array
    cores: Array

    @property
    def rank(self) -> int:
        return self.bases.shape[1]

    def combination(self, weights: Array) -> tuple[Array, Array] | None:
        """Return A, B (R, n) with A'B = sum_m weights_m K_m for weights (f, k), None if all 0."""
        active = np.flatnonzero(weights.any(axis=1))
        if not len(active):
            return None
        n = self.bases.shape[2]
        bases = self.bases if len(active) == len(self.bases) else self.bases[active]
        cores = np.array([weights[j] @ self.cores[j] for j in active])
        left = cores[:, _square(self.rank)] @ bases
        return left.reshape(-1, n), bases.reshape(-1, n)

    def pair_products(self, projections: Array) -> Array:
        """Return w with S . w = t' S t, (f, r (r + 1) / 2), for the projections t (f, r)."""
        products = np.zeros((len(projections), self.cores.shape[2]))
        for projection, triangle in zip(projections, products, strict=True):
            blas.dspr(self.rank, 2.0, projection, triangle, overwrite_ap=1)
        products[:, diagonal(self.rank)] *= 0.5
        return products


class FeatureFactors:
    """The factors of every kernel function on every single feature, and the operations on them.

    Kernel m = j * n_functions + k is function k on feature j.

    Attributes
    ----------
    n_samples, n_functions : int
        n and the number k of functions.
    ranks : ndarray of shape (d,)
        Rounded ranks of the features.
    """

    def __init__(self, batches: Sequence[_Batch]) -> None:
        self._batches = tuple(batches)
        self.n_samples = batches[0].bases.shape[2]
        self.n_functions = batches[0].cores.shape[1]
        d = sum(len(batch.features) for batch in batches)
        self.ranks = np.empty(d, dtype=np.intp)
        self._place = [(batches[0], 0)] * d
        for batch in batches:
            self.ranks[batch.features] = batch.rank
            for position, j in enumerate(batch.features):
                self._place[j] = (batch, position)

    @classmethod
    def of(
        cls, X: Array, functions: Sequence[KernelFunction], decomposed: bool = False
    ) -> FeatureFactors:
        """Return the factors of `functions` on the features of `X` (n, d).

        If `decomposed`, none are interpolated.
        """
        factors = [_factorise(column, functions, decomposed) for column in X.T]
        ranks = np.array([max(1, basis.shape[1]) for basis, _ in factors])
        rounded = -(-ranks // _RANK_STEP) * _RANK_STEP
        batches = []
        for rank in np.unique(rounded):
            features = np.flatnonzero(rounded == rank)
            bases = np.zeros((len(features), rank, len(X)))
            cores = np.zeros((len(features), len(functions), rank * (rank + 1) // 2))
            for position, j in enumerate(features):
                basis, unpadded = factors[j]
                bases[position, : basis.shape[1]] = basis.T
                # Zeros at the end of a triangle are zero rows of the matrix.
                for k, core in enumerate(unpadded):
                    triangle = pack(core)
                    cores[position, k, : len(triangle)] = triangle
            batches.append(_Batch(features, bases, cores))
        return cls(batches)

    def take(self, rows: NDArray[np.intp]) -> FeatureFactors:
        """Return the factors on the samples `rows` only; the cores are shared."""
        return FeatureFactors(
            [_Batch(b.features, np.take(b.bases, rows, axis=2), b.cores) for b in self._batches]
        )

    def centred(self) -> FeatureFactors:
        """Return the factors of H K_m H, H = I - 1 1'/n: those with the bases H B_j."""
        return FeatureFactors(
            [
                _Batch(b.features, b.bases - b.bases.mean(axis=2, keepdims=True), b.cores)
                for b in self._batches
            ]
        )

    def quadratic_forms(self, a: Array) -> Array:
        """Return a' K_m a (M,) for `a` (n,)."""
        forms = np.empty((len(self.ranks), self.n_functions))
        for batch in self._batches:
            projections = (batch.bases.reshape(-1, self.n_samples) @ a).reshape(-1, batch.rank)
            products = batch.pair_products(projections)
            forms[batch.features] = (batch.cores @ products[:, :, None])[:, :, 0]
        return forms.ravel()

    def products(self, a: Array, kernels: NDArray[np.intp]) -> Array:
        """Return the rows K_m a (k, n) for the indices `kernels` (k,)."""
        rows = np.empty((len(kernels), self.n_samples))
        projections: dict[int, Array] = {}
        for row, m in zip(rows, kernels.tolist(), strict=True):
            j, k = divmod(m, self.n_functions)
            batch, position = self._place[j]
            basis = batch.bases[position]
            if j not in projections:
                projections[j] = basis @ a
            core = batch.cores[position, k]
            np.dot(blas.dspmv(batch.rank, 1.0, core, projections[j]), basis, out=row)
        return rows

    def gram(self, m: int) -> Array:
        """Return K_m (n, n)."""
        j, k = divmod(m, self.n_functions)
        batch, position = self._place[j]
        basis = batch.bases[position]
        return basis.T @ (batch.cores[position, k][_square(batch.rank)] @ basis)

    def combine(self, weights: Array, out: Array, add: bool = False) -> None:
        """Write sum_m weights_m K_m into `out` (n, n), or add it."""
        by_feature = weights.reshape(len(self.ranks), self.n_functions)
        parts = [
            part
            for batch in self._batches
            if (part := batch.combination(by_feature[batch.features])) is not None
        ]
        for start in range(0, self.n_samples, ROWS):
            stop = min(start + ROWS, self.n_samples)
            rows = np.zeros((stop - start, stop))
            for left, right in parts:
                rows += left[:, start:stop].T @ right[:, :stop]
            write_rows(rows, start, out, add)

    def traces(self) -> Array:
        """Return the traces (M,)."""
        return self._contract(lambda bases: bases)

    def inner_products_with(self, K: Array) -> Array:
        """Return <K_m, K>_F (M,) for a symmetric matrix `K` (n, n)."""
        return self._contract(lambda bases: bases @ K)

    def inner_products(self) -> Array:
        """Return <K_m, K_l>_F (M, M)."""
        d, k = len(self.ranks), self.n_functions
        products = np.empty((d, k, d, k))
        for i, (batch, position) in enumerate(self._place):
            basis, triangles = batch.bases[position], batch.cores[position] * _doubling(batch.rank)
            lower = np.tril_indices(batch.rank)
            for j, (other, place) in enumerate(self._place[: i + 1]):
                between = basis @ other.bases[place].T
                projected = between @ other.cores[place][:, _square(other.rank)] @ between.T
                products[i, :, j] = triangles @ projected[:, lower[0], lower[1]].T
                products[j, :, i] = products[i, :, j].T
        return products.reshape(d * k, d * k)

    def _contract(self, apply: Callable[[Array], Array]) -> Array:
        """Return <S_m, apply(B_j') B_j>_F (M,)."""
        contracted = np.empty((len(self.ranks), self.n_functions))
        for batch in self._batches:
            projected = apply(batch.bases) @ batch.bases.transpose(0, 2, 1)
            i, j = np.tril_indices(batch.rank)
            triangles = projected[:, i, j] * _doubling(batch.rank)
            contracted[batch.features] = (batch.cores @ triangles[:, :, None])[:, :, 0]
        return contracted.ravel()


@lru_cache(maxsize=64)
def _square(rank: int) -> NDArray[np.intp]:
    """Return where entry (i, j) of a symmetric matrix (rank, rank) stands in its triangle."""
    high = np.maximum(*np.indices((rank, rank)))
    low = np.minimum(*np.indices((rank, rank)))
    return high * (high + 1) // 2 + low


@lru_cache(maxsize=64)
def _doubling(rank: int) -> Array:
    """Return 1 for the entries of a triangle on the diagonal, 2 for the others."""
    i, j = np.tril_indices(rank)
    return np.where(i == j, 1.0, 2.0)


def _factorise(
    column: Array, functions: Sequence[KernelFunction], decomposed: bool
) -> tuple[Array, Array]:
    """Return the basis (n, r) and the cores (len(functions), r, r) of one feature."""
    values, inverse = np.unique(column, return_inverse=True)
    needed = min(len(values), n_nodes(values, functions))
    if not decomposed and len(functions) >= _SEVERAL and needed <= _MOST_NODES:
        basis, cores = _on_nodes(values, int(needed), functions)
    else:
        basis, cores = _in_one_basis(values[:, None], functions)
    return basis[inverse], cores


def _on_nodes(
    values: Array, n_nodes: int, functions: Sequence[KernelFunction]
) -> tuple[Array, Array]:
    """Return a basis (u, r) that interpolates between r nodes, and their Gram matrices as cores.

    The nodes are the Chebyshev points of the interval of `values` (u,), or these themselves where
    they are no more. There is nothing to decompose.
    """
    nodes, basis = values, np.eye(n_nodes)
    if n_nodes < len(values):
        angles = np.pi * (np.arange(n_nodes) + 0.5) / n_nodes
        nodes = (values[0] + values[-1]) / 2 + (values[-1] - values[0]) / 2 * np.cos(angles)
        places = 2.0 * ((values - values[0]) / (values[-1] - values[0])) - 1.0
        basis = interpolation(places, angles)
    points = nodes[:, None]
    return basis, np.array(list(matrices(functions, points, points)))


def interpolation(places: Array, angles: Array) -> Array:
    """Return B (u, r) with B f(nodes) = f(values), by the barycentric formula.

    `places` (u,) are the values on the scale of [-1, 1], where the nodes are the cosines of
    `angles` (r,): differences of the values themselves may be too small to divide by.
    """
    weights = np.sin(angles)
    weights[1::2] *= -1.0
    distances = places[:, None] - np.cos(angles)
    row, column = np.nonzero(distances == 0.0)
    distances[row] = 1.0
    basis = weights / distances
    basis /= basis.sum(axis=1, keepdims=True)
    basis[row] = 0.0
    basis[row, column] = 1.0
    return basis


def n_nodes(values: Array, functions: Sequence[KernelFunction]) -> float:
    """Return how many nodes suffice on the interval of ascending `values`; inf if not known.

    On the ellipse of Bernstein with the parameter rho, of half-axes (rho +- 1 / rho) / 2 times the
    radius of the interval, a Gaussian is at most M = exp(gamma h^2), h being the shorter half-axis,
    and interpolated on p + 1 nodes to 4 M rho^-p / (rho - 1) (Trefethen, Approximation Theory and
    Approximation Practice, theorem 8.2).
    """
    if not all(isinstance(function, Gaussian | Polynomial | Linear) for function in functions):
        return np.inf
    gamma = max((f.factor for f in functions if isinstance(f, Gaussian)), default=0.0)
    degree = max((f.degree for f in functions if isinstance(f, Polynomial)), default=1)
    with np.errstate(over="ignore"):  # no number of nodes suffices
        heights = (values[-1] - values[0]) / 4.0 * (_ELLIPSES - 1.0 / _ELLIPSES)
        logarithm = gamma * heights**2 + np.log(4.0 / (_ELLIPSES - 1.0) / _INTERPOLATION_ERROR)
    return 1.0 + max(degree, float(np.ceil((logarithm / np.log(_ELLIPSES)).min())))


def _in_one_basis(points: Array, functions: Sequence[KernelFunction]) -> tuple[Array, Array]:
    """Return an orthonormal basis (u, r) of all `functions` on `points` (u, 1), and their cores."""
    factors = [_pivoted_cholesky(function, points) for function in functions]
    # The singular vectors of all factors together, each in its own units, span every kernel.
    scales = [np.abs(factor).max(initial=0.0) or 1.0 for factor in factors]
    spanning = np.vstack([factor / scale for factor, scale in zip(factors, scales, strict=True)])
    _, singular, right = np.linalg.svd(spanning, full_matrices=False)
    basis = right[singular > _RANK_TOLERANCE * singular.max(initial=0.0)].T
    triangles = [factor @ basis for factor in factors]
    return basis, np.array([triangle.T @ triangle for triangle in triangles])


def _pivoted_cholesky(function: KernelFunction, points: Array) -> Array:
    """Return L (r, u) with L'L the Gram matrix of `points` (u, 1) up to a small trace.

    Only r columns of the Gram matrix are evaluated. Each step takes the point that is explained
    worst, and stops at the numerical rank r (Fine & Scheinberg 2001).
    """
    residual = function.diagonal(points)
    limit = _RANK_TOLERANCE * residual.max()
    rows, rank = np.empty((min(len(points), 32), len(points))), 0
    while rank < len(points):
        pivot = int(residual.argmax())
        if residual[pivot] <= limit:
            break
        if rank == len(rows):
            rows = np.concatenate([rows, np.empty_like(rows)])
        row, known = rows[rank], rows[:rank]
        row[...] = function(points[pivot, None], points)[0]
        row -= known[:, pivot] @ known
        row /= np.sqrt(residual[pivot])
        residual -= row * row
        rank += 1
    return rows[:rank]
