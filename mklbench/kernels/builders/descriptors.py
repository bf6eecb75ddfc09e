"""Gaussians of several descriptors, a group of widths each (Aflalo et al. 2011, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from mklbench.kernels.banks.distances import FeatureDistances, ViewColumns
from mklbench.kernels.banks.views import DistanceBank
from mklbench.kernels.base import Bank
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.transforms.composite import unit_trace

# Five from 1e-4 to 1 on a logarithmic scale, as in the paper.
VSKL_GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


class Descriptors:
    """Builder of a `DistanceBank` from features, called with them and their views.

    Parameters
    ----------
    gammas : sequence of float, default=VSKL_GAMMAS
        Factors in exp(-gamma D / mean D), each of them for every view.
    distance : str or None, default=None
        "euclidean", "seuclidean" or "chi2" for all views (see `FeatureDistances`); None:
        of each view its own.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace, as in the paper.
    """

    takes_views = True

    def __init__(
        self,
        gammas: Sequence[float] = VSKL_GAMMAS,
        distance: str | None = None,
        normalise: bool = True,
    ) -> None:
        self._gammas = gammas
        self._distance = distance
        self._normalise = normalise

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            The size of the training samples: how many there are, and in how many views.
        """
        return DistanceBank.of_features(shape, len(self._gammas))

    def __call__(self, X: ArrayLike, views: Sequence[ViewColumns] = ()) -> Bank:
        """Return the bank on the training samples `X` (n, d); without views all are one view."""
        bank = DistanceBank(FeatureDistances(X, views, self._distance), self._gammas)
        return unit_trace(bank) if self._normalise else bank
