"""The linear system of an iteration of the joint method, for several right-hand sides.

With Theta = 1 / (l / alpha + u / (C - alpha)) and Y = diag(y) the changes of alpha, v, x, b and
lam at a point (`mklbench.optim.joint`) solve

    Theta^-1 dalpha + Y B (S_d dv + T dx) + y db = rho,    dv - B'Y dalpha = t - v,
    -s o T'dv + D dx + A'dlam = r,    y' dalpha = -y'alpha,    A dx = 1 - A x,

T = [S_1 v ... S_M v] J for the slopes J = dd/dx, and D = diag(z / x) + the curvature of d(x)
(`mklbench.optim.weight_sets`). With S_d = L L' and Woodbury's identity alpha and v go, what remains
is

    P = L (I + L' H L)^-1 L',    N = I - H P,    H = B' Theta B,    h = B' Theta 1,
    g = B'Y Theta rho + t - v,

    [ s o T'N H T + D    s o T'N h            A' ] [ dx   ]   [ r + s o T'N g                 ]
    [ (T'N h)'           1'Theta 1 - h'P h    0  ] [ db   ] = [ y'Theta rho - h'P g + y'alpha ]
    [ A                  0                    0  ] [ dlam ]   [ 1 - A x                       ]

after which dalpha = Theta (rho - Y (B o + db)) with o = S_d dv + T dx = T dx + P (g - H T dx - h
db).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.row_blocks import Linearised
from mklbench.optim.weight_sets import WeightSet

Array = NDArray[np.float64]

# Of its trace, what makes a matrix positive definite that is so but for rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Change:
    """A solution of the system.

    Attributes
    ----------
    x : ndarray of shape (k,)
        dx.
    intercept : float
        db.
    levels : ndarray of shape (c,)
        dlam.
    outputs : ndarray of shape (R,)
        o.
    expansion : ndarray of shape (R,)
        dv, as far as S_d dv is not 0.
    """

    x: Array
    intercept: float
    levels: Array
    outputs: Array
    expansion: Array


class NewtonSystem:
    """The matrix of the system, factorised.

    Parameters
    ----------
    factors : RowFactors
        The M kernels, of R columns.
    at : Linearised
        What the samples add up to.
    weight_set : WeightSet
        Where the weights may be.
    x, prices : ndarray of shape (k,)
        x and z.
    expansion : ndarray of shape (R,)
        v.

    Raises
    ------
    LinAlgError
        If rounding leaves no system to solve.
    """

    def __init__(
        self,
        factors: RowFactors,
        at: Linearised,
        weight_set: WeightSet,
        x: Array,
        prices: Array,
        expansion: Array,
    ) -> None:
        self._at, self._signs = at, weight_set.signs
        self._T = weight_set.times_slopes(x, factors.products(expansion))
        weights = weight_set.weights(x)
        self._roots = [root(core) for core in factors.combined(weights)]
        self._columns = factors.columns
        H, T, A = at.products, self._T, weight_set.sums
        inner = self._left(self._left(H).T)
        inner[np.diag_indices_from(inner)] += 1.0
        self._inner = _factorised(inner)
        self._HT = H @ T
        NHT, Nh = self._reduce(self._HT), self._reduce(at.column_sums)
        k = len(x)
        matrix = np.zeros((k + 1 + len(A),) * 2)
        matrix[:k, :k] = self._signs[:, None] * (T.T @ NHT) + np.diag(prices / x)
        matrix[:k, :k] += weight_set.curvature(x, 0.5 * factors.forms(expansion))
        matrix[k, :k] = T.T @ Nh
        matrix[:k, k] = self._signs * matrix[k, :k]
        matrix[k, k] = at.theta - float(at.column_sums @ self._within(at.column_sums))
        matrix[:k, k + 1 :], matrix[k + 1 :, :k] = A.T, A
        self._matrix = matrix
        self._sums = at.balance, 1.0 - A @ x
        self._behind = at.expansion - expansion

    def solve(self, projected: Array, labelled: float, prices: Array, bend: Array) -> Change:
        """Return the solution for a right-hand side.

        Parameters
        ----------
        projected : ndarray of shape (R,)
            B' Y Theta rho.
        labelled : float
            y' Theta rho.
        prices : ndarray of shape (k,)
            r.
        bend : ndarray of shape (R,)
            What o is to have beside S_d dv + T dx.

        Raises
        ------
        LinAlgError
            If numbers have left the range of double precision.
        """
        at, T = self._at, self._T
        g = projected + self._behind - at.products @ bend
        labelled = labelled - float(at.column_sums @ bend)
        reduced = self._reduce(g)
        balance, missing = self._sums
        right = np.concatenate(
            [
                prices + self._signs * (T.T @ reduced),
                [labelled - float(at.column_sums @ self._within(g)) + balance],
                missing,
            ]
        )
        found = np.linalg.solve(self._matrix, right)
        if not np.isfinite(found).all():
            raise LinAlgError("the solution is not finite")
        k = len(prices)
        x, b, lam = found[:k], float(found[k]), found[k + 1 :]
        left = g - self._HT @ x - at.column_sums * b
        inside = self._inside(left)  # S_d dv = L inside
        pairs = zip(self._roots, self._columns, strict=True)
        v = np.concatenate([preimage(root, inside[columns]) for root, columns in pairs])
        return Change(x, b, lam, T @ x + self._times(inside) + bend, v)

    def _within(self, vectors: Array) -> Array:
        """Return P times vectors (R,) or (R, k)."""
        return self._times(self._inside(vectors))

    def _inside(self, vectors: Array) -> Array:
        """Return (I + L' H L)^-1 L' times vectors (R,) or (R, k)."""
        return np.asarray(cho_solve(self._inner, self._left(vectors), check_finite=False))

    def _left(self, vectors: Array) -> Array:
        """Return L' times vectors (R,) or (R, k)."""
        pairs = zip(self._roots, self._columns, strict=True)
        return np.concatenate([root.T @ vectors[columns] for root, columns in pairs])

    def _times(self, vectors: Array) -> Array:
        """Return L times vectors (R,) or (R, k)."""
        pairs = zip(self._roots, self._columns, strict=True)
        return np.concatenate([root @ vectors[columns] for root, columns in pairs])

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


def preimage(root: Array, values: Array) -> Array:
    """Return v with L'v = `values` (r,) for L of orthogonal columns, as `root` returns it."""
    return root @ (values / np.maximum((root**2).sum(axis=0), np.finfo(float).tiny))
