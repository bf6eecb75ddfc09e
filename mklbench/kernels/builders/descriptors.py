"""Gaussians of several descriptors, a group of widths each (Aflalo et al. 2011, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.distances import FeatureDistances, ViewColumns
from mklbench.kernels.banks.view_widths import ViewWidths
from mklbench.kernels.banks.views import DistanceBank
from mklbench.kernels.base import Bank
from mklbench.kernels.memory import Memory, Shape
from mklbench.kernels.transforms.composite import unit_trace
from mklbench.validation import check_count, check_positive

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


class DescriptorWidths:
    """Builder of a `ViewWidths` from features, called with them and their views.

    Parameters
    ----------
    n_widths : int, default=1000
        Number of kernels of each view, on a logarithmic scale of gamma.
    gamma_min, gamma_max : float, default=0.01 and 100
        The smallest and the largest gamma in exp(-gamma D / mean D), > 0.
    distance : str or None, default=None
        As of `Descriptors`.
    """

    takes_views = True

    def __init__(
        self,
        n_widths: int = 1000,
        gamma_min: float = 0.01,
        gamma_max: float = 100.0,
        distance: str | None = None,
    ) -> None:
        self._n_widths = n_widths
        self._gammas = gamma_min, gamma_max
        self._distance = distance

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            The size of the training samples: how many there are, and in how many views.
        """
        return ViewWidths.needs(shape, max(1, shape.n_views), self._n_widths)

    def __call__(self, X: ArrayLike, views: Sequence[ViewColumns] = ()) -> ViewWidths:
        """Return the bank on the training samples `X` (n, d); without views all are one view."""
        n = check_count("n_widths", self._n_widths)
        first = check_positive("gamma_min", self._gammas[0])
        last = check_positive("gamma_max", self._gammas[1])
        if first > last:
            raise InputError(
                f"gamma_min={first:g} is above gamma_max={last:g}: give the smaller one first."
            )
        return ViewWidths(FeatureDistances(X, views, self._distance), np.geomspace(first, last, n))
