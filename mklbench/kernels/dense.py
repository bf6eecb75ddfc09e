"""Banks that hold their Gram matrices, for kernels without structure to exploit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.functions import KernelFunction
from mklbench.validation import check_features


class _StackedBank(Bank):
    """The operations on a stack K of shape (M, n, n)."""

    def __init__(self, K: Array) -> None:
        self._K = np.ascontiguousarray(K)
        self.n_kernels, self.n_samples = K.shape[:2]
        self.features = (-1,) * self.n_kernels

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        weights = self._check_weights(d)
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        active = np.flatnonzero(weights)
        if 2 * len(active) > self.n_kernels:
            combined[...] = np.tensordot(weights, self._K, axes=1)
            return combined
        # Most weights are zero near a sparse optimum, and each kernel left out saves n^2 reads.
        combined[...] = 0.0
        term = np.empty_like(self._K[0])
        for m in active:
            combined += np.multiply(weights[m], self._K[m], out=term)
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        vector = np.asarray(a, dtype=np.float64)
        products = self._K.reshape(-1, self.n_samples) @ vector
        return products.reshape(self.n_kernels, -1) @ vector

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector = np.asarray(a, dtype=np.float64)
        chosen = np.asarray(kernels, dtype=np.intp)
        rows = np.empty((len(chosen), self.n_samples))
        for row, m in zip(rows, chosen, strict=True):
            np.dot(self._K[m], vector, out=row)
        return rows

    def traces(self) -> Array:
        return np.trace(self._K, axis1=1, axis2=2)

    def inner_products_with(self, K: Array) -> Array:
        return self._K.reshape(self.n_kernels, -1) @ K.ravel()

    def inner_products(self) -> Array:
        flat = self._K.reshape(self.n_kernels, -1)
        return flat @ flat.T


class DenseBank(_StackedBank):
    """Kernel functions on all features, their Gram matrices stored.

    Parameters
    ----------
    X : (n, d) training samples.
    functions : the M kernel functions.
    """

    def __init__(self, X: ArrayLike, functions: Sequence[KernelFunction]) -> None:
        self._X = check_features("X", X)
        self._functions = tuple(functions)
        super().__init__(np.array([function(self._X, self._X) for function in self._functions]))

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        samples = check_features("Z", Z, self._X.shape[1])
        combined = np.zeros((len(samples), self.n_samples))
        for m in np.flatnonzero(d):
            combined += d[m] * self._functions[m](samples, self._X)
        return combined

    def restrict(self, rows: ArrayLike) -> DenseBank:
        indices = np.asarray(rows)
        restricted = DenseBank.__new__(DenseBank)
        restricted._X = self._X[indices]
        restricted._functions = self._functions
        _StackedBank.__init__(restricted, self._K[:, indices[:, None], indices])
        return restricted


class PrecomputedBank(_StackedBank):
    """Gram matrices that the user brings.

    Parameters
    ----------
    K : (M, n, n) symmetric Gram matrices on the training samples.
    groups : lists of kernel indices, where the kernels come in groups.

    Raises
    ------
    InputError
        If `K` is not a finite stack of symmetric matrices, or `groups` do not partition them.
    """

    def __init__(self, K: ArrayLike, groups: Sequence[Sequence[int]] | None = None) -> None:
        stack = np.asarray(K, dtype=np.float64)
        check_gram_stack(stack)
        super().__init__(stack)
        if groups is not None:
            if sorted(m for group in groups for m in group) != list(range(self.n_kernels)):
                raise InputError(
                    f"groups={[list(group) for group in groups]} do not name each of the "
                    f"{self.n_kernels} kernels exactly once."
                )
            self.groups = groups

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the combination (n_z, n) of `Z`, the stack (M, n_z, n) of cross Gram matrices."""
        d = self._check_weights(weights)
        stack = np.asarray(Z, dtype=np.float64)
        if stack.ndim != 3 or stack.shape[::2] != (self.n_kernels, self.n_samples):
            raise InputError(
                f"the cross Gram matrices have shape {stack.shape}: "
                f"pass ({self.n_kernels}, n_new, {self.n_samples}), one matrix a kernel."
            )
        return np.tensordot(d, stack, axes=1)

    def restrict(self, rows: ArrayLike) -> PrecomputedBank:
        indices = np.asarray(rows)
        restricted = PrecomputedBank.__new__(PrecomputedBank)
        _StackedBank.__init__(restricted, self._K[:, indices[:, None], indices])
        restricted.groups = self.groups
        return restricted


class IndexedBank(PrecomputedBank):
    """Precomputed Gram matrices of a whole data set, bound to some of its rows.

    New samples are named by their row in the whole stack, so that splits and cross-validation work
    on Gram matrices as they do on features.

    Parameters
    ----------
    K : (M, N, N) Gram matrices of the whole data set.
    rows : indices of the training samples.
    groups : as in `PrecomputedBank`.
    """

    def __init__(
        self, K: ArrayLike, rows: ArrayLike, groups: Sequence[Sequence[int]] | None = None
    ) -> None:
        self._whole = np.asarray(K, dtype=np.float64)
        check_gram_stack(self._whole)
        self._rows = _check_rows(rows, self._whole.shape[1])
        super().__init__(self._whole[:, self._rows[:, None], self._rows], groups)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the kernel (n_z, n) between the rows `Z` (n_z,) of the stack and the training."""
        new = _check_rows(Z, self._whole.shape[1])
        return super().cross(weights, self._whole[:, new[:, None], self._rows])

    def restrict(self, rows: ArrayLike) -> IndexedBank:
        indices = np.asarray(rows)
        restricted = IndexedBank.__new__(IndexedBank)
        _StackedBank.__init__(restricted, self._K[:, indices[:, None], indices])
        restricted.groups = self.groups
        restricted._whole = self._whole
        restricted._rows = self._rows[indices]
        return restricted


def check_gram_stack(K: Array) -> None:
    """Raise an InputError unless `K` is a finite stack (M, n, n) of symmetric matrices."""
    if K.ndim != 3 or K.shape[1] != K.shape[2] or 0 in K.shape:
        raise InputError(
            f"K has shape {K.shape}: pass the Gram matrices as one array (n_kernels, n, n)."
        )
    for m, gram in enumerate(K):
        if not np.isfinite(gram).all():
            raise InputError(
                f"kernel {m} of K holds NaN or infinite values: remove or mend the samples."
            )
        scale = np.abs(gram).max()
        if np.abs(gram - gram.T).max() > 1e-8 * scale:
            raise InputError(f"kernel {m} of K is not symmetric: a Gram matrix must be.")


def _check_rows(rows: ArrayLike, n: int) -> NDArray[np.intp]:
    indices = np.asarray(rows)
    if indices.ndim == 2 and indices.shape[1] == 1:
        indices = indices[:, 0]
    # Scikit-learn passes the row numbers of a sample matrix as floats.
    numeric = indices.ndim == 1 and indices.dtype.kind in "iuf"
    if not numeric or not np.isin(indices, np.arange(n)).all():
        raise InputError(
            f"precomputed kernels take row indices from 0 to {n - 1} in place of features."
        )
    return indices.astype(np.intp)
