"""Scaling of the inputs, fitted on the training part alone, and choices about the columns of a set.

A choice keeps the digest: it stands for the rows and labels, from which the splits are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Dataset, View
from mklbench.data.generate import generator_of
from mklbench.errors import InputError, check_known, unknown

ScalingName = Literal["none", "standard", "sample", "minmax", "unit"]


@dataclass(frozen=True)
class Scaling:
    """The map ``(x - shift) / divisor`` of each feature; a constant feature becomes 0.

    Attributes
    ----------
    shift, divisor : ndarray of shape (d,)
        Fitted on the training part. divisor is infinite for a feature that is
        constant there, so that every value of it, also an unseen one, maps to 0.
    """

    shift: NDArray[np.float64]
    divisor: NDArray[np.float64]

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale rows of any part.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            finite.

        Returns
        -------
        (m, d), a new array.

        Raises
        ------
        InputError
            X has a value that is beyond the range of doubles once it is scaled.
        """
        with np.errstate(all="ignore"):  # judged just below
            scaled = (X - self.shift) / self.divisor
        if not np.isfinite(scaled).all():
            raise InputError(
                "X has a value that is beyond the range of doubles in units of the training part: "
                "rescale or remove it."
            )
        return scaled


def fit_scaling(name: str, X_train: NDArray[np.float64]) -> Scaling:
    """Fit a scaling on the training part.

    Parameters
    ----------
    name : str
        "none"; "standard": mean 0 and variance 1 (divided by n); "sample": the same, divided by
        n - 1; "minmax": to [-1, 1]; "unit": to [0, 1].
    X_train : ndarray of shape (n, d)
        finite.

    """
    lowest, highest = X_train.min(axis=0), X_train.max(axis=0)
    if name == "none":
        return Scaling(np.zeros(len(lowest)), np.ones(len(lowest)))
    if name in ("standard", "sample"):
        shift = X_train.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            divisor = X_train.std(axis=0, ddof=int(name == "sample" and len(X_train) > 1))
    elif name == "unit":
        shift = lowest
        with np.errstate(over="ignore"):
            divisor = highest - lowest
    else:
        shift = lowest / 2 + highest / 2
        divisor = np.maximum(highest - shift, shift - lowest)  # never a rounding beyond 1
    divisor[np.isinf(divisor)] = 0.0  # beyond doubles, which is found where it is scaled
    # The mean and the deviation of a constant are not used: summing it up may round.
    constant = lowest == highest
    return Scaling(np.where(constant, lowest, shift), np.where(constant, np.inf, divisor))


def imputed(
    X: NDArray[np.float64], train: NDArray[np.int64], how: str | None
) -> NDArray[np.float64]:
    """Return inputs (n, d) with the mean or median of the training rows in the place of NaN.

    Raises
    ------
    InputError
        A feature has no value in the training rows.
    """
    absent = np.isnan(X)
    if how is None or not absent.any():
        return X
    if (empty := np.flatnonzero(absent[train].all(axis=0))).size:
        raise InputError(
            f"data.impute={how} finds no value of feature {empty[0] + 1} in a training part: leave "
            "it out with data.drop."
        )
    middle = np.nanmean if how == "mean" else np.nanmedian
    return np.where(absent, middle(X[train], axis=0), X)


def constant_features(dataset: Dataset) -> tuple[str, ...]:
    """Names of the features that have a single value over the whole set."""
    constant = dataset.X.max(axis=0) == dataset.X.min(axis=0)
    return tuple(name for name, flag in zip(dataset.feature_names, constant, strict=True) if flag)


