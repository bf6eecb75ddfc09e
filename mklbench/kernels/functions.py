"""Base kernel functions on feature vectors, and squared distances without loss of digits.

Two ways lead to ||x - z||^2. The products |x|^2 + |z|^2 - 2 x'z of BLAS are fast, but where the
samples lie far from the origin compared with their distances the terms cancel; the rows are
therefore shifted to their median first, which a few that lie far out do not move. The differences,
squared and summed one by one, lose nothing, take several times as long, and each distance depends
on its two samples alone.

Between training samples, of which algorithms form thousands of matrices, it is the products.
Between new samples and the training ones it is the differences: a prediction is of one sample,
whatever else is predicted beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.validation import (
    check_count,
    check_positive,
    column_called,
)

Array = NDArray[np.float64]
Single = NDArray[np.floating]

# The largest value of a kernel on the training samples: squares of it and sums of these are safe.
SMALLEST_VALUE, LARGEST_VALUE = 1e-140, 1e140


# Exponents below this are set to it: exp of less is nothing beside the 1 on the diagonal, and in
# single precision it is denormal, with which processors are slow.
_LOWEST_EXPONENT = -60.0


def squared_distances(X: Array, Z: Array) -> Array:
    """Return ||x_i - z_j||^2 (n, n_z), infinity where it is beyond the range of doubles.

    Between other samples each is formed from the differences of the two. Where `Z` is `X` itself
    the matrix is symmetric, and 0 for i = j.
    """
    if X.shape[1] == 1:
        with np.errstate(over="ignore"):
            differences = X - Z.T
            return np.multiply(differences, differences, out=differences)
    if Z is not X:
        return distances_of_differences(X, Z)
    shifted = X - np.median(X, axis=0)
    return distances_of_products(shifted, shifted)


def distances_of_products(X: Array, Z: Array) -> Array:
    """Return ||x_i - z_j||^2 (n, n_z) for samples around the origin.

    Fast, but what is lost to rounding depends on the other samples. Where `Z` is `X` itself it is
    exactly 0 for i = j.
    """
    distances = X @ Z.T
    if Z is X:
        first = second = distances.diagonal().copy()
    else:
        first, second = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
    distances *= -2.0
    distances += first[:, None]
    distances += second
    np.maximum(distances, 0.0, out=distances)
    if Z is X:
        np.fill_diagonal(distances, 0.0)
    return distances


def distances_of_differences(X: Array, Z: Array) -> Array:
    """Return ||x_i - z_j||^2 (n, n_z), each from the differences of the two samples alone."""
    from scipy.spatial.distance import cdist  # a quarter of a second, for who predicts

    distances: Array = cdist(X, Z, "sqeuclidean")
    return distances


def exp_in_place(exponents: Single) -> Single:
    """Return exp of the `exponents` in their place, those above 0 by rounding taken for 0."""
    np.clip(exponents, _LOWEST_EXPONENT, 0.0, out=exponents)
    return np.exp(exponents, out=exponents)


class KernelFunction(Protocol):
    """A positive semidefinite function k of two samples."""

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""

    def diagonal(self, X: Array) -> Array:
        """Return k(x, x) (n,) for the rows of `X` (n, d)."""


def standardisation(X: Array) -> tuple[Array, Array]:
    """Return the mean and 1 / the standard deviation (d,) of each column of `X` (n, d).

    The latter is 0 for a constant column.
    """
    spread = X.std(axis=0)
    # The deviation of a constant may be rounding of its mean.
    varies = (X.max(axis=0) > X.min(axis=0)) & (spread > 0)
    return X.mean(axis=0), np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(-gamma ||x - z||^2).

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Factor of the squared distance, > 0; "scale" for 1 / (d v), with d the number of
        features of the training samples and v the variance of all their entries, as that of
        scikit-learn's SVC (1 where v is 0).
    """

    gamma: float | Literal["scale"] = "scale"

    def __post_init__(self) -> None:
        if self.gamma != "scale":
            check_positive("gamma", self.gamma)

    @property
    def factor(self) -> float:
        """The number `gamma`.

        Raises
        ------
        InputError
            If `gamma` is "scale", which is a number only on training samples (`on`).
        """
        if isinstance(self.gamma, str):
            raise InputError(
                f"gamma={self.gamma} is a number only where one kernel looks at all features of "
                "the training samples: give the number."
            )
        return self.gamma

    def on(self, X: Any) -> Gaussian:
        """Return the kernel with the number for `gamma` that "scale" is on training samples.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Training samples.
        """
        return replace(self, gamma=gamma_scale(X)) if isinstance(self.gamma, str) else self

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""
        distances = squared_distances(X, Z)
        return self.of_distances(distances, out=distances)

    def of_distances(self, distances: Array, out: Array | None = None) -> Array:
        """Return the kernel exp(-gamma distances) from distances that are known.

        Parameters
        ----------
        distances : ndarray
            Squared distances ||x - z||^2, of any shape.
        out : ndarray or None, default=None
            Where the values are written, of the same shape, `distances` itself included; a new
            array if not given.
        """
        with np.errstate(over="ignore"):  # to an infinite distance, where the kernel is 0
            exponent = np.multiply(distances, -self.factor, out=out)
        return np.exp(exponent, out=exponent)

    def diagonal(self, X: Array) -> Array:
        """Return k(x, x) = 1 (n,).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples, one a row.
        """
        return np.ones(len(X))


