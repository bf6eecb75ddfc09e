"""Banks of kernels on single features: as low-rank factors, and linear ones from the samples alone.

A smooth kernel on one real feature has a Gram matrix of small numerical rank (15 to 50 for
Gaussians, degree + 1 for polynomials), and all kernels on the same feature share one basis. With
B_j (n, r) a basis on the samples' values of feature j and S_m (r, r) the core of kernel m,

    K_m = B_j S_m B_j',    K_m a = B_j S_m t,    a' K_m a = t' S_m t    with  t = B_j' a,

so that all quadratic forms cost one matrix-vector product with the stacked bases, and one with the
cores. The factors take n * sum_j r_j numbers where the stack of Gram matrices takes M n^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, qr

from mklbench.kernels.banks.dense import DenseBank
from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import NUMBER, Memory
from mklbench.kernels.functions import KernelFunction, Linear, check_values, matrices
from mklbench.kernels.gram_matrices import write_rows
from mklbench.kernels.naming import column_names, function_names, named
from mklbench.kernels.row_factors import (
    MANY,
    Part,
    RowFactors,
    as_they_are,
    basis_of,
    feature_parts,
    on_values,
    rank_of,
)
from mklbench.validation import (
    check_features,
    check_not_empty,
    check_scale,
    check_training_features,
)

# Directions of the cores below this share of the largest are rounding.
_RANK_TOLERANCE = 1e-14
# With more nodes or fewer functions than these fewer directions are worth the time to find them.
_MANY_NODES, _SEVERAL = 80, 4
# Rows of a combined matrix that one product forms: with the columns up to the diagonal only, half
# the work of the full product.
_ROWS = 128
# The rank of Gaussians on one feature with many values, about; for the memory that they will need.
_RANK = 32
# Features of one matrix product. What it forms on the way then takes less memory than the samples,
# of which there may be few with thousands of features.
_FEATURES_AT_ONCE = 256
# Of a feature: sums of products of two are then within single precision, in which LIBSVM works.
_LARGEST = 1e15


def _factors_of(X: Array, functions: Sequence[KernelFunction]) -> tuple[Array, list[Array]]:
    """Return the factors of functions on every feature: B_j' (r_j, n), stacked, and the cores."""
    bases, cores = [], []
    for column in X.T:
        values, inverse = np.unique(column, return_inverse=True)
        basis = basis_of(values, functions) or on_values(values)
        on_nodes = np.array(list(matrices(functions, basis.nodes, basis.nodes)))
        rows = basis(values[:, None])
        if len(functions) < _SEVERAL or basis.rank > _MANY_NODES:
            directions = _directions(on_nodes)
            rows, on_nodes = rows @ directions, directions.T @ on_nodes @ directions
        bases.append(rows[inverse].T)
        cores.append(on_nodes)
    return np.vstack(bases), cores


def _by_feature(stacked: Array, cores: Sequence[Array]) -> list[Array]:
    """Return the rows (r_j, ...) of each feature of what has R rows for all of them."""
    return np.split(stacked, np.cumsum([core.shape[1] for core in cores])[:-1])


def _write_product(A: Array, B: Array, out: Array) -> None:
    """Write A'B, a symmetric matrix, into `out` (n, n)."""
    for start in range(0, len(out), _ROWS):
        stop = start + _ROWS
        write_rows(A[:, start:stop].T @ B[:, :stop], start, out)


def _directions(cores: Array) -> Array:
    """Return an orthonormal basis (q, r) of all that the cores (k, q, q) reach, up to rounding."""
    scales = [np.abs(core).max() or 1.0 for core in cores]  # each core in its own units
    rows = np.vstack([core / scale for core, scale in zip(cores, scales, strict=True)])
    # The cores are symmetric, so their columns are the rows: of k q rows q triangular ones say all.
    triangle = qr(rows, mode="r", check_finite=False)[0][: cores.shape[1]]
    directions, reached, _ = qr(triangle.T, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(reached))
    return directions[:, sizes > _RANK_TOLERANCE * sizes[0]]


