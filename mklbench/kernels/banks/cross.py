"""What banks keep for predictions: the values between new samples and support vectors.

Each class has the `cross` of its bank, on features, rows or given matrices of the support vectors
in place of Gram matrices. Sums go kernel by kernel in the order of the bank, so that a prediction
has the digits that the bank itself gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.cross import Array, CrossKernels
from mklbench.kernels.functions import KernelFunction, matrices
from mklbench.validation import check_features, check_finite, real_array

Indices = NDArray[np.intp]


class FunctionsCross(CrossKernels):
    """Kernel functions on all features.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    functions : sequence of KernelFunction
        The M kernel functions.
    """

    def __init__(self, X: Array, functions: Sequence[KernelFunction]) -> None:
        self._X, self._functions = X, tuple(functions)
        self.n_samples, self.n_kernels = len(X), len(self._functions)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        samples = check_features("Z", Z, self._X.shape[1])
        active = np.flatnonzero(d)
        blocks = matrices([self._functions[m] for m in active], samples, self._X)
        return weighted_sum(d[active], blocks, (len(samples), self.n_samples))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = self._X if Z is None else check_features("Z", Z, self._X.shape[1])
        return np.array([function.diagonal(samples) for function in self._functions])


class FeatureCross(CrossKernels):
    """Kernel functions on one feature each, of which only those in use are kept.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    features : sequence of int
        For each of the M kernels the index of its feature, ascending.
    functions : sequence of KernelFunction
        The function of each kernel.
    """

    def __init__(
        self, X: Array, features: Sequence[int], functions: Sequence[KernelFunction]
    ) -> None:
        self._n_features = X.shape[1]
        self._features, self._functions = tuple(features), tuple(functions)
        self._columns = {j: np.ascontiguousarray(X[:, [j]]) for j in dict.fromkeys(features)}
        self.n_samples, self.n_kernels = len(X), len(self._functions)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        samples = check_features("Z", Z, self._n_features)
        active = np.flatnonzero(d)
        shape = len(samples), self.n_samples
        return weighted_sum(d[active], self._blocks(active, samples), shape)

    def _blocks(self, active: Indices, samples: Array) -> Iterable[Array]:
        for j, kernels in groupby(active.tolist(), key=self._features.__getitem__):
            functions = [self._functions[m] for m in kernels]
            yield from matrices(functions, samples[:, [j]], self._columns[j])

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = None if Z is None else check_features("Z", Z, self._n_features)
        return np.array(
            [
                function.diagonal(self._columns[j] if samples is None else samples[:, [j]])
                for j, function in zip(self._features, self._functions, strict=True)
            ]
        )


class GroupsCross(CrossKernels):
    """Kernel functions on a group of columns each, of which only those in use are kept.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    groups : sequence of tuple of int
        For each of the M kernels its columns; kernels on the same ones stand together.
    functions : sequence of KernelFunction
        The function of each kernel.
    """

    def __init__(
        self, X: Array, groups: Sequence[tuple[int, ...]], functions: Sequence[KernelFunction]
    ) -> None:
        self._n_features = X.shape[1]
        self._groups, self._functions = tuple(groups), tuple(functions)
        self._columns = {group: X[:, list(group)] for group in dict.fromkeys(groups)}
        self.n_samples, self.n_kernels = len(X), len(self._functions)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        samples = check_features("Z", Z, self._n_features)
        active = np.flatnonzero(d)
        shape = len(samples), self.n_samples
        return weighted_sum(d[active], self._blocks(active, samples), shape)

    def _blocks(self, active: Indices, samples: Array) -> Iterable[Array]:
        for group, kernels in groupby(active.tolist(), key=self._groups.__getitem__):
            functions = [self._functions[m] for m in kernels]
            yield from matrices(functions, samples[:, list(group)], self._columns[group])

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        samples = None if Z is None else check_features("Z", Z, self._n_features)
        return np.array(
            [
                function.diagonal(
                    self._columns[group] if samples is None else samples[:, list(group)]
                )
                for group, function in zip(self._groups, self._functions, strict=True)
            ]
        )


class NodesCross(CrossKernels):
    """Kernel functions on single features between new samples and nodes on each of them.

    Parameters
    ----------
    functions : sequence of KernelFunction
        The k functions; kernel j * k + i is function i on feature j.
    nodes : sequence of ndarray of shape (r_j,)
        For each feature its nodes. In place of training samples come these, one feature after
        the other; a kernel on another feature is 0 there.
    """

    def __init__(self, functions: Sequence[KernelFunction], nodes: Sequence[Array]) -> None:
        self._functions, self._nodes = tuple(functions), tuple(nodes)
        self.n_samples = sum(len(points) for points in nodes)
        self.n_kernels = len(self._nodes) * len(self._functions)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights).reshape(len(self._nodes), -1)
        samples = check_features("Z", Z, len(self._nodes))
        parts = []
        for j, points in enumerate(self._nodes):
            active = np.flatnonzero(d[j])
            functions = [self._functions[k] for k in active]
            blocks = matrices(functions, samples[:, [j]], points[:, None])
            parts.append(weighted_sum(d[j, active], blocks, (len(samples), len(points))))
        return np.concatenate(parts, axis=1)


class LinearCross(CrossKernels):
    """The kernels x_m z_m of some features.

    Parameters
    ----------
    columns : ndarray of shape (M, n)
        The features of the training samples.
    features : ndarray of int of shape (M,)
        The index of each of them among those of a new sample.
    n_features : int
        How many features a new sample has.
    """

    def __init__(self, columns: Array, features: Indices, n_features: int) -> None:
        self._columns, self._features, self._n_features = columns, features, n_features
        self.n_kernels, self.n_samples = columns.shape

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        return (self._chosen(Z) * d) @ self._columns

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.square(self._columns if Z is None else self._chosen(Z).T)

    def _chosen(self, Z: ArrayLike) -> Array:
        return check_features("Z", Z, self._n_features)[:, self._features]


class StackCross(CrossKernels):
    """Gram matrices that are given: of a cross Gram matrix, which rows and kernels are in use.

    Parameters
    ----------
    rows : ndarray of int of shape (k,)
        The support vectors, by their number among the training samples.
    n_samples : int
        How many training samples there were: columns of a cross Gram matrix.
    kernels : ndarray of int of shape (m,)
        The kernels in use.
    n_kernels : int
        How many there were: cross Gram matrices of a stack.
    maps : sequence of ndarray of shape (n, k) or None, default=None
        For each kernel in use what its cross Gram matrix is multiplied by; None for the columns
        `rows` of it.
    """

    def __init__(
        self,
        rows: Indices,
        n_samples: int,
        kernels: Indices,
        n_kernels: int,
        maps: Sequence[Array | None] | None = None,
    ) -> None:
        self._rows, self._kernels, self._maps = rows, kernels, maps
        self._given = n_kernels, n_samples
        self.n_samples, self.n_kernels = len(rows), len(kernels)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        stack = cross_grams(Z, *self._given)
        active = np.flatnonzero(d)
        if self._maps is None:
            # Whole rows are added up: to pick columns first takes longer.
            blocks = (stack[m] for m in self._kernels[active])
            combined = weighted_sum(d[active], blocks, stack.shape[1:])[:, self._rows]
        else:
            mapped = [
                stack[m][:, self._rows] if P is None else stack[m] @ P
                for m, P in zip(self._kernels, self._maps, strict=True)
            ]
            combined = np.tensordot(d, np.array(mapped), axes=1)
        if not np.isfinite(combined).all():
            check_finite("Z", stack)
        return combined


class GivenCross(CrossKernels):
    """What banks of given Gram matrices have in common: new samples come as cross Gram matrices."""

    # For each kernel P (n, n), by which its cross Gram matrix is multiplied, None for as it is.
    _maps: Sequence[Array | None] | None = None

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the combination (n_z, n) of cross Gram matrices.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels.
        Z : array_like of shape (M, n_z, n)
            Cross Gram matrices between new samples and the training samples, one a kernel.
        """
        d = self._check_weights(weights)
        stack = check_stack(Z, self.n_kernels, self.n_samples)
        if self._maps is not None:
            pairs = zip(stack, self._maps, strict=True)
            stack = np.array([cross if P is None else cross @ P for cross, P in pairs])
        return np.tensordot(d, stack, axes=1)

    def for_prediction(self, rows: Indices, kernels: Indices) -> StackCross:
        """Return what a prediction needs (`mklbench.kernels.KernelOperator.for_prediction`).

        Parameters
        ----------
        rows : ndarray of int of shape (k,)
            The support vectors.
        kernels : ndarray of int of shape (m,)
            The kernels in use.
        """
        chosen = [None if self._maps is None else self._maps[m] for m in kernels]
        maps = None if self._maps is None else [None if P is None else P[:, rows] for P in chosen]
        return StackCross(rows, self.n_samples, kernels, self.n_kernels, maps)


