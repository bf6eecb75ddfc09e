"""The bank of linear kernels, one a feature, from the samples alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas

from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.contract import NUMBER, Memory, Shape
from mklbench.kernels.functions import Linear
from mklbench.kernels.gram_matrices import write_lower
from mklbench.kernels.naming import column_names, named
from mklbench.kernels.row_factors import Columns, Nodes, Part, RowFactors
from mklbench.validation import check_features, check_scale

# Features of one matrix product. What it forms on the way then takes less memory than the samples,
# of which there may be few with thousands of features.
_FEATURES_AT_ONCE = 256
# Of a feature: sums of products of two are then within single precision, in which LIBSVM works.
_LARGEST = 1e15


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
        self._bind(np.ascontiguousarray(samples.T), range(samples.shape[1]), samples.shape[1])

    @classmethod
    def needs(cls, shape: Shape) -> Memory:
        """Return the memory of a bank on samples of a shape.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        scaled = NUMBER * shape.n * min(shape.d, _FEATURES_AT_ONCE)
        return Memory(shape.d, NUMBER * shape.n * shape.d, 3 * scaled, rank=shape.d)

    def row_factors(self) -> RowFactors:
        one = np.ones((1, 1))
        parts = [
            Part(Columns(m, 1), one[None], np.array([m]), Nodes([Linear()], one, slice(j, j + 1)))
            for m, j in enumerate(self.features)
        ]
        return RowFactors(self._columns.T, parts)

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        lower = self._lower(d)
        combined = lower if out is None else out
        write_lower(lower, combined, add=False)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        write_lower(self._lower(d), out, add=True)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.square(self._columns @ self._check_coefficients(a))

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        columns = self._columns[self._check_kernels(kernels)]
        return columns * (columns @ self._check_coefficients(a))[:, None]

    def traces(self) -> Array:
        return np.einsum("mi,mi->m", self._columns, self._columns)

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
        taken = LinearBank.__new__(LinearBank)
        chosen = self._columns if kernels is None else self._columns[kernels]
        kept = range(self.n_kernels) if kernels is None else kernels.tolist()
        columns = np.take(chosen, self._check_rows(rows), axis=1)
        taken._bind(columns, [self.features[m] for m in kept], self._n_features)
        return taken

    def _bind(self, columns: Array, features: Sequence[int], n_features: int) -> None:
        self._columns = columns  # (M, n), so that a feature's numbers stand side by side
        self.n_kernels, self.n_samples = columns.shape
        self.features, self._n_features = tuple(features), n_features

    def _new(self, Z: ArrayLike) -> Array:
        """Return the features (n_z, M) of new samples that the kernels look at."""
        return check_features("Z", Z, self._n_features)[:, list(self.features)]

    def _lower(self, weights: ArrayLike) -> Array:
        """Return sum_m weights_m K_m (n, n), whose entries above the diagonal are not set."""
        d = self._check_weights(weights)
        lower = np.zeros((self.n_samples, self.n_samples))
        for sign in (1.0, -1.0):  # the product of a matrix and its transpose is half the work
            active = np.flatnonzero(sign * d > 0)
            for start in range(0, len(active), _FEATURES_AT_ONCE):
                few = active[start : start + _FEATURES_AT_ONCE]
                scaled = self._columns[few] * np.sqrt(np.abs(d[few]))[:, None]
                blas.dsyrk(sign, scaled.T, 1.0, lower.T, overwrite_c=1)
        return lower