def without_features(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """Leave out the features called `names`.

    Raises
    ------
    InputError
        A name is not a feature of the set.
    """
    if not names:
        return dataset
    check_known("data.drop_features", names, dataset.feature_names)
    kept = [i for i, name in enumerate(dataset.feature_names) if name not in names]
    return _of_features(dataset, kept, f"left out: {', '.join(names)}")


def _of_features(dataset: Dataset, kept: Sequence[int], note: str) -> Dataset:
    """The set with the features `kept` (sorted), and without the views that have none left."""
    bounds = [np.searchsorted(kept, [view.start, view.stop]).tolist() for view in dataset.views]
    return replace(
        dataset,
        X=np.ascontiguousarray(dataset.X[:, kept]),
        feature_names=tuple(dataset.feature_names[i] for i in kept),
        notes=(*dataset.notes, note),
        views=tuple(
            replace(view, start=start, stop=stop)
            for view, (start, stop) in zip(dataset.views, bounds, strict=True)
            if start < stop
        ),
    )


def most_frequent_features(dataset: Dataset, n_features: int | None) -> Dataset:
    """Keep the `n_features` features that are not 0 in the most rows, in their order.

    Of features in equally many rows the earlier ones are kept. All rows count, those of test parts
    as well, but no labels.

    Raises
    ------
    InputError
        The set has fewer features.
    """
    if n_features is None:
        return dataset
    n_there = dataset.X.shape[1]
    if n_features > n_there:
        raise InputError(
            f"data.n_features={n_features} is more than the {n_there} features of {dataset.name}: "
            f"take {n_there} or fewer, or null for all."
        )
    frequencies = np.count_nonzero(dataset.X, axis=0)
    kept = np.sort(np.argsort(-frequencies, kind="stable")[:n_features])
    note = f"the {n_features} most frequent of {n_there} features"
    return _of_features(dataset, kept.tolist(), note)


def scaled(dataset: Dataset, name: str | None) -> Dataset:
    """Scale every feature, by all rows: those of test parts as well, but no labels."""
    if name is None:
        return dataset
    X = fit_scaling(name, dataset.X).transform(dataset.X)
    return replace(dataset, X=X, notes=(*dataset.notes, f"features scaled on all rows: {name}"))


def with_noise_features(dataset: Dataset, n_noise_features: int) -> Dataset:
    """Append independent N(0, 1) features to every input vector (Picard et al. 2012, Table 2: 25).

    The noise is drawn once for a data set, from a seed made of its digest alone: every split and
    every algorithm sees the same columns, and the first 10 of 25 are those of 10.
    """
    if n_noise_features == 0:
        return dataset
    generator = generator_of(f"noise features {dataset.digest}")
    names = tuple(f"noise{i}" for i in range(1, n_noise_features + 1))
    noise: NDArray[np.float64] = generator.standard_normal((n_noise_features, len(dataset.y))).T
    return replace(
        dataset,
        X=np.hstack([dataset.X, noise]),
        feature_names=dataset.feature_names + names,
        notes=(*dataset.notes, f"{n_noise_features} noise features N(0, 1) appended"),
        n_noise_features=n_noise_features,
    )


# A view, and how much noise its copy has.
_VIEW = re.compile(r"(.*?)(?:\+(\d+\.?\d*))?")


def with_more_views(dataset: Dataset, kinds: Sequence[str]) -> Dataset:
    """Append views, to see what a method makes of them.

    Parameters
    ----------
    dataset : Dataset
        With views.
    kinds : sequence of str
        Of each new view: "noise", independent N(0, 1) features, as many as a view has on average;
        the name of a view, for a copy of it; or name+s, a copy of which each feature has noise of s
        of its standard deviations. The noise is drawn as by `with_noise_features`.

    Raises
    ------
    InputError
        A name is not that of a view.
    """
    known = {view.name: view for view in dataset.views}
    X, views = dataset.X, dataset.views
    width = X.shape[1] // max(1, len(views))
    for number, kind in enumerate(kinds, start=1):
        name, amount = _VIEW.fullmatch(kind).groups()  # type: ignore[union-attr]
        if kind != "noise" and name not in known:
            raise unknown("data.more_views", kind, ["noise", *known])
        generator = generator_of(f"view {number} {dataset.digest}")
        source = known.get(name, View(name, 0, width, "seuclidean"))
        if kind == "noise":
            block = generator.standard_normal((len(X), width))
        else:
            block = X[:, source.start : source.stop]
            spread = np.nanstd(block, axis=0) * float(amount or 0)
            block = block + spread * generator.standard_normal(block.shape)
        stop = X.shape[1] + block.shape[1]
        views = (*views, View(f"{kind}_{number}", X.shape[1], stop, source.distance))
        X = np.hstack([X, block])
    names = (f"added{i}" for i in range(1, X.shape[1] - dataset.X.shape[1] + 1))
    feature_names = (*dataset.feature_names, *names)
    return replace(dataset, X=X, views=views, feature_names=feature_names)
