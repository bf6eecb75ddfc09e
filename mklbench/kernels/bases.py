"""Maps from samples to the rows of a basis, of which factors of kernels are made.

`mklbench.kernels.row_factors` has the kernels on them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Basis(ABC):
    """Maps samples to rows of B.

    Attributes
    ----------
    rank : int
        r, the number of columns.
    of_values : bool
        Whether a row has a 1 for its sample's value and else zeros.
    """

    rank: int
    of_values = False

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Return the rows (n, r) at samples (n, d)."""

    def projected(self, X: Array, a: Array) -> Array:
        """Return B'a (r,) for B at samples (n, d) and a vector (n,)."""
        return self(X).T @ a

    def outputs(self, X: Array, x: Array) -> Array:
        """Return B x (n, k) for B at samples (n, d) and vectors (r, k)."""
        return self(X) @ x

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        """Return `projected` and `outputs`, for which the rows are made once."""
        B = self(X)
        return B.T @ a, B @ x

    @abstractmethod
    def shifted(self, by: int) -> Basis:
        """Return the basis where other features stand before those that it looks at."""


@dataclass(frozen=True, eq=False)
class Column(Basis):
    """A feature as it is.

    Attributes
    ----------
    feature : int
        The feature.
    """

    feature: int
    rank = 1

    def __call__(self, X: Array) -> Array:
        return X[:, [self.feature]]

    def shifted(self, by: int) -> Column:
        return replace(self, feature=self.feature + by)


@dataclass(frozen=True, eq=False)
class Columns(Basis):
    """Several features as they are, side by side.

    Attributes
    ----------
    first : int
        The first of them.
    rank : int
        How many.
    """

    first: int
    rank: int

    def __call__(self, X: Array) -> Array:
        return X[:, self.first : self.first + self.rank]

    def shifted(self, by: int) -> Columns:
        return replace(self, first=self.first + by)


@dataclass(frozen=True, eq=False)
class Projected(Basis):
    """Some directions of another basis: its rows times a matrix.

    Attributes
    ----------
    basis : Basis
        The other basis, of rank q.
    directions : ndarray of shape (q, r)
        The matrix.
    """

    basis: Basis
    directions: Array

    @property
    def rank(self) -> int:  # type: ignore[override]
        return self.directions.shape[1]

    def shifted(self, by: int) -> Projected:
        return replace(self, basis=self.basis.shifted(by))

    def __call__(self, X: Array) -> Array:
        return self.basis(X) @ self.directions

    def projected(self, X: Array, a: Array) -> Array:
        return self.directions.T @ self.basis.projected(X, a)

    def outputs(self, X: Array, x: Array) -> Array:
        return self.basis.outputs(X, self.directions @ x)

    def both(self, X: Array, a: Array, x: Array) -> tuple[Array, Array]:
        projected, outputs = self.basis.both(X, a, self.directions @ x)
        return self.directions.T @ projected, outputs
