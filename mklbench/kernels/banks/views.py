"""Gaussians of distances, a group of widths each view (Aflalo et al. 2011, section 4.1).

A view is one descriptor of the samples: some of their features, or a matrix of distances that has
been computed elsewhere. A distance D(x, z) >= 0 stands in the exponent as it is, so that the
Euclidean one is squared.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.banks.precomputed import check_rows
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.contract import Memory
from mklbench.kernels.cross import weighted_sum
from mklbench.kernels.euclidean import squared_distances
from mklbench.kernels.functions import standardisation
from mklbench.kernels.gram_matrices import PackedTriangles
from mklbench.kernels.naming import ALL_COLUMNS, gaussian_names, named
from mklbench.validation import (
    check_choice,
    check_features,
    check_finite,
    check_indices,
    check_not_empty,
    check_positive,
    check_scale,
    check_training_features,
    column_called,
    real_array,
)

DISTANCES = ("euclidean", "seuclidean", "chi2")

_CHI2_ROWS = 8
# Added to the sum of two bins, so that two empty ones differ by 0 and not by 0 / 0.
_NOTHING = 1e-300


class ViewColumns(Protocol):
    """A descriptor of the samples: the features from `start` to `stop`, compared by `distance`."""

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def distance(self) -> str: ...


class Distances(ABC):
    """Distances of several views between training samples, and from new samples to them.

    Attributes
    ----------
    n_samples : int
        Number n of training samples.
    n_views : int
        Number of views.
    """

    n_samples: int
    n_views: int

    @abstractmethod
    def within(self) -> Iterator[Array]:
        """Yield of each view the symmetric distances (n, n) between the training samples."""

    @abstractmethod
    def to(self, Z: ArrayLike) -> list[Array]:
        """Return of each view the distances (n_z, n) from new samples to the training samples.

        Parameters
        ----------
        Z : array_like
            New samples: features of shape (n_z, d), or row numbers (n_z,), as the training samples
            are.
        """

    def view_names(self) -> list[tuple[str, str]]:
        """Return for each view its name and that of the function of its distance."""
        return [(f"view {v}", "gaussian") for v in range(self.n_views)]

    @abstractmethod
    def take(self, rows: ArrayLike, views: Indices | None = None) -> Distances:
        """Return the same distances on some of the training samples only.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        views : ndarray of int of shape (v,) or None, default=None
            The views that a prediction needs, ascending; all if not given.
        """


@dataclass(frozen=True)
class _Part:
    """One view: its features as the distance takes them, columns times factors (d_v,)."""

    name: str
    columns: slice
    distance: str
    factors: Array

    def of(self, X: Array) -> Array:
        with np.errstate(over="ignore"):  # of new samples, to an infinite distance
            return np.ascontiguousarray(X[:, self.columns] * self.factors)

    def between(self, X: Array, Z: Array, keep: bool = True) -> Array:
        """Return the distances between samples `of` the view; those of chi2 may be kept."""
        if self.distance != "chi2":
            return squared_distances(X, Z)
        return chi2_distances(X, Z) if keep else _chi2_distances(X, Z)


class FeatureDistances(Distances):
    """Distances between samples that are given as features.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Training samples.
    views : sequence of ViewColumns, default=()
        The columns of each view and how they are compared; empty: all are one view, compared
        by `distance`, or the Euclidean one.
    distance : str or None, default=None
        "euclidean", the squared one; "seuclidean", the same on features divided by their
        standard deviation over the training samples; "chi2", `chi2_distances`; None: of each view
        its own.

    Raises
    ------
    InputError
        If a distance is not known, or is "chi2" of features below 0.
    """

    def __init__(
        self, X: ArrayLike, views: Sequence[ViewColumns] = (), distance: str | None = None
    ) -> None:
        samples = check_training_features("X", X)
        d = samples.shape[1]
        if distance is not None:
            check_choice("kernel.distance", distance, DISTANCES)
        parts = [_part(samples, ALL_COLUMNS, slice(0, d), distance or "euclidean")]
        if views:
            parts = [
                _part(samples, view.name, slice(view.start, view.stop), distance or view.distance)
                for view in views
            ]
        self._bind(parts, [part.of(samples) for part in parts], d, keep=True)

    def _bind(
        self, parts: Sequence[_Part], samples: Sequence[Array], n_features: int, keep: bool
    ) -> None:
        self._parts, self._samples = tuple(parts), tuple(samples)
        self._n_features, self._keep = n_features, keep
        self.n_samples, self.n_views = len(samples[0]), len(self._parts)

    def within(self) -> Iterator[Array]:
        for part, samples in zip(self._parts, self._samples, strict=True):
            yield part.between(samples, samples)

    def to(self, Z: ArrayLike) -> list[Array]:
        new = check_features("Z", Z, self._n_features)
        for part in self._parts:
            _check_histograms(part, new)
        return [
            part.between(part.of(new), samples, self._keep)
            for part, samples in zip(self._parts, self._samples, strict=True)
        ]

    def view_names(self) -> list[tuple[str, str]]:
        functions = ("chi2" if part.distance == "chi2" else "gaussian" for part in self._parts)
        return [(part.name, name) for part, name in zip(self._parts, functions, strict=True)]

    def take(self, rows: ArrayLike, views: Indices | None = None) -> FeatureDistances:
        """Keep the standard deviations of the samples that the distances were made on.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        views : ndarray of int of shape (v,) or None, default=None
            The views that a prediction needs, ascending; all if not given.
        """
        chosen = check_indices("rows", rows, self.n_samples)
        kept = range(self.n_views) if views is None else views.tolist()
        taken = FeatureDistances.__new__(FeatureDistances)
        taken._bind(
            [self._parts[v] for v in kept],
            [self._samples[v][chosen] for v in kept],
            self._n_features,
            keep=views is None,
        )
        return taken


def _part(X: Array, name: str, columns: slice, distance: str) -> _Part:
    features = X[:, columns]
    is_scaled = distance == "seuclidean"
    if not is_scaled:  # of small views beside large ones, too
        check_scale("X", features, columns.start)
    factors = standardisation(features)[1] if is_scaled else np.ones(features.shape[1])
    part = _Part(name, columns, distance, factors)
    _check_histograms(part, X)
    return part


class MatrixDistances(Distances):
    """Distances of a whole data set that have been computed elsewhere; samples are row numbers.

    Parameters
    ----------
    whole : ndarray of shape (V, N, N)
        Symmetric distances between all samples, one matrix a view.
    rows : array_like of shape (n,)
        Row numbers of the training samples.
    names : sequence of str or None, default=None
        The names (V,) of the views; "view 0" and so on if not given.
    """

    def __init__(self, whole: Array, rows: ArrayLike, names: Sequence[str] | None = None) -> None:
        chosen = check_rows(rows, whole.shape[1])
        self._bind(whole, chosen, chosen, names)

    def _bind(
        self, whole: Array, rows: Indices, columns: Indices, names: Sequence[str] | None
    ) -> None:
        # The training samples are rows `rows` and columns `columns` of `whole` (V, N, n').
        self._whole, self._rows, self._columns, self._names = whole, rows, columns, names
        self.n_views, self.n_samples = len(whole), len(rows)

    def within(self) -> Iterator[Array]:
        yield from self._block(self._rows)

    def to(self, Z: ArrayLike) -> list[Array]:
        return list(self._block(check_rows(Z, self._whole.shape[1])))

    def take(self, rows: ArrayLike, views: Indices | None = None) -> MatrixDistances:
        chosen = check_indices("rows", rows, self.n_samples)
        taken = MatrixDistances.__new__(MatrixDistances)
        kept = self._rows[chosen], self._columns[chosen]
        if views is None:
            taken._bind(self._whole, *kept, self._names)
            return taken
        names = None if self._names is None else [self._names[v] for v in views]
        taken._bind(self._whole[views][:, :, kept[1]], kept[0], np.arange(len(chosen)), names)
        return taken

    def view_names(self) -> list[tuple[str, str]]:
        if self._names is None:
            return super().view_names()
        return [(name, "gaussian") for name in self._names]

    def _block(self, rows: Indices) -> Iterator[Array]:
        return (matrix[np.ix_(rows, self._columns)] for matrix in self._whole)


def chi2_distances(X: Array, Z: Array) -> Array:
    """Return the chi-squared distances (n, n_z) sum_k (x_ik - z_jk)^2 / (x_ik + z_jk).

    They take longer than most fits, and every algorithm asks for those of the same splits again: a
    few are kept. What is returned is read-only.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Histograms, one a row, with values >= 0.
    Z : ndarray of shape (n_z, d)
        Those to compare them with.

    Raises
    ------
    InputError
        If `X` or `Z` is no finite matrix, or has a value below 0.
    """
    X, Z = real_array("X", X), real_array("Z", Z)
    for name, rows in (("X", X), ("Z", Z)):
        if rows.min(initial=0.0) < 0:
            row, column = np.argwhere(rows < 0)[0]
            raise InputError(
                f"{name} holds {rows[row, column]:g} at row {row}, {column_called(int(column))}: "
                "chi2 compares histograms, which have no values below 0."
            )
        check_finite(name, rows)
    return _kept.get((_digest(X), _digest(Z)), lambda: _chi2_distances(X, Z))


def _chi2_distances(X: Array, Z: Array) -> Array:
    """Compute `chi2_distances`.

    Feature by feature on a few rows that stay in the processor's cache, which on histograms with
    empty bins takes a third of the time of scikit-learn's `additive_chi2_kernel`.
    """
    distances = np.empty((len(X), len(Z)))
    columns = np.ascontiguousarray(Z.T)
    for start in range(0, len(X), _CHI2_ROWS):
        rows = X[start : start + _CHI2_ROWS]
        # Of distances within X the part up to the diagonal, and its mirror image.
        n_columns = min(start + _CHI2_ROWS, len(Z)) if X is Z else len(Z)
        total = np.zeros((len(rows), n_columns))
        squares, sums = np.empty_like(total), np.empty_like(total)
        for x, z in zip(rows.T, columns[:, :n_columns], strict=True):
            np.subtract(x[:, None], z, out=squares)
            with np.errstate(over="ignore"):  # to an infinite distance
                squares *= squares
            np.add(x[:, None], z, out=sums)
            sums += _NOTHING
            squares /= sums
            total += squares
        distances[start : start + _CHI2_ROWS, :n_columns] = total
        if X is Z:
            distances[:n_columns, start : start + _CHI2_ROWS] = total.T
    return distances


class _Kept:
    """The arrays that were asked for last, up to a number of bytes in all."""

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes = n_bytes
        self._arrays: dict[tuple[bytes, bytes], Array] = {}

    def get(self, key: tuple[bytes, bytes], compute: Callable[[], Array]) -> Array:
        array = self._arrays.pop(key, None)
        if array is None:
            array = compute()
            array.setflags(write=False)
        self._arrays[key] = array  # in the order of use
        while sum(each.nbytes for each in self._arrays.values()) > self._n_bytes:
            del self._arrays[next(iter(self._arrays))]
        return array


_kept = _Kept(2**28)


def _digest(X: Array) -> bytes:
    return hashlib.sha256(f"{X.shape}".encode() + X.tobytes()).digest()


def _check_histograms(part: _Part, X: Array) -> None:
    if part.distance == "chi2" and X[:, part.columns].min(initial=0.0) < 0:
        raise InputError(
            f"kernel.distance=chi2 compares histograms, and {part.name} has values below 0: set "
            f"split.scaling=none, or kernel.distance=euclidean."
        )


# Matrices (n, n) at once while a kernel is computed: the distances, and these scaled.
_FORMING = 2.0

# Bytes that the kernels to new samples may take.
_MOST_KEPT = 2**27


@dataclass(frozen=True)
class _NewSamples:
    """The new samples asked for last, kept for the next binary problem.

    Attributes
    ----------
    Z : ndarray
        The samples, a copy.
    distances : list of ndarray of shape (n_z, n)
        Of each view.
    blocks : dict of int to ndarray
        Kernels (n_z, n) by their index, where all of them together are not too large.
    """

    Z: NDArray[Any]
    distances: list[Array]
    blocks: dict[int, Array] = field(default_factory=dict)


class DistanceBank(StackedBank):
    """The kernels exp(-gamma D_v / mean D_v) of each view v and each gamma, a group a view.

    The mean is that over the pairs of training samples, so that the gammas mean the same for all
    views; what is taken of a bank keeps it. Where it is 0 the samples do not differ in the view,
    and its kernels are constant.

    Parameters
    ----------
    distances : Distances
        Of V views between n training samples.
    gammas : sequence of float
        G factors; kernel v G + g is that of view v and gamma g.

    Raises
    ------
    InputError
        If there is no gamma, or one is not a number > 0.
    """

    def __init__(self, distances: Distances, gammas: Sequence[float]) -> None:
        given = check_not_empty("gammas", gammas)
        values = np.array([check_positive("gamma", gamma) for gamma in given])
        n_views = distances.n_views
        grams = PackedTriangles(distances.n_samples, n_views * len(values))
        means = []
        for matrix in distances.within():
            means.append(_mean(matrix))
            for gamma in values:
                grams.append(np.exp(matrix * (-gamma / means[-1])))
        views = np.repeat(np.arange(n_views), len(values))
        self._bind(distances, np.array(means), views, np.tile(values, n_views))
        self._grams = grams
        self.groups = np.arange(self.n_kernels).reshape(n_views, -1).tolist()

    def _bind(self, distances: Distances, means: Array, views: Indices, gammas: Array) -> None:
        self._distances, self._means = distances, means
        self._views, self._gammas = views, gammas
        self._factors = -gammas / means[views]
        self.n_samples, self.n_kernels = distances.n_samples, len(views)
        self.features, self.groups = (-1,) * self.n_kernels, None
        self._new: _NewSamples | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_new": None}

    @classmethod
    def of_views(cls, n: int, n_views: int, n_gammas: int) -> Memory:
        """Return the memory of the V G kernels of several views.

        Parameters
        ----------
        n : int
            Number of training samples.
        n_views : int
            Number V of views.
        n_gammas : int
            Number G of kernels a view.
        """
        return cls.needs(n, n_views * n_gammas, forming=_FORMING)

    @property
    def n_values(self) -> int:
        return self.n_samples * (self.n_kernels + self._distances.n_views)

    @cached_property
    def _grams(self) -> PackedTriangles:
        distances = enumerate(self._distances.within())
        grams = (
            np.exp(matrix * factor)
            for v, matrix in distances
            for factor in self._factors[self._views == v]
        )
        return PackedTriangles.of(self.n_samples, grams, self.n_kernels)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        new = self._new
        if new is None or not np.array_equal(new.Z, np.asarray(Z)):
            new = self._new = _NewSamples(np.array(Z), self._distances.to(Z))
        active = np.flatnonzero(d)
        blocks = (self._block(m, new) for m in active.tolist())
        return weighted_sum(d[active], blocks, (len(new.Z), self.n_samples))

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.ones((self.n_kernels, self.n_samples if Z is None else len(np.asarray(Z))))

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return a name (M,) for each kernel, its gamma in units of 1 / the mean distance.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Not used: the views have names of their own.
        """
        return tuple(
            named(kernel, view)
            for v, (view, function) in enumerate(self._distances.view_names())
            for kernel in gaussian_names(self._gammas[self._views == v].tolist(), function)
        )

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> DistanceBank:
        indices = self._check_rows(rows)
        taken = DistanceBank.__new__(DistanceBank)
        if kernels is None:
            of_rows = self._distances.take(indices)
            taken._bind(of_rows, self._means, self._views, self._gammas)
            taken._grams, taken.groups = self._grams.take(indices), self.groups
            return taken
        used, views = np.unique(self._views[kernels], return_inverse=True)
        in_use = self._distances.take(indices, used)
        taken._bind(in_use, self._means[used], views, self._gammas[kernels])
        return taken

    def _block(self, m: int, new: _NewSamples) -> Array:
        """Return kernel `m` (n_z, n) between new samples and the training samples."""
        if m in new.blocks:
            return new.blocks[m]
        with np.errstate(over="ignore"):  # to an infinite distance, where the kernel is 0
            exponent = new.distances[self._views[m]] * self._factors[m]
        block: Array = np.exp(exponent, out=exponent)
        if self.n_kernels * block.nbytes <= _MOST_KEPT:
            new.blocks[m] = block
        return block


def _mean(distances: Array) -> float:
    """Return the mean over pairs of different samples of distances (n, n), 1 where it is 0."""
    n = len(distances)
    return float(distances.sum() / max(n * (n - 1), 1)) or 1.0
