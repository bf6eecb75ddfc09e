"""Factors of kernels on single features: bases of nodes.

A kernel on one feature interpolates between nodes c, k_m(x, z) = b(x)' k_m(c, c) b(z) to rounding,
where c are the Chebyshev points of the feature's interval or, where there are few, its values. In
such a basis a function b(z)' S_m v is also the expansion

    f_m(z) = sum_c k_m(z, c) v_c,

which holds for any z, inside the interval or not, and needs r nodes in place of n samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mklbench.errors import InputError
from mklbench.kernels.bases import Array, Basis
from mklbench.kernels.functions import KernelFunction, matrices
from mklbench.kernels.row_factors import Nodes, Part, Samples
from mklbench.kernels.storage.factored import interpolation, n_nodes
from mklbench.validation import column_called

# A feature with more nodes than this is too rough for a basis of this kind.
_MOST_NODES = 400


@dataclass(frozen=True)
class Interpolation(Basis):
    """Between the Chebyshev points of an interval of one feature.

    Attributes
    ----------
    feature : int
        The feature.
    first, last : float
        The ends of its interval.
    rank : int
        The number of points.
    """

    feature: int
    first: float
    last: float
    rank: int

    @property
    def nodes(self) -> Array:
        """The points (r,), descending."""
        middle, radius = (self.first + self.last) / 2, (self.last - self.first) / 2
        return middle + radius * np.cos(self._angles)

    def __call__(self, X: Array) -> Array:
        # A share first: 2 over the width of an interval of denormal numbers is infinite.
        share = (X[:, self.feature] - self.first) / (self.last - self.first)
        return interpolation(2.0 * share - 1.0, self._angles)

    def shifted(self, by: int) -> Interpolation:
        return replace(self, feature=self.feature + by)

    @property
    def _angles(self) -> Array:
        return np.pi * (np.arange(self.rank) + 0.5) / self.rank


@dataclass(frozen=True, eq=False)
class Values(Basis):
    """Indicators of the values that a feature has at the training samples.

    Attributes
    ----------
    feature : int
        The feature.
    nodes : ndarray of shape (r,)
        The values, ascending.
    """

    feature: int
    nodes: Array
    of_values = True

    @property
    def rank(self) -> int:  # type: ignore[override]
        return len(self.nodes)

    def __call__(self, X: Array) -> Array:
        return (X[:, [self.feature]] == self.nodes).astype(np.float64)

    def shifted(self, by: int) -> Values:
        return replace(self, feature=self.feature + by)


def feature_parts(X: Samples, functions: Sequence[KernelFunction]) -> list[Part]:
    """Return a part for each feature, of all kernel functions on it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        Kernel functions; kernel j * len(functions) + k is function k on feature j.

    Raises
    ------
    InputError
        If a kernel is too rough for a basis on nodes.
    """
    k = len(functions)
    bases = [_basis(X, j, functions) for j in range(X.shape[1])]
    parts = []
    for j, basis in enumerate(bases):
        points = basis.nodes[:, None]
        cores = np.array(list(matrices(functions, points, points)))
        nodes = Nodes(functions, points, slice(j, j + 1))
        parts.append(Part(basis, cores, np.arange(j * k, (j + 1) * k), nodes))
    return parts


def basis_of(
    X: Samples, j: int, functions: Sequence[KernelFunction]
) -> Interpolation | Values | None:
    """Return the basis of all kernel functions on a feature; None if they are too rough for one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    j : int
        The feature.
    functions : sequence of KernelFunction
        Kernel functions.
    """
    column = np.asarray(X[:, j], dtype=np.float64)
    ends = np.array([column.min(), column.max()])
    many = n_nodes(ends, functions)
    values = _few_values(column, min(many, _MOST_NODES))
    if values is not None:
        return Values(j, values)
    if many <= _MOST_NODES:
        return Interpolation(j, float(ends[0]), float(ends[1]), int(many))
    return None


def _basis(X: Samples, j: int, functions: Sequence[KernelFunction]) -> Interpolation | Values:
    basis = basis_of(X, j, functions)
    if basis is None:
        raise InputError(
            f"method=joint has no factors for the kernels on {column_called(j)}: they vary too "
            f"fast over its values from {X[:, j].min():g} to {X[:, j].max():g}, choose wider "
            "kernels, rescale the column or choose method=libsvm."
        )
    return basis


def _few_values(column: Array, most: float) -> Array | None:
    """Return the different values of a column, ascending; None if there are more than `most`."""
    # A look at some of them tells most columns apart, without sorting all.
    if len(np.unique(column[: 4 * _MOST_NODES])) > most:
        return None
    values = np.unique(column)
    return values if len(values) <= most else None