class GroupedBank(Bank):
    """Every kernel function on every one of some groups of columns, each made when it is used.

    Kernels are ordered by group first: kernel m = g * len(functions) + k is function k on group g.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        Kernel functions, applied to each group on its own.
    groups : sequence of tuple of int
        The columns of each group.
    """

    def __init__(
        self, X: Array, functions: Sequence[KernelFunction], groups: Sequence[tuple[int, ...]]
    ) -> None:
        self._X, self._functions, self._groups = X, tuple(functions), tuple(groups)
        self.n_samples, self.n_kernels = len(X), len(self._groups) * len(self._functions)
        owners = [group[0] if len(group) == 1 else -1 for group in self._groups]
        self.features = tuple(j for j in owners for _ in self._functions)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        active = np.flatnonzero(d)
        return self._between(self._X, active).cross(d[active], Z)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names, functions = column_names(self._X.shape[1], columns), function_names(self._functions)
        where = [" and ".join(names[j] for j in group) for group in self._groups]
        return tuple(named(function, group) for group in where for function in functions)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Bank:
        samples = self._X[self._check_rows(rows)]
        if kernels is not None:
            return self._between(samples, kernels)
        taken = copy(self)
        taken._kernels_changed()
        taken._X, taken.n_samples = samples, len(samples)
        return taken

    def _between(self, X: Array, kernels: Indices) -> DenseBank:
        """Return some of the kernels on samples (n, d), each on its columns alone."""
        groups, functions = np.divmod(kernels, len(self._functions))
        chosen = [self._functions[k] for k in functions.tolist()]
        return DenseBank(X, chosen, [self._groups[g] for g in groups.tolist()])


