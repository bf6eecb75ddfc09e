"""What samples add up to in the joint method: their hinges, and their rows of B.

Losses are sums of hinges: one a sample of an SVM, two of an SVR.

    loss(f) = sum over k, i of  C_i max(0, r_ki - s_ki f(x_i)),   s_ki = -1 or +1.

The dual has a variable 0 <= alpha_ki <= C_i for each, is linear with the coefficients r_ki, and
a_i = sum_k s_ki alpha_ki are the coefficients of the function on the samples. An SVM has s = y and
r = 1; the tube of an SVR has s = 1, r = y - epsilon on one side, and s = -1, r = -(y + epsilon) on
the other.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mklbench.certify import Hinge, Tube

Array = NDArray[np.float64]


class Terms(NamedTuple):
    """The hinges of n samples.

    Attributes
    ----------
    signs, targets : ndarray of shape (k, n)
        s and r, of k hinges a sample.
    box : ndarray of shape (n,)
        C_i > 0.
    shares : ndarray of shape (n,)
        C_i in units of their mean over all samples. What is aimed at along the path is in these
        units: where C_i differ by much, a product that is small for one is large for another.
    """

    signs: Array
    targets: Array
    box: Array
    shares: Array

    def of(self, rows: slice) -> Terms:
        """Return the hinges of some samples.

        Parameters
        ----------
        rows : slice
            The samples.
        """
        return Terms(*(each[..., rows] for each in self))

    def loss(self, rho: Array) -> float:
        """Return the loss of a function.

        Parameters
        ----------
        rho : ndarray of shape (k, n)
            r - s f.
        """
        return float(np.maximum(0.0, rho).sum(axis=0) @ self.box)

    def dual_coef(self, alpha: Array) -> Array:
        """Return a (n,).

        Parameters
        ----------
        alpha : ndarray of shape (k, n)
            The dual variables.
        """
        return np.asarray((self.signs * alpha).sum(axis=0))


def terms_of(loss: Hinge | Tube) -> Terms:
    """Return a loss of n samples as hinges.

    Parameters
    ----------
    loss : Hinge or Tube
        With labels or targets (n,), and C or one bound a sample.
    """
    if isinstance(loss, Hinge):
        signs, targets, bound = loss.y[None], np.ones((1, len(loss.y))), loss.box
    else:
        signs = np.repeat([[1.0], [-1.0]], len(loss.y), axis=1)
        targets, bound = signs * loss.y - loss.epsilon, loss.C
    box = np.broadcast_to(np.asarray(bound, dtype=np.float64), loss.y.shape)
    return Terms(signs, targets, box, box / box.mean())


@dataclass(frozen=True)
class Products:
    """B' Theta B in the products of dense and of sparse columns, which add up in little memory.

    Attributes
    ----------
    parts : list
        Of dense columns, of sparse with dense ones, and of sparse ones.
    columns : list
        Which are dense, and which are sparse.
    """

    parts: list[Any]
    columns: list[Any]

    def __add__(self, other: Products) -> Products:
        parts = [x + y for x, y in zip(self.parts, other.parts, strict=True)]
        return Products(parts, self.columns)

    def matrix(self) -> Array:
        """Return B' Theta B (R, R)."""
        if len(self.parts) == 1:
            return np.asarray(self.parts[0])
        (dense, sparse), (own, across, rest) = self.columns, self.parts
        found = np.empty((len(dense),) * 2)
        found[np.ix_(dense, dense)] = own
        found[np.ix_(sparse, dense)], found[np.ix_(dense, sparse)] = across, across.T
        found[np.ix_(sparse, sparse)] = rest.toarray()
        return found


@dataclass
class Linearised:
    """What the samples add to the equations at a point, with alpha of slopes Theta.

    On the central path Theta = 1 / (l / alpha + u / (C - alpha)).

    Attributes
    ----------
    parts : Products
        Of B' Theta B.
    column_sums, projected, expansion : ndarray of shape (R,)
        B' Theta 1, B' Y Theta rho, rho being the right-hand side, and t = B' Y alpha.
    theta, labelled : float
        1' Theta 1 and y' Theta rho.
    loss, linear, complementarity : float
        The loss, the dual but for its quadratic form, the sum of alpha of an SVM, and l'alpha +
        u'(C - alpha).
    balance : float
        y'alpha.
    n_pairs : int
        How many products the complementarity sums.
    """

    parts: Products
    column_sums: Array
    projected: Array
    expansion: Array
    theta: float
    labelled: float
    loss: float
    linear: float
    complementarity: float
    balance: float
    n_pairs: int

    def __add__(self, other: Linearised) -> Linearised:
        sums = (getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        return Linearised(*sums)

    @cached_property
    def products(self) -> Array:
        """B' Theta B (R, R)."""
        return self.parts.matrix()


class SplitRows:
    """Rows of B, of whose columns some are sparse.

    Parameters
    ----------
    rows : ndarray of shape (n, R)
        The rows.
    sparse : ndarray of bool of shape (R,)
        Which columns.
    """

    def __init__(self, rows: NDArray, sparse: NDArray[np.bool_]) -> None:
        self.rank = rows.shape[1]
        self._columns: list[Any] = [~sparse, sparse] if sparse.any() else [slice(None)]
        self._parts: list[Any] = [np.ascontiguousarray(rows[:, self._columns[0]])]
        if sparse.any():
            self._parts.append(csr_array(rows[:, sparse]))

    def astype(self, dtype: type[np.floating]) -> SplitRows:
        """Return the rows as other numbers."""
        return self._with([part.astype(dtype, copy=False) for part in self._parts])

    def of(self, chosen: NDArray[np.bool_]) -> SplitRows:
        """Return some of the rows, of a mask (n,)."""
        if chosen.all():
            return self
        return self._with([part[np.flatnonzero(chosen)] for part in self._parts])

    def _with(self, parts: list[Any]) -> SplitRows:
        other = copy(self)
        other._parts = parts
        return other

    def outputs(self, x: Array) -> Array:
        """Return B x (n,) for a vector (R,)."""
        pairs = zip(self._parts, self._columns, strict=True)
        return np.asarray(sum(part @ x[columns] for part, columns in pairs))

    def projected(self, a: Array) -> Array:
        """Return B'a (R,) for a vector (n,), in the precision of B."""
        found, a = np.empty(self.rank), a.astype(self._parts[0].dtype)
        for part, columns in zip(self._parts, self._columns, strict=True):
            found[columns] = part.T @ a
        return found

    def products(self, roots: Array) -> Products:
        """Return B' diag(roots)^2 B."""
        dense, *others = self._parts
        scaled = dense * roots[:, None].astype(dense.dtype)
        found: list[Any] = [(scaled.T @ scaled).astype(np.float64)]
        for sparse in others:
            own = diags_array(roots.astype(dense.dtype)) @ sparse
            found += [own.T @ scaled, own.T @ own]
        return Products(found, self._columns)
