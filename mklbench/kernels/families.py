"""Continuous families of kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Family
from mklbench.kernels.functions import centred_squared_distances, squared_distances
from mklbench.validation import check_features


class ProductGaussians(Family):
    """Products of Gaussians, one a feature: K_theta = exp(-sum_m theta_m (x_m - z_m)^2).

    This is the major kernel of Picard et al. 2012 with d_m(x, z) = (x_m - z_m)^2 and
    gamma_m = theta_m, the product kernel of Varma & Babu 2009 and eq. 5 of Gehler & Nowozin 2008.
    No distance matrix is stored: with W = (a a') o K and r = W 1,

        sum_ij W_ij (x_im - x_jm)^2 = 2 (r' (x_m o x_m) - x_m' W x_m),

    so the gradient for all m costs one matrix product W X on the rows with a_i != 0.

    Parameters
    ----------
    X : (n, d) training samples; the family has M = d parameters.
    """

    def __init__(self, X: ArrayLike) -> None:
        features = check_features("X", X)
        # Shifted to the origin, where the differences of squares above lose the fewest digits.
        self._centre = features.mean(axis=0)
        self._X = features - self._centre
        self.n_samples, self.n_kernels = features.shape
        self.features = tuple(range(self.n_kernels))

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        exponent = centred_squared_distances(self._X * np.sqrt(self._check_theta(weights)))
        np.negative(exponent, out=exponent)
        return np.exp(exponent, out=exponent if out is None else out)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        root = np.sqrt(self._check_theta(weights))
        samples = (check_features("Z", Z, self.n_kernels) - self._centre) * root
        exponent = squared_distances(samples, self._X * root)
        np.negative(exponent, out=exponent)
        return np.exp(exponent, out=exponent)

    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        vector = np.asarray(a, dtype=np.float64)
        rows = np.flatnonzero(vector)
        X = self._X[rows]
        if K is None:
            W = centred_squared_distances(X * np.sqrt(self._check_theta(theta)))
            np.negative(W, out=W)
            np.exp(W, out=W)
        else:
            W = K[rows[:, None], rows]
        W *= vector[rows, None]
        W *= vector[rows]
        return 2.0 * (np.einsum("im,im->m", X, W @ X) - W.sum(axis=1) @ (X * X))

    def restrict(self, rows: ArrayLike) -> ProductGaussians:
        return ProductGaussians(self._X[np.asarray(rows)] + self._centre)

    def _check_theta(self, theta: ArrayLike) -> Array:
        checked = self._check_weights(theta)
        if not (checked >= 0).all():
            raise InputError(
                f"theta has the entry {checked.min():g}: the parameters of a product of Gaussians "
                "are numbers >= 0."
            )
        return checked
