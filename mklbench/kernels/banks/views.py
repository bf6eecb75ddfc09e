"""Gaussians of several descriptors, a group of widths each (Aflalo et al. 2011, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.banks.dense import StackedBank
from mklbench.kernels.banks.distances import Distances
from mklbench.kernels.base import Array
from mklbench.kernels.memory import Memory
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
    views. Where it is 0 the samples do not differ in the view, and its kernels are constant.

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

    _new: _NewSamples | None

    def __init__(self, distances: Distances, gammas: Sequence[float]) -> None:
        self._distances = distances
        given = check_not_empty("gammas", gammas)
        self._gammas = np.array([check_positive("gamma", gamma) for gamma in given])
        n, n_gammas = distances.n_samples, len(gammas)
        grams = PackedGrams(n, distances.n_views * n_gammas)
        means = []
        for matrix in distances.within():
            means.append(matrix.sum() / max(n * (n - 1), 1) or 1.0)
            for gamma in self._gammas:
                grams.append(np.exp(matrix * (-gamma / means[-1])))
        self._means = np.array(means)
        self._bind(grams)

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

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        new = self._new
        if new is None or not np.array_equal(new.Z, np.asarray(Z)):
            new = self._new = _NewSamples(np.array(Z), self._distances.to(Z))
        combined = np.zeros(new.distances[0].shape)
        for m in np.flatnonzero(d).tolist():
            combined += d[m] * self._block(m, new)
        return combined

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.ones((self.n_kernels, self.n_samples if Z is None else len(np.asarray(Z))))

    def restrict(self, rows: ArrayLike) -> DistanceBank:
        """Keep the mean distances of the samples the bank was made on, so that widths stay.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        """
        restricted = DistanceBank.__new__(DistanceBank)
        indices = self._check_rows(rows)
        restricted._distances = self._distances.restrict(indices)
        restricted._gammas, restricted._means = self._gammas, self._means
        restricted._bind(self._grams.restrict(indices))
        return restricted

    def _bind(self, grams: PackedGrams) -> None:
        n_gammas = len(self._gammas)
        groups = np.arange(len(grams)).reshape(-1, n_gammas).tolist()
        super().__init__(grams, groups)
        self._new = None

    def _block(self, m: int, new: _NewSamples) -> Array:
        """Kernel `m` (n_z, n) between new samples and the training."""
        if m in new.blocks:
            return new.blocks[m]
        view, gamma = divmod(m, len(self._gammas))
        with np.errstate(over="ignore"):  # to an infinite distance, where the kernel is 0
            exponent = new.distances[view] * (-self._gammas[gamma] / self._means[view])
        block: Array = np.exp(exponent)
        if self.n_kernels * block.nbytes <= _MOST_KEPT:
            new.blocks[m] = block
        return block