def gamma_scale(X: Any) -> float:
    """Return 1 / (d v), with v the variance of all entries of samples, dense or sparse (n, d)."""
    if hasattr(X, "multiply"):  # a sparse matrix
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            variance = float(np.var(X))
    return 1.0 / (np.shape(X)[1] * variance) if variance > 0.0 else 1.0


def matrices(functions: Sequence[KernelFunction], X: Array, Z: Array) -> Iterator[Array]:
    """Yield the matrix (n, n_z) of each of `functions`; Gaussians share their distances."""
    n_gaussians = sum(isinstance(function, Gaussian) for function in functions)
    shared = squared_distances(X, Z) if n_gaussians > 1 else None
    for function in functions:
        if shared is not None and isinstance(function, Gaussian):
            yield function.of_distances(shared)
        else:
            yield function(X, Z)


def check_values(functions: Sequence[KernelFunction], X: Array, first: int = 0) -> None:
    """Raise an InputError unless the values of kernels on the samples `X` (n, d) are safe.

    They and products of two of them are then in the range of doubles. `first` is the number of the
    first column in the message.
    """
    for function in functions:
        if isinstance(function, Gaussian):
            continue
        with np.errstate(over="ignore"):
            largest = float(np.abs(function.diagonal(X)).max())  # no entry of the matrix is larger
        row, column = np.unravel_index(int(np.abs(X).argmax()), X.shape)
        held = X[row, column]
        if largest != 0.0 and not SMALLEST_VALUE <= largest <= LARGEST_VALUE:
            raise InputError(
                f"X holds {held:g} at row {row}, {column_called(first + int(column))}, and "
                f"{function} is {largest:g} there: it has to be from {SMALLEST_VALUE:g} to "
                f"{LARGEST_VALUE:g}, rescale the column."
            )


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (gamma x'z + offset)^degree.

    Parameters
    ----------
    degree : int
        The power, >= 1.
    offset : float, default=1.0
        Added to the inner product; >= 0 for a positive semidefinite kernel.
    gamma : float, default=1.0
        Factor of the inner product, > 0.
    """

    degree: int
    offset: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_count("degree", self.degree)
        check_positive("gamma", self.gamma)

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""
        with np.errstate(over="ignore", invalid="ignore"):  # judged by who uses them
            base = self.gamma * (X @ Z.T) + self.offset
            power = base.copy()
            for _ in range(self.degree - 1):  # pow() takes ten times as long
                power *= base
            return power

    def diagonal(self, X: Array) -> Array:
        """Return k(x, x) = (gamma x'x + offset)^degree (n,).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples, one a row.
        """
        return (self.gamma * np.einsum("ij,ij->i", X, X) + self.offset) ** self.degree


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x'z."""

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix (n, n_z) of k between the rows of `X` (n, d) and `Z` (n_z, d)."""
        with np.errstate(over="ignore", invalid="ignore"):  # judged by who uses them
            return X @ Z.T

    def diagonal(self, X: Array) -> Array:
        """Return k(x, x) = x'x (n,).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples, one a row.
        """
        return np.einsum("ij,ij->i", X, X)
