"""Squared Euclidean distances between samples, without loss of digits.

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

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.floating]

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
