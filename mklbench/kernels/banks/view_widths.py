"""A generated bank of very many widths on every view: the kernels of `DistanceBank`, none kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklbench.kernels.banks.cross import Indices
from mklbench.kernels.banks.distances import FeatureDistances
from mklbench.kernels.banks.generated import GeneratedBank
from mklbench.kernels.banks.views import DistanceCross, mean_distances
from mklbench.kernels.base import Array
from mklbench.kernels.memory import Memory, Shape, gram_bytes
from mklbench.kernels.naming import NamesOfGroups, gaussian_names

# Matrices (n, n) at once while a view is priced: its distances, these scaled, and two halves.
_PRICING = 3.0


class ViewWidths(GeneratedBank):
    """The kernels exp(-gamma D_v / mean D_v) of each view v and very many gammas, a group a view.

    They are those of `DistanceBank`, ordered by view first. A price of all of them takes the
    distances of each view anew.

    Parameters
    ----------
    distances : FeatureDistances
        Of V views between n training samples.
    gammas : sequence of float
        Factors of the distance in units of one over its mean, > 0, ascending or descending.
    """

    def __init__(self, distances: FeatureDistances, gammas: Sequence[float] | Array) -> None:
        columns = [tuple(range(own.start, own.stop)) for own in distances.columns()]
        super().__init__(distances.features, gammas, columns)
        self._views, self._means = distances, mean_distances(distances)
        self.features = (-1,) * self.n_kernels
        self.groups = np.arange(self.n_kernels).reshape(distances.n_views, -1).tolist()

    @classmethod
    def needs(cls, shape: Shape, n_groups: int, n_gammas: int) -> Memory:
        """Return the memory of so many gammas on so many views.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        n_groups, n_gammas : int
            V and k.
        """
        needed = super().needs(shape, n_groups, n_gammas)
        matrices = gram_bytes(shape.n, _PRICING)
        return replace(needed, building=needed.building + matrices, active=needed.active + matrices)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        d = self._check_weights(weights)
        active = np.flatnonzero(d)
        return self.for_prediction(np.arange(self.n_samples), active).cross(d[active], Z)

    def for_prediction(self, rows: Indices, kernels: Indices) -> DistanceCross:  # type: ignore[override]
        views, widths = np.divmod(kernels, len(self._widths))
        used, places = np.unique(views, return_inverse=True)
        factors = -self._widths.gammas[widths] / self._means[views]
        return DistanceCross(self._views.for_prediction(rows, used), places, factors)

    def kernel_names(self, columns: Sequence[str] | None = None) -> NamesOfGroups:
        """Return a name (M,) for each kernel, its gamma in units of 1 / the mean distance.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Not used: the views have names of their own.
        """
        views = self._views.view_names()
        functions = {function for _, function in views}
        common = functions.pop() if len(functions) == 1 else "gaussian"
        where = (
            v if function in (common, "gaussian") else f"{v}, {function}" for v, function in views
        )
        return NamesOfGroups(
            tuple(gaussian_names(self._widths.gammas.tolist(), common)), tuple(where)
        )

    def take(self, rows: ArrayLike) -> ViewWidths:
        """Keep the mean distances of the samples the bank was made on, so that widths stay.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        """
        restricted = super().take(rows)
        assert isinstance(restricted, ViewWidths)
        restricted._views = self._views.take(self._check_rows(rows))
        restricted._X, restricted._means = restricted._views.features, self._means
        return restricted

    def _distances(self, g: int, X: Array, Z: Array) -> Array:
        distances = self._views.between(g, X, Z)
        distances /= self._means[g]
        return distances
