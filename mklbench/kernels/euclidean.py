"""Squared Euclidean distances between samples, without loss of digits.

Two ways lead to ||x - z||^2. The products |x|^2 + |z|^2 - 2 x'z of BLAS are fast, but where the
samples lie far from the origin compared with their distances the terms cancel; the rows are
therefore shifted to a centre first. The differences, squared and summed one by one, lose nothing,
take several times as long, and each distance depends on its two samples alone.

Between training samples, of which algorithms form thousands of matrices, it is the products, as
long as the mean of the samples is a good centre. Between new samples and the training ones it is
the differences: a prediction is of one sample, whatever else is predicted beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.floating]

# Exponents below this are set to it: exp of less is nothing beside the 1 on the diagonal, and in
# single precision it is denormal, with which processors are slow.
_LOWEST_EXPONENT = -60.0
# A mean is off where it is so many times as far from the median as the samples usually are:
# products then lose twice as many digits. On the project's data sets, raw or scaled, it is 1.5
# times, and 60 times on the worst of many draws of 20 samples.
_TOO_FAR = 1e3


def centre_of(X: Array) -> tuple[Array, bool]:
    """Return the centre (d,) of the samples `X` (n, d), and whether their mean is off.

    The mean is off where it is more than a thousand times as far from the median as half of the
    samples are, samples at the median itself not counted: a few lie far out. Then the centre is the
    median, and distances are to be formed from differences.
    """
    mean, middle = X.mean(axis=0), len(X) // 2
    columns = X.T.copy()
    columns.partition(middle, axis=1)
    median = columns[:, middle].copy()
    deviations = np.abs(np.subtract(X.T, median[:, None], out=columns), out=columns)
    radii = np.sqrt(np.einsum("mi,mi->i", deviations, deviations))
    apart = radii[radii > 0.0]
    usual = float(np.median(apart)) if len(apart) else np.inf
    is_off = bool(np.linalg.norm(mean - median) > _TOO_FAR * usual)
    return median if is_off else mean, is_off


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
    centre, is_off = centre_of(X)
    if is_off:
        return distances_of_differences(X, X)
    shifted = X - centre
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
