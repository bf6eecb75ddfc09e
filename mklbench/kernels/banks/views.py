"""Gaussians of several descriptors, a group of widths each (Aflalo et al. 2011, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.banks.cross import Indices, weighted_sum
from mklbench.kernels.banks.dense import StackedBank, on_landmarks
from mklbench.kernels.banks.distances import Distances, FeatureDistances, NewDistances
from mklbench.kernels.base import Array
from mklbench.kernels.cross import CrossKernels
from mklbench.kernels.landmarks import landmark_factors
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.naming import gaussian_names, named
from mklbench.kernels.row_factors import MANY, RowFactors
from mklbench.kernels.storage.packed import PackedGrams
from mklbench.validation import check_not_empty, check_positive

# Matrices (n, n) at once while a kernel is computed: the distances, and these scaled.
_FORMING = 2.0

# Samples that the mean distance of many is taken of.
_SAMPLED = 4000

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


class DistanceCross(CrossKernels):
    """The kernels exp(factor_m D_v(m)) between new samples and some of the training samples.

    Parameters
    ----------
    distances : NewDistances
        Of views, to these training samples.
    views : ndarray of int of shape (M,)
        For each kernel the number of its view among them.
    factors : ndarray of shape (M,)
        For each kernel the factor of the distance, < 0.
    """

    def __init__(self, distances: NewDistances, views: Indices, factors: Array) -> None:
        self._distances, self._views, self._factors = distances, views, factors
        self.n_samples, self.n_kernels = distances.n_samples, len(views)
        self._new: _NewSamples | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_new": None}

    @property
    def n_values(self) -> int:
        return self.n_samples * (self.n_kernels + len(set(self._views.tolist())))

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        new = self._new
        if new is None or not np.array_equal(new.Z, np.asarray(Z)):
            new = self._new = _NewSamples(np.array(Z), self._distances.to(Z))
        active = np.flatnonzero(d)
        blocks = (self._block(m, new) for m in active.tolist())
        shape = len(new.Z), self.n_samples
        return weighted_sum(d[active], blocks, shape)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.ones((self.n_kernels, self.n_samples if Z is None else len(np.asarray(Z))))

    def _block(self, m: int, new: _NewSamples) -> Array:
        """Kernel `m` (n_z, n) between new samples and the training."""
        if m in new.blocks:
            return new.blocks[m]
        with np.errstate(over="ignore"):  # to an infinite distance, where the kernel is 0
            exponent = new.distances[self._views[m]] * self._factors[m]
        block: Array = np.exp(exponent, out=exponent)
        if self.n_kernels * block.nbytes <= _MOST_KEPT:
            new.blocks[m] = block
        return block


class DistanceBank(StackedBank):
    """The kernels exp(-gamma D_v / mean D_v) of each view v and each gamma, a group a view.

    The mean is that over the pairs of training samples, so that the gammas mean the same for all
    views. Where it is 0 the samples do not differ in the view, and its kernels are constant.

    Of many samples that are features the mean is that over 4,000 of them, and Gram matrices are
    made when first asked for: factors on landmarks may be all that is needed.

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
        self._distances = distances
        given = check_not_empty("gammas", gammas)
        self._gammas = np.array([check_positive("gamma", gamma) for gamma in given])
        n = distances.n_samples
        if isinstance(distances, FeatureDistances) and n >= MANY:
            self._means = mean_distances(distances)
            self._bind()
            return
        grams = PackedGrams(n, distances.n_views * len(gammas))
        means = []
        for matrix in distances.within():
            means.append(_mean(matrix))
            for gamma in self._gammas:
                grams.append(np.exp(matrix * (-gamma / means[-1])))
        self._means = np.array(means)
        self._bind()
        self._grams = grams

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

    @classmethod
    def of_features(cls, shape: Shape, n_gammas: int) -> Memory:
        """Return the memory as `of_views` does, and that of factors on landmarks.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_gammas : int
            Number G of kernels a view.
        """
        n_views = max(1, shape.n_views)
        return on_landmarks(cls.of_views(shape.n, n_views, n_gammas), shape, n_views * n_gammas)

    @property
    def n_approximated(self) -> int:
        return self.n_kernels if isinstance(self._distances, FeatureDistances) else 0

    def row_factors(self, landmarks: int | None = None) -> RowFactors | None:
        distances = self._distances
        if not isinstance(distances, FeatureDistances):
            return None
        if landmarks not in self._on_landmarks:
            functions, columns = [], []
            for v, (own, mean) in enumerate(zip(distances.columns(), self._means, strict=True)):
                functions += [
                    distances.gaussian(v, gamma / mean) for gamma in self._gammas.tolist()
                ]
                columns += [own] * len(self._gammas)
            found = landmark_factors(distances.features, functions, landmarks, columns)
            self._on_landmarks[landmarks] = found
        return self._on_landmarks[landmarks]

    def traces(self) -> Array:
        if "_grams" in vars(self):
            return super().traces()
        return np.full(self.n_kernels, float(self.n_samples))

    @cached_property
    def _grams(self) -> PackedGrams:  # type: ignore[override]
        grams = PackedGrams(self.n_samples, self.n_kernels)
        for matrix, mean in zip(self._distances.within(), self._means, strict=True):
            for gamma in self._gammas:
                grams.append(np.exp(matrix * (-gamma / mean)))
        return grams

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        return self._cross.cross(weights, Z)

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return self._cross.diagonals(Z)

    def for_prediction(self, rows: Indices, kernels: Indices) -> DistanceCross:
        views, gammas = np.divmod(kernels, len(self._gammas))
        used, places = np.unique(views, return_inverse=True)
        factors = -self._gammas[gammas] / self._means[views]
        return DistanceCross(self._distances.for_prediction(rows, used), places, factors)

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return a name (M,) for each kernel, its gamma in units of 1 / the mean distance.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Not used: the views have names of their own.
        """
        names = (
            named(kernel, view)
            for view, function in self._distances.view_names()
            for kernel in gaussian_names(self._gammas.tolist(), function)
        )
        return tuple(names)

    def take(self, rows: ArrayLike) -> DistanceBank:
        """Keep the mean distances of the samples the bank was made on, so that widths stay.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        """
        restricted = DistanceBank.__new__(DistanceBank)
        indices = self._check_rows(rows)
        restricted._distances = self._distances.take(indices)
        restricted._gammas, restricted._means = self._gammas, self._means
        restricted._bind()
        if "_grams" in vars(self):
            restricted._grams = self._grams.take(indices)
        return restricted

    def _bind(self) -> None:
        n_gammas = len(self._gammas)
        self.n_samples = self._distances.n_samples
        self.n_kernels = self._distances.n_views * n_gammas
        self.features = (-1,) * self.n_kernels
        kernels = np.arange(self.n_kernels)
        self.groups = kernels.reshape(-1, n_gammas).tolist()
        self._on_landmarks: dict[int | None, RowFactors] = {}
        views, gammas = np.divmod(kernels, n_gammas)
        factors = -self._gammas[gammas] / self._means[views]
        self._cross = DistanceCross(self._distances, views, factors)


def mean_distances(distances: FeatureDistances) -> Array:
    """Return the mean of each view (V,) over pairs of samples; of many samples over some of them.

    Parameters
    ----------
    distances : FeatureDistances
        Of V views between n samples: the mean is over 4,000 of these where there are more.
    """
    n = distances.n_samples
    few = distances
    if n >= MANY:
        few = distances.take(np.arange(0, n, n // _SAMPLED)[:_SAMPLED])
    return np.array([_mean(matrix) for matrix in few.within()])


def _mean(distances: Array) -> float:
    """Return the mean over pairs of different samples of distances (n, n), 1 where it is 0."""
    n = len(distances)
    return float(distances.sum() / max(n * (n - 1), 1)) or 1.0
