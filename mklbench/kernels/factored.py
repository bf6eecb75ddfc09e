"""A bank of kernels on single features, kept as low-rank factors.

A smooth kernel on one real feature has a Gram matrix of small numerical rank (15 to 35 for
Gaussians, degree + 1 for polynomials), and all kernels on the same feature share one basis. With
B_j (n, r) an orthonormal basis on the samples' values of feature j and S_m (r, r) the core of
kernel m,

    K_m = B_j S_m B_j',    a' K_m a = t' S_m t  with  t = B_j' a,

so that all quadratic forms cost one matrix-vector product with the stacked bases, and the bank
takes n * sum_j r_j numbers where the stack of Gram matrices takes M n^2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpstrf

from mklbench.kernels.base import Array, Bank
from mklbench.kernels.functions import KernelFunction
from mklbench.validation import check_features

# Relative to the largest diagonal entry of a Gram matrix. What is dropped stays two orders below
# the 1e-10 to which a bank agrees with its dense twin.
_RANK_TOLERANCE = 1e-13

# Numbers in a stack of Gram matrices that is small enough to stay in the processor's cache: summing
# its symmetric halves is then five times faster than multiplying the factors (60 kernels on 145
# samples).
_STACK_LIMIT = 2**21


class FeatureBank(Bank):
    """Every kernel function on every single feature, by low-rank factors.

    Kernels are ordered by feature first: kernel m = j * len(functions) + k is function k on
    feature j.

    Parameters
    ----------
    X : (n, d) training samples.
    functions : kernel functions, applied to each feature on its own.
    """

    def __init__(self, X: ArrayLike, functions: Sequence[KernelFunction]) -> None:
        self._X = check_features("X", X)
        self._functions = tuple(functions)
        self.n_samples, d = self._X.shape
        self.n_kernels = d * len(self._functions)
        self.features = tuple(j for j in range(d) for _ in self._functions)
        factors = [_factorise(column, self._functions) for column in self._X.T]
        # Features differ in rank. Zero columns make them alike, so that one batched product serves
        # all of them in place of a Python loop.
        rank = max(basis.shape[1] for basis, _ in factors)
        self._bases = np.zeros((d, self.n_samples, rank))
        self._cores = np.zeros((d, len(self._functions), rank, rank))
        for j, (basis, cores) in enumerate(factors):
            self._bases[j, :, : basis.shape[1]] = basis
            self._cores[j, :, : basis.shape[1], : basis.shape[1]] = cores
        self._halves = self._small_stack()

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        weights = self._check_weights(d)
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        if self._halves is not None:
            combined[...] = (weights @ self._halves)[_half_index(self.n_samples)]
            return combined
        by_feature = weights.reshape(len(self._bases), -1)
        active = np.flatnonzero(by_feature.any(axis=1))
        bases = self._bases[active]
        cores = np.einsum("jk,jkrs->jrs", by_feature[active], self._cores[active])
        left = (bases @ cores).transpose(1, 0, 2).reshape(self.n_samples, -1)
        right = bases.transpose(1, 0, 2).reshape(self.n_samples, -1)
        combined[...] = left @ right.T
        return combined

    def quadratic_forms(self, a: ArrayLike) -> Array:
        projections = np.asarray(a, dtype=np.float64) @ self._bases
        products = (self._cores @ projections[:, None, :, None])[..., 0]
        return np.einsum("jkr,jr->jk", products, projections).ravel()

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        vector = np.asarray(a, dtype=np.float64)
        features, functions = np.divmod(np.asarray(kernels, dtype=np.intp), len(self._functions))
        rows = np.empty((len(features), self.n_samples))
        for j in np.unique(features):
            own = features == j
            projection = vector @ self._bases[j]
            rows[own] = (self._cores[j, functions[own]] @ projection) @ self._bases[j].T
        return rows

    def traces(self) -> Array:
        gramians = self._bases.transpose(0, 2, 1) @ self._bases
        return np.einsum("jkrs,jrs->jk", self._cores, gramians).ravel()

    def inner_products_with(self, K: Array) -> Array:
        projected = self._bases.transpose(0, 2, 1) @ (K @ self._bases)
        return np.einsum("jkrs,jrs->jk", self._cores, projected).ravel()

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        samples = check_features("Z", Z, self._X.shape[1])
        combined = np.zeros((len(samples), self.n_samples))
        for m in np.flatnonzero(d):
            j, k = divmod(int(m), len(self._functions))
            combined += d[m] * self._functions[k](samples[:, [j]], self._X[:, [j]])
        return combined

    def restrict(self, rows: ArrayLike) -> FeatureBank:
        indices = np.asarray(rows)
        restricted = FeatureBank.__new__(FeatureBank)
        restricted._X = self._X[indices]
        restricted._functions = self._functions
        restricted.n_samples = len(indices)
        restricted.n_kernels = self.n_kernels
        restricted.features = self.features
        restricted._bases = self._bases[:, indices]
        restricted._cores = self._cores
        restricted._halves = restricted._small_stack()
        return restricted

    def _small_stack(self) -> Array | None:
        """Return the lower halves (M, n (n + 1) / 2) of the Gram matrices if they are few."""
        if self.n_kernels * self.n_samples**2 > _STACK_LIMIT:
            return None
        half = np.tril_indices(self.n_samples)
        grams = (basis @ core @ basis.T for basis, cores in self._factors() for core in cores)
        return np.array([gram[half] for gram in grams])

    def _factors(self) -> Iterator[tuple[Array, Array]]:
        return zip(self._bases, self._cores, strict=True)


@lru_cache(maxsize=8)
def _half_index(n: int) -> NDArray[np.intp]:
    """Return where entry (i, j) of a symmetric matrix (n, n) stands in its lower half."""
    index = np.empty((n, n), dtype=np.intp)
    rows, columns = np.tril_indices(n)
    index[rows, columns] = index[columns, rows] = np.arange(len(rows))
    return index


def _factorise(column: Array, functions: Sequence[KernelFunction]) -> tuple[Array, Array]:
    """Return the basis (n, r) and the cores (len(functions), r, r) of one feature."""
    values, inverse = np.unique(column, return_inverse=True)
    points = values[:, None]
    grams = [function(points, points) for function in functions]
    # Pivoted Cholesky stops at the numerical rank and bounds what it leaves by its trace; the
    # singular vectors of all factors together span every kernel of the feature.
    spanning = np.hstack([_pivoted_cholesky(gram) for gram in grams])
    left, singular, _ = np.linalg.svd(spanning, full_matrices=False)
    basis = left[:, singular > _RANK_TOLERANCE * singular.max(initial=0.0)]
    cores = np.array([basis.T @ gram @ basis for gram in grams])
    return basis[inverse], cores


def _pivoted_cholesky(gram: Array) -> Array:
    """Return L (u, r) with gram / max(diag) = L L' up to a remainder of small trace."""
    largest = gram.diagonal().max()
    if largest == 0:  # a linear kernel on a feature that is zero
        return np.empty((len(gram), 0))
    scaled = gram / largest
    factor, pivots, rank, _ = dpstrf(scaled, tol=_RANK_TOLERANCE, lower=1)
    lower = np.tril(factor)[:, :rank]
    unpivoted = np.empty_like(lower)
    unpivoted[pivots - 1] = lower
    return unpivoted
