"""Gaussians of several descriptors, a group of widths each (Aflalo et al. 2011, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.banks.distances import Distances
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.cross import weighted_sum
from mklbench.kernels.memory import Memory
from mklbench.kernels.naming import gaussian_names, named
from mklbench.kernels.storage.packed import PackedGrams
from mklbench.validation import check_not_empty, check_positive

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
        grams = PackedGrams(distances.n_samples, n_views * len(values))
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
    def _grams(self) -> PackedGrams:
        distances = enumerate(self._distances.within())
        grams = (
            np.exp(matrix * factor)
            for v, matrix in distances
            for factor in self._factors[self._views == v]
        )
        return PackedGrams.of(self.n_samples, grams, self.n_kernels)

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