class RowsCross(CrossKernels):
    """Gram matrices of a whole data set: of all its rows with the support vectors.

    Parameters
    ----------
    columns : ndarray of shape (M, N, k)
        The kernels between the N samples of the data set and k support vectors.
    whole_diagonals : ndarray of shape (M, N)
        The diagonals of the whole Gram matrices.
    """

    def __init__(self, columns: Array, whole_diagonals: Array) -> None:
        self._columns, self._diagonals = columns, whole_diagonals
        self.n_kernels, _, self.n_samples = columns.shape

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        new = check_rows(Z, self._columns.shape[1])
        active = np.flatnonzero(d)
        blocks = (self._columns[m][new] for m in active)
        return weighted_sum(d[active], blocks, (len(new), self.n_samples))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        if Z is None:
            return super().diagonals()
        return self._diagonals[:, check_rows(Z, self._columns.shape[1])]


def weighted_sum(weights: Array, blocks: Iterable[Array], shape: tuple[int, int]) -> Array:
    """Return sum_m weights_m blocks_m, zeros of `shape` where there is no block."""
    total: Array | None = None
    for weight, block in zip(weights, blocks, strict=True):
        if total is None:
            total = weight * block
        else:
            total += weight * block
    return np.zeros(shape) if total is None else total


def check_stack(Z: ArrayLike, n_kernels: int, n_samples: int) -> Array:
    """Return `Z` as finite cross Gram matrices (n_kernels, n_z, n_samples)."""
    stack = cross_grams(Z, n_kernels, n_samples)
    check_finite("Z", stack)
    return stack


def cross_grams(Z: ArrayLike, n_kernels: int, n_samples: int) -> Array:
    """Return `Z` as cross Gram matrices (n_kernels, n_z, n_samples), unread."""
    stack = real_array("Z", Z)
    if stack.ndim != 3 or stack.shape[::2] != (n_kernels, n_samples):
        raise InputError(
            f"the cross Gram matrices have shape {stack.shape}: "
            f"pass ({n_kernels}, n_new, {n_samples}), one matrix a kernel."
        )
    return stack


def check_rows(rows: ArrayLike, n: int) -> Indices:
    """Return `rows` as indices (k,) if they are row numbers from 0 to n - 1."""
    indices = np.asarray(rows)
    if indices.ndim == 2 and indices.shape[1] == 1:
        indices = indices[:, 0]
    # Scikit-learn passes the row numbers of a sample matrix as floats.
    numeric = indices.ndim == 1 and indices.dtype.kind in "iuf"
    if not numeric or not np.isin(indices, np.arange(n)).all():
        raise InputError(
            f"precomputed kernels take row indices from 0 to {n - 1} in place of features."
        )
    return indices.astype(np.intp)
