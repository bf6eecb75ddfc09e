"""Gaussians of distances, a group of widths each view (Aflalo et al. 2011, section 4.1).

A view is one descriptor of the samples: some of their features, or a matrix of distances that has
been computed elsewhere. A distance D(x, z) >= 0 stands in the exponent as it is, so that the
Euclidean one is squared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.banks.dense import StackedBank, picked
from mklbench.kernels.banks.precomputed import check_rows
from mklbench.kernels.base import Array, Indices
from mklbench.kernels.functions import squared_distances, standardisation
from mklbench.kernels.gram_matrices import PackedTriangles
from mklbench.kernels.naming import ALL_COLUMNS, gaussian_names, named
from mklbench.validation import (
    check_choice,
    check_features,
    check_not_empty,
    check_positive,
    check_scale,
)

DISTANCES = ("euclidean", "seuclidean", "chi2")


@dataclass(frozen=True, eq=False)
class FeatureView:
    """The distance of samples in some of their d features.

    Parameters
    ----------
    name : str
        Of the view.
    columns : slice
        Its d_v features.
    distance : str
        "chi2" or "euclidean".
    factors : ndarray of shape (d_v,)
        What its features are multiplied by.
    n_features : int
        d.
    """

    name: str
    columns: slice
    distance: str
    factors: Array
    n_features: int

    def checked(self, Z: Any) -> Array:
        """Return new samples.

        Parameters
        ----------
        Z : array_like of shape (n_z, d)
            The samples.
        """
        return check_features("Z", Z, self.n_features)

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the distances (n, n_z) between samples (n, d) and (n_z, d)."""
        with np.errstate(over="ignore"):  # of new samples, to an infinite distance
            x = np.ascontiguousarray(X[:, self.columns] * self.factors)
            z = x if Z is X else np.ascontiguousarray(Z[:, self.columns] * self.factors)
        if self.distance != "chi2":
            return squared_distances(x, z)
        if min(x.min(), z.min()) < 0:
            raise InputError(
                f"kernel.distance=chi2 compares histograms, and {self.name} has values below 0: "
                f"set split.scaling=none, or kernel.distance=euclidean."
            )
        from sklearn.metrics.pairwise import additive_chi2_kernel  # of those who have histograms

        return np.negative(additive_chi2_kernel(x, z))


@dataclass(frozen=True, eq=False)
class MatrixView:
    """Distances of a whole data set that have been computed elsewhere; samples are row numbers.

    Parameters
    ----------
    name : str
        Of the view.
    whole : ndarray of shape (N, N)
        The distances.
    distance : str, default="given"
        What they are called.
    """

    name: str
    whole: Array
    distance: str = "given"

    def checked(self, Z: Any) -> Indices:
        """Return the row numbers of new samples.

        Parameters
        ----------
        Z : array_like of shape (n_z,)
            The row numbers.
        """
        return check_rows(Z, len(self.whole))

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the distances (n, n_z) between rows and others."""
        return self.whole[np.ix_(X, Z)]


def feature_views(
    X: Array, views: Sequence[Any] = (), distance: str | None = None
) -> list[FeatureView]:
    """Return the distances of training samples in each view.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training samples.
    views : sequence, default=()
        Each with its `name`, the features from `start` to `stop`, and the `distance` by which they
        are compared; empty: all are one view, compared by `distance`, or the Euclidean one.
    distance : str or None, default=None
        "euclidean", the squared one; "seuclidean", the same on features divided by their
        standard deviation over the training samples; "chi2", sum_k (x_k - z_k)^2 / (x_k + z_k) of
        histograms; None: of each view its own.

    Raises
    ------
    InputError
        If a distance is not known.
    """
    if distance is not None:
        check_choice("kernel.distance", distance, DISTANCES)
    d = X.shape[1]
    given = [(view.name, slice(view.start, view.stop), view.distance) for view in views]
    made = []
    for name, columns, own in given or [(ALL_COLUMNS, slice(0, d), "euclidean")]:
        features, how = X[:, columns], distance or own
        check_scale("X", features, columns.start)  # of small views beside large ones, too
        is_scaled = how == "seuclidean"
        factors = standardisation(features)[1] if is_scaled else np.ones(features.shape[1])
        made.append(FeatureView(name, columns, how, factors, d))
    return made


class DistanceBank(StackedBank):
    """The kernels exp(-gamma D_v / mean D_v) of each view v and each gamma, a group a view.

    The mean is that over the pairs of training samples, so that the gammas mean the same for all
    views; what is taken of a bank keeps it. Where it is 0 the samples do not differ in the view,
    and its kernels are constant.

    Parameters
    ----------
    X : array_like
        Training samples: features (n, d), or row numbers (n,) of a data set whose distances are
        known.
    views : sequence of FeatureView or sequence of MatrixView
        The distances of V views.
    gammas : sequence of float
        G factors; kernel v G + g is that of view v and gamma g.

    Raises
    ------
    InputError
        If there is no gamma, or one is not a number > 0.
    """

    def __init__(
        self,
        X: ArrayLike,
        views: Sequence[FeatureView] | Sequence[MatrixView],
        gammas: Sequence[float],
    ) -> None:
        given = check_not_empty("gammas", gammas)
        values = [check_positive("gamma", gamma) for gamma in given]
        self._X: Any = views[0].checked(X)
        n = len(self._X)
        grams = PackedTriangles.of(n, (), len(views) * len(values))
        factors = []
        for view in views:
            distances = view(self._X, self._X)
            mean = float(distances.sum() / max(n * (n - 1), 1)) or 1.0
            for gamma in values:
                factors.append(-gamma / mean)
                grams.append(np.exp(distances * factors[-1]))
        super().__init__(grams, np.arange(len(grams)).reshape(len(views), -1).tolist())
        self._factors = tuple(factors)
        # New samples, and their distances in each view.
        self._last: tuple[Any, dict[FeatureView | MatrixView, Array]] | None = None
        # Of each kernel.
        self._views: tuple[FeatureView | MatrixView, ...] = tuple(v for v in views for _ in values)
        self._names = tuple(
            named(kernel, view.name)
            for view in views
            for kernel in gaussian_names(values, "chi2" if view.distance == "chi2" else "gaussian")
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_last": None}

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        return np.ones((self.n_kernels, self.n_samples if Z is None else len(np.asarray(Z))))

    def kernel_names(self, columns: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return a name (M,) for each kernel, its gamma in units of 1 / the mean distance.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Not used: the views have names of their own.
        """
        return self._names

    def _pick(self, rows: Indices, kernels: Indices | None) -> None:
        self._X = self._X[rows]
        self._views, self._factors = picked(self._views, kernels), picked(self._factors, kernels)
        self._names = picked(self._names, kernels)

        self._last = None

    def _new(self, Z: ArrayLike) -> Any:
        new = self._views[0].checked(Z)
        # The binary problems of several classes ask for the same samples one after the other.
        if self._last is None or not np.array_equal(self._last[0], new):
            self._last = new, {}
        return new

    def _blocks(self, kernels: Indices, Z: Any = None) -> Iterator[Array]:
        known = {} if Z is None or self._last is None else self._last[1]
        for view, factor in ((self._views[m], self._factors[m]) for m in kernels.tolist()):
            if view not in known:
                known[view] = view(self._X if Z is None else Z, self._X)
            with np.errstate(over="ignore"):  # to an infinite distance, where the kernel is 0
                exponent = known[view] * factor
            yield np.exp(exponent, out=exponent)
