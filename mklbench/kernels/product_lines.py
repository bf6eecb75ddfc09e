"""Quadratic forms of products of Gaussians along one parameter at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.base import Array, Lines, RoughFamily
from mklbench.kernels.euclidean import exp_in_place

Single = NDArray[np.float32]

# Differences of a feature are rounded to so many of its range.
_N_BINS = 1024
# Pairs of samples that are worked on at once: with more, memory is asked of the system anew each
# time, which takes as long as the sums.
_PAIRS_AT_ONCE = 2**14


class ProductLines(Lines):
    """a' K_theta a along one parameter of a product of Gaussians, for all of its values at once.

    With E_ij = sum_m theta_m (x_im - x_jm)^2 kept for the current theta, and the contribution of
    parameter m taken out of it,

        a' K a = sum_ij a_i a_j exp(-E_ij + theta_m u_ij^2) exp(-c u_ij^2),    u_ij = |x_im - x_jm|,

    at theta_m = c. The sum over pairs with the same u is a histogram of u that does not depend on
    c: one pass over the pairs serves all values. Pairs are of one bin where u is alike to within a
    thousandth of the feature's range.

    Parameters
    ----------
    rough : RoughFamily
        The kernels.
    X : ndarray of shape (n, M)
        The samples, of single precision.
    theta : ndarray of shape (M,)
        Where to begin.
    a : ndarray of shape (n,)
        The vector of the form.
    """

    def __init__(self, rough: RoughFamily, X: Single, theta: Array, a: Array) -> None:
        super().__init__(rough, np.zeros(len(theta)), a)
        self._X = np.ascontiguousarray(X.T)
        self._single = a.astype(np.float32)
        n = len(a)
        # Blocks of rows, each with its own columns and all later ones: later ones count twice.
        self._starts = [0]
        while self._starts[-1] < n:
            first = self._starts[-1]
            self._starts.append(min(n, first + max(1, _PAIRS_AT_ONCE // (n - first))))
        self._exponents = [
            np.zeros((end - first, n - first), dtype=np.float32)
            for first, end in zip(self._starts, self._starts[1:], strict=False)
        ]
        for m in np.flatnonzero(theta):
            self.move(int(m), float(theta[m]))

    def along(self, m: int, values: Array) -> Array:
        x = self._X[m]
        reach = float(x.max() - x.min())
        scale = np.float32((_N_BINS - 1) / reach if reach > 0.0 else 0.0)
        sums = np.zeros(_N_BINS)
        for first, exponents in zip(self._starts, self._exponents, strict=False):
            end = first + len(exponents)
            u = self._differences(m, first, end)
            bins = (u * scale + np.float32(0.5)).astype(np.intp)
            W = np.square(u, out=u)
            W *= np.float32(self.theta[m])
            W -= exponents
            exp_in_place(W)
            W *= self._single[first:end, None]
            W[:, : end - first] *= self._single[first:end]
            W[:, end - first :] *= 2.0 * self._single[end:]
            sums += np.bincount(bins.ravel(), W.ravel(), _N_BINS)
        squares = np.square(np.arange(_N_BINS) * (reach / (_N_BINS - 1))).astype(np.float32)
        exponents = np.multiply.outer(-values.astype(np.float32), squares)
        found: Array = exp_in_place(exponents).astype(np.float64) @ sums
        return found

    def move(self, m: int, value: float) -> None:
        change = np.float32(value - self.theta[m])
        for first, exponents in zip(self._starts, self._exponents, strict=False):
            u = self._differences(m, first, first + len(exponents))
            exponents += change * np.square(u, out=u)
        self.theta[m] = value

    def _differences(self, m: int, first: int, end: int) -> Single:
        """Return |x_im - x_jm| for the samples i of a block and j from its first on."""
        x = self._X[m]
        found = x[first:end, None] - x[first:]
        return np.abs(found, out=found)
