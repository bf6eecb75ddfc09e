"""The linear system of an iteration of the joint method, for several right-hand sides.

With Theta = 1 / (l / alpha + u / (C - alpha)) and Y = diag(y) the changes of alpha, d, b and lam at
a point (`mklbench.optim.joint`) solve

    (Y B S_d B' Y + Theta^-1) dalpha + Y B T dd + y db = rho,
    -T' B' Y dalpha + (z / d) o dd + dlam = r,    y' dalpha = -y'alpha,    1' dd = 1 - 1'd,

T = [S_1 v ... S_M v]. With S_d = L L' and Woodbury's identity alpha goes, and what remains is

    P = L (I + L' H L)^-1 L',    N = I - H P,    H = B' Theta B,    h = B' Theta 1,
    g = B'Y Theta rho,

    [ T'N H T + diag(z / d)    T'N h                1 ] [ dd   ]   [ r + T'N g             ]
    [ (T'N h)'                 1'Theta 1 - h'P h    0 ] [ db   ] = [ y'Theta rho - h'P g + y'alpha ]
    [ 1'                       0                    0 ] [ dlam ]   [ 1 - 1'd               ]

after which dalpha = Theta (rho - Y (B x + db)) with x = T dd + P (g - H T dd - h db).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve

from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.row_blocks import Linearised

Array = NDArray[np.float64]

# Of its trace, what makes a matrix positive definite that is so but for rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Change:
    """A solution of the system.

    Attributes
    ----------
    weights : ndarray of shape (M,)
        dd.
    intercept, largest : float
        db and dlam.
    outputs : ndarray of shape (R,)
        x.
    """

    weights: Array
    intercept: float
    largest: float
    outputs: Array


class NewtonSystem:
    """The matrix of the system, factorised.

    Parameters
    ----------
    factors : RowFactors
        The M kernels, of R columns.
    at : Linearised
        What the samples add up to.
    weights, prices : ndarray of shape (M,)
        d and z.
    expansion : ndarray of shape (R,)
        v.

    Raises
    ------
    LinAlgError
        If rounding leaves no system to solve.
    """

    def __init__(
        self, factors: RowFactors, at: Linearised, weights: Array, prices: Array, expansion: Array
    ) -> None:
        self._at, self._T = at, factors.products(expansion)
        self._L = block_diag(*(root(core) for core in factors.combined(weights)))
        H, T = at.products, self._T
        inner = self._L.T @ H @ self._L
        inner[np.diag_indices_from(inner)] += 1.0
        self._inner = _factorised(inner)
        self._HT = H @ T
        self._NHT, self._Nh = self._reduce(self._HT), self._reduce(at.column_sums)
        m = len(weights)
        matrix = np.zeros((m + 2, m + 2))
        matrix[:m, :m] = T.T @ self._NHT + np.diag(prices / weights)
        matrix[:m, m] = matrix[m, :m] = T.T @ self._Nh
        matrix[m, m] = at.theta - float(at.column_sums @ self._within(at.column_sums))
        matrix[:m, m + 1] = matrix[m + 1, :m] = 1.0
        self._matrix = matrix
        self._sums = at.balance, 1.0 - float(weights.sum())

    def prices_along(self, change: Array) -> Array:
        """Return T' times a change of v (R,): that of half the quadratic forms, (M,)."""
        return self._T.T @ change

    def solve(self, projected: Array, labelled: float, prices: Array) -> Change:
        """Return the solution for a right-hand side.

        Parameters
        ----------
        projected : ndarray of shape (R,)
            B' Y Theta rho.
        labelled : float
            y' Theta rho.
        prices : ndarray of shape (M,)
            r.
        """
        at, T = self._at, self._T
        reduced = self._reduce(projected)
        balance, missing = self._sums
        right = np.concatenate(
            [
                prices + T.T @ reduced,
                [labelled - float(at.column_sums @ self._within(projected)) + balance, missing],
            ]
        )
        found = np.linalg.solve(self._matrix, right)
        d, b, lam = found[:-2], float(found[-2]), float(found[-1])
        left = projected - self._HT @ d - at.column_sums * b
        return Change(d, b, lam, T @ d + self._within(left))

    def _within(self, vectors: Array) -> Array:
        """Return P times vectors (R,) or (R, k)."""
        return self._L @ cho_solve(self._inner, self._L.T @ vectors)

    def _reduce(self, vectors: Array) -> Array:
        """Return N times vectors (R,) or (R, k)."""
        return vectors - self._at.products @ self._within(vectors)


def _factorised(matrix: Array) -> tuple[Array, bool]:
    """Return the Cholesky factor of a matrix that is positive definite but for rounding."""
    if not np.isfinite(matrix).all():
        raise LinAlgError("the matrix is not finite")
    try:
        return cho_factor(matrix, lower=True)
    except LinAlgError:
        raised = matrix + _ROUNDING * float(np.trace(matrix)) * np.eye(len(matrix))
        return cho_factor(raised, lower=True)


def root(core: Array) -> Array:
    """Return L with L L' = `core` (r, r), which is positive semidefinite up to rounding."""
    values, vectors = np.linalg.eigh(core)
    return vectors * np.sqrt(np.maximum(values, 0.0))
