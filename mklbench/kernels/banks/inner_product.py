"""The one kernel of inner products on all features, from the samples alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.base import Array, Bank, Indices
from mklbench.kernels.bases import Columns
from mklbench.kernels.functions import Linear, check_values
from mklbench.kernels.memory import NUMBER, Memory, Shape
from mklbench.kernels.naming import ALL_COLUMNS, named
from mklbench.kernels.row_factors import Nodes, Part, RowFactors
from mklbench.kernels.samples import dense
from mklbench.validation import check_features, check_training_features


class InnerProductBank(Bank):
    """The kernel k(x, z) = x'z on all features: K = X X', of which nothing is kept but X.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        Training samples; a sparse matrix is made dense.

    Raises
    ------
    InputError
        If `X` is no finite matrix.
    """

    n_kernels = 1
    features = (-1,)

    def __init__(self, X: Any) -> None:
        samples = check_training_features("X", dense(X))
        check_values([Linear()], samples)
        self._bind(samples)

    @classmethod
    def needs(cls, shape: Shape) -> Memory:
        """Return the memory of the bank on samples of a shape.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        samples = NUMBER * shape.n * shape.d
        return Memory(1, samples, 2 * samples, rank=shape.d, streamed=2 * samples)

    def row_factors(self) -> RowFactors:
        d = self._X.shape[1]
        nodes = Nodes([Linear()], np.eye(d), slice(0, d))
        part = Part(Columns(0, d), np.eye(d)[None], np.zeros(1, dtype=np.intp), nodes)
        return RowFactors(self._X, [part])

    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        (weight,) = self._check_weights(d)
        combined = np.matmul(self._X, self._X.T, out=out)
        combined *= weight
        return combined

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        out += self.combine(d)

    def quadratic_forms(self, a: ArrayLike) -> Array:
        return np.array([np.sum(np.square(self._X.T @ self._check_coefficients(a)))])

    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        row = self._X @ (self._X.T @ self._check_coefficients(a))
        return np.repeat(row[None], len(np.asarray(kernels)), axis=0)

    def traces(self) -> Array:
        return np.array([np.sum(np.square(self._X))])

    def diagonals(self, Z: Any = None) -> Array:
        samples = self._X if Z is None else self._new(Z)
        return Linear().diagonal(samples)[None]

    def inner_products_with(self, K: Array) -> Array:
        return np.array([np.sum((K @ self._X) * self._X)])

    def inner_products(self, *, centred: bool = False) -> Array:
        X = self._X - self._X.mean(axis=0) if centred else self._X
        return np.array([[np.sum(np.square(X.T @ X))]])

    def cross(self, weights: ArrayLike, Z: Any) -> Array:
        (weight,) = self._check_weights(weights)
        return weight * Linear()(self._new(Z), self._X)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        return (named("linear", ALL_COLUMNS),)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> InnerProductBank:
        taken = InnerProductBank.__new__(InnerProductBank)
        taken._bind(self._X[self._check_rows(rows)])
        return taken

    def _bind(self, X: Array) -> None:
        self._X, self.n_samples = X, len(X)

    def _new(self, Z: Any) -> Array:
        return check_features("Z", dense(Z), self._X.shape[1])
