"""Choices about the columns of a data set. Each takes a `Dataset` and returns another.

The digest is kept: it stands for the rows and labels, from which the splits are drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Dataset, View
from mklbench.data.limits import check_numbers
from mklbench.data.preprocessing import fit_scaling
from mklbench.errors import InputError, unknown


def constant_features(dataset: Dataset) -> tuple[str, ...]:
    """Names of the features that have a single value over the whole set."""
    constant = dataset.X.max(axis=0) == dataset.X.min(axis=0)
    return tuple(name for name, flag in zip(dataset.feature_names, constant, strict=True) if flag)


def without_features(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """Leave out the features called `names`.

    Raises
    ------
    InputError
        A name is not a feature of the set, or no feature would be left.
    """
    if not names:
        return dataset
    for name in names:
        if name not in dataset.feature_names:
            raise unknown("data.drop_features", name, dataset.feature_names)
    kept = [i for i, name in enumerate(dataset.feature_names) if name not in names]
    if not kept:
        raise InputError(
            f"{dataset.name} would have no feature left: every one is constant or listed in "
            f"data.drop_features."
        )
    return replace(
        dataset,
        X=np.ascontiguousarray(dataset.X[:, kept]),
        feature_names=tuple(dataset.feature_names[i] for i in kept),
        notes=(*dataset.notes, f"left out: {', '.join(names)}"),
        views=_views_of(dataset, kept),
    )


def _views_of(dataset: Dataset, kept: Sequence[int]) -> tuple[View, ...]:
    """The views with the features `kept` (sorted) only, without those that have none left."""
    bounds = [np.searchsorted(kept, [view.start, view.stop]).tolist() for view in dataset.views]
    return tuple(
        replace(view, start=start, stop=stop)
        for view, (start, stop) in zip(dataset.views, bounds, strict=True)
        if start < stop
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
    return replace(
        dataset,
        X=np.ascontiguousarray(dataset.X[:, kept]),
        feature_names=tuple(dataset.feature_names[i] for i in kept),
        notes=(*dataset.notes, f"the {n_features} most frequent of {n_there} features"),
        views=_views_of(dataset, kept.tolist()),
    )


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

    Raises
    ------
    InputError
        They are more than memory is meant to hold.
    """
    if n_noise_features == 0:
        return dataset
    option = f"data.noise_features={n_noise_features}"
    check_numbers(option, len(dataset.y), dataset.X.shape[1] + n_noise_features)
    seed = hashlib.sha256(f"noise features {dataset.digest}".encode()).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))
    noise: NDArray[np.float64] = generator.standard_normal((n_noise_features, len(dataset.y))).T
    return replace(
        dataset,
        X=np.hstack([dataset.X, noise]),
        feature_names=(
            *dataset.feature_names,
            *(f"noise{i}" for i in range(1, n_noise_features + 1)),
        ),
        notes=(*dataset.notes, f"{n_noise_features} noise features N(0, 1) appended"),
        n_noise_features=n_noise_features,
    )
