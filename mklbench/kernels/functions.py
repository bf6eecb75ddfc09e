"""Base kernel functions on feature vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mklbench.validation import check_count, check_positive

Array = NDArray[np.float64]


class KernelFunction(Protocol):
    """A positive semidefinite function k of two samples."""

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""

    def diagonal(self, X: Array) -> Array:
        """Return k(x, x) (n,) for the rows of `X` (n, d)."""


def inverse_deviations(X: Array) -> Array:
    """Return 1 / the standard deviation (d,) of each column of `X` (n, d); 0 for constant ones."""
    spread = X.std(axis=0)
    # The deviation of a constant may be rounding of its mean.
    varies = X.max(axis=0) > X.min(axis=0)
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)


def squared_distances(X: Array, Z: Array) -> Array:
    """Return ||x_i - z_j||^2 (n, n_z).

    On one feature the differences themselves are squared, which loses no digits. On several, the
    rows are shifted by the mean of `X` first, so that data far from the origin do not cancel.
    """
    if X.shape[1] == 1:
        differences = X - Z.T
        return np.multiply(differences, differences, out=differences)
    centre = X.mean(axis=0)
    if Z is X:
        return centred_squared_distances(X - centre)
    X, Z = X - centre, Z - centre
    distances = X @ Z.T
    distances *= -2.0
    distances += np.einsum("ij,ij->i", X, X)[:, None]
    distances += np.einsum("ij,ij->i", Z, Z)
    return np.maximum(distances, 0.0, out=distances)


def centred_squared_distances(X: Array) -> Array:
    """Return ||x_i - x_j||^2 (n, n), exactly 0 for i = j, for samples around the origin."""
    distances = X @ X.T
    squares = distances.diagonal().copy()
    distances *= -2.0
    distances += squares[:, None]
    distances += squares
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(-gamma ||x - z||^2), gamma > 0."""

    gamma: float

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""
        exponent = squared_distances(X, Z)
        exponent *= -self.gamma
        return np.exp(exponent, out=exponent)

    def diagonal(self, X: Array) -> Array:
        """Return k(x, x) = 1 (n,)."""
        return np.ones(len(X))


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (x'z + offset)^degree, degree a whole number >= 1."""

    degree: int
    offset: float = 1.0

    def __post_init__(self) -> None:
        check_count("degree", self.degree)

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""
        return (X @ Z.T + self.offset) ** self.degree

    def diagonal(self, X: Array) -> Array:
        """Return (x'x + offset)^degree (n,)."""
        return (np.einsum("ij,ij->i", X, X) + self.offset) ** self.degree