class FeatureBank(GroupedBank):
    """Every kernel function on every single feature.

    Kernels are ordered by feature first: kernel m = j * len(functions) + k is function k on
    feature j.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        Kernel functions, applied to each feature on its own.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    def __init__(self, X: ArrayLike, functions: Sequence[KernelFunction]) -> None:
        check_not_empty("functions", functions)
        samples = check_training_features("X", X)
        super().__init__(samples, functions, [(j,) for j in range(samples.shape[1])])
        for j in range(samples.shape[1]):
            check_values(self._functions, samples[:, [j]], j)

    def memory(self, n: int) -> Memory:
        d, k, rank = self._X.shape[1], len(self._functions), min(n, _RANK)
        factors = NUMBER * d * (n * rank + k * rank**2)
        # Combined are the bases times the cores.
        return Memory(NUMBER * n * d + 3 * factors, d * rank_of(n, k))

    def row_factors(self) -> RowFactors:
        return self._on_nodes

    @cached_property
    def _on_nodes(self) -> RowFactors:
        return RowFactors(self._X, feature_parts(self._X, self._functions))

    def _kernels_changed(self) -> None:
        super()._kernels_changed()
        vars(self).pop("_on_nodes", None)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        bases, cores = self._factors
        weights = self._check_weights(d).reshape(len(cores), -1)
        right, left = [bases[:0]], [bases[:0]]
        for basis, core, own in zip(_by_feature(bases, cores), cores, weights, strict=True):
            if own.any():
                right.append(basis)
                left.append(np.tensordot(own, core, 1) @ basis)
        _write_product(np.vstack(left), np.vstack(right), combined)
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        bases, cores = self._factors
        t = _by_feature(bases @ self._check_coefficients(a), cores)
        return np.concatenate([core @ own @ own for core, own in zip(cores, t, strict=True)])

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        chosen, vector = self._check_kernels(kernels), self._check_coefficients(a)
        bases, cores = self._factors
        each = _by_feature(bases, cores)
        rows = np.empty((len(chosen), len(vector)))
        for row, m in zip(rows, chosen.tolist(), strict=True):
            j, k = divmod(m, len(self._functions))
            np.dot(cores[j][k] @ (each[j] @ vector), each[j], out=row)
        return rows

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = self._X if Z is None else check_features("Z", Z, self._X.shape[1])
        return np.array(
            [f.diagonal(column[:, None]) for column in samples.T for f in self._functions]
        )

    def inner_products_with(self, K: Array) -> Array:
        bases, cores = self._factors
        images = _by_feature(bases @ K, cores)
        each = zip(cores, images, _by_feature(bases, cores), strict=True)
        return np.concatenate(
            [np.tensordot(core, image @ basis.T, 2) for core, image, basis in each]
        )

    def inner_products(self, *, centred: bool = False) -> Array:
        bases, cores = self._factors
        if centred:  # H K_m H has the basis H B_j
            bases = bases - bases.mean(axis=1, keepdims=True)
        each, d, k = _by_feature(bases, cores), len(cores), len(self._functions)
        products = np.empty((d, k, d, k))
        for i, basis in enumerate(each):
            for j, other in enumerate(each[: i + 1]):
                between = basis @ other.T
                projected = between @ cores[j] @ between.T
                products[i, :, j] = np.tensordot(cores[i], projected, ((1, 2), (1, 2)))
                products[j, :, i] = products[i, :, j].T
        return products.reshape(d * k, d * k)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Bank:
        taken = super().take(rows, kernels)
        # Of few samples the cores are those of the whole bank, whatever it was asked before.
        is_known = self.n_samples < MANY or "_factors" in vars(self)
        if is_known and isinstance(taken, FeatureBank):
            bases, cores = self._factors
            taken._factors = np.take(bases, self._check_rows(rows), axis=1), cores
        return taken

    @cached_property
    def _factors(self) -> tuple[Array, list[Array]]:
        """The factors, made when first asked for: rows of others may be all that is needed."""
        return _factors_of(self._X, self._functions)


class LinearBank(Bank):
    """The kernels k_m(x, z) = x_m z_m, one a feature, whose Gram matrices are of rank one.

    With x_m (n,) the column of feature m,

        sum_m d_m K_m = X diag(d) X',    a' K_m a = (x_m'a)^2,    <K_m, K>_F = x_m' K x_m,

    and nothing is kept but X: M n numbers, where the stack of Gram matrices takes M n^2.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    def __init__(self, X: ArrayLike) -> None:
        samples = check_features("X", X)
        for j in range(samples.shape[1]):
            check_scale("X", samples[:, [j]], j, largest=_LARGEST)
        self._columns = np.ascontiguousarray(samples.T)  # a feature's numbers stand side by side
        self.n_samples, self.n_kernels = samples.shape
        self.features, self._n_features = tuple(range(self.n_kernels)), self.n_kernels

    def memory(self, n: int) -> Memory:
        return Memory(3 * NUMBER * n * self.n_kernels, self.n_kernels)

    def row_factors(self) -> RowFactors:
        basis = as_they_are(1)
        parts = [Part.of(basis, [Linear()], [m], slice(m, m + 1)) for m in range(self.n_kernels)]
        return RowFactors(self._columns.T, parts)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        weights = self._check_weights(d)
        active = np.flatnonzero(weights)
        columns = self._columns[active]
        _write_product(columns * weights[active, None], columns, combined)
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.square(self._columns @ self._check_coefficients(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        columns = self._columns[self._check_kernels(kernels)]
        return columns * (columns @ self._check_coefficients(a))[:, None]

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.square(self._columns if Z is None else self._new(Z).T)

    def inner_products_with(self, K: Array) -> Array:
        products = np.empty(self.n_kernels)
        for start in range(0, self.n_kernels, _FEATURES_AT_ONCE):
            few = slice(start, start + _FEATURES_AT_ONCE)
            columns = self._columns[few]
            # x'K x = 2 x'U x - sum_i K_ii x_i^2 for the upper triangle U: half the work of K x.
            images = columns.copy()
            blas.dtrmm(1.0, K.T, images.T, overwrite_b=1)
            products[few] = 2.0 * np.einsum("mi,mi->m", images, columns)
            products[few] -= np.square(columns) @ K.diagonal()
        return products

    def inner_products(self, *, centred: bool = False) -> Array:
        columns = self._columns
        if centred:
            columns = columns - columns.mean(axis=1, keepdims=True)
        return np.square(columns @ columns.T)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return (self._new(Z) * self._check_weights(weights)) @ self._columns

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        names = column_names(self._n_features, columns)
        return tuple(named("linear", names[j]) for j in self.features)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> LinearBank:
        taken = copy(self)
        taken._kernels_changed()
        if kernels is not None:
            taken._columns, taken.groups = self._columns[kernels], None
            taken.features = tuple(self.features[m] for m in kernels.tolist())
        taken._columns = np.take(taken._columns, self._check_rows(rows), axis=1)
        taken.n_kernels, taken.n_samples = taken._columns.shape
        return taken

    def _new(self, Z: ArrayLike) -> Array:
        """Return the features (n_z, M) of new samples that the kernels look at."""
        return check_features("Z", Z, self._n_features)[:, list(self.features)]
