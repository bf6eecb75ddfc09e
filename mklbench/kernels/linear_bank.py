"""A bank of one linear kernel a feature, from the samples alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import blas

from mklbench.kernels.base import Array, Bank
from mklbench.kernels.packed import write_lower
from mklbench.validation import check_features

# Features of one matrix product. What it forms on the way then takes less memory than the samples,
# of which there may be few with thousands of features.
_FEATURES_AT_ONCE = 256


class LinearBank(Bank):
    """The kernels k_m(x, z) = x_m z_m, one a feature, whose Gram matrices are of rank one.

    With x_m (n,) the column of feature m,

        sum_m d_m K_m = X diag(d) X',    a' K_m a = (x_m'a)^2,    <K_m, K>_F = x_m' K x_m,

    and nothing is kept but X: M n numbers, where the stack of Gram matrices takes M n^2.

    Parameters
    ----------
    X : (n, d) training samples.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    def __init__(self, X: ArrayLike) -> None:
        self._bind(check_features("X", X))

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        lower = self._lower(d)
        combined = lower if out is None else out
        write_lower(lower, combined, add=False)
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        write_lower(self._lower(d), out, add=True)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.square(np.asarray(a, dtype=np.float64) @ self._X)

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        columns = self._X[:, np.asarray(kernels, dtype=np.intp)]
        return (columns * (np.asarray(a, dtype=np.float64) @ columns)).T

    def traces(self) -> Array:
        return np.einsum("im,im->m", self._X, self._X)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.square(self._X if Z is None else check_features("Z", Z, self.n_kernels)).T

    def inner_products_with(self, K: Array) -> Array:
        products, diagonal = [], K.diagonal()
        for columns in self._blocks(np.arange(self.n_kernels)):
            # x'K x = 2 x'L x - sum_i K_ii x_i^2 for the lower triangle L: half the work of K x.
            images = columns.copy()
            blas.dtrmm(1.0, K.T, images.T, side=1, overwrite_b=1)
            doubled = 2.0 * np.einsum("im,im->m", images, columns)
            products.append(doubled - diagonal @ np.square(columns))
        return np.concatenate(products)

    def inner_products(self, *, centred: bool = False) -> Array:
        X = self._X - self._X.mean(axis=0) if centred else self._X
        return np.square(X.T @ X)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        return (check_features("Z", Z, self.n_kernels) * d) @ self._X.T

    def restrict(self, rows: ArrayLike) -> LinearBank:
        restricted = LinearBank.__new__(LinearBank)
        restricted._bind(self._X[np.asarray(rows, dtype=np.intp)])
        return restricted

    def _bind(self, X: Array) -> None:
        self._X = X
        self.n_samples, self.n_kernels = X.shape
        self.features = tuple(range(self.n_kernels))

    def _lower(self, weights: ArrayLike) -> Array:
        """Return sum_m weights_m K_m (n, n), whose entries above the diagonal are not set."""
        d = self._check_weights(weights)
        lower = np.zeros((self.n_samples, self.n_samples))
        for sign in (1.0, -1.0):  # the product of a matrix and its transpose is half the work
            active = np.flatnonzero(sign * d > 0)
            for columns in self._blocks(active, np.sqrt(np.abs(d))):
                blas.dsyrk(sign, columns.T, 1.0, lower.T, trans=1, overwrite_c=1)
        return lower

    def _blocks(self, kernels: NDArray[np.intp], scales: Array | None = None) -> Iterator[Array]:
        """Yield the columns of `kernels` (k,), times the `scales` (M,) if given, a few at once."""
        for start in range(0, len(kernels), _FEATURES_AT_ONCE):
            chosen = kernels[start : start + _FEATURES_AT_ONCE]
            columns = np.take(self._X, chosen, axis=1)
            yield columns if scales is None else np.multiply(columns, scales[chosen], out=columns)
