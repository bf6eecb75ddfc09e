"""Problems of the single benchmarks: real data where they are at hand, else generated ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklbench.data.preprocessing import fit_scaling
from mklbench.experiments.run import Run

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """The first split of a set of two classes, its features scaled as its config says.

    Attributes
    ----------
    name : of the set.
    X, y : (n, d) training samples and labels -1/+1 (n,).
    X_test, y_test : those of the test part.
    """

    name: str
    X: Array
    y: Array
    X_test: Array
    y_test: Array


def first_split(name: str, *overrides: str) -> Split:
    """Return the first split of a real set under its own protocol, or with `overrides` of it.

    Raises
    ------
    DataError
        If the data cannot be had.
    """
    run = Run.from_overrides([f"data={name}", *overrides])
    dataset = run.dataset()
    train, test = run.rows(0)
    scaling = fit_scaling(run.config.split.scaling, dataset.X[train])
    X, X_test = (scaling.transform(dataset.X[rows]) for rows in (train, test))
    y = np.where(dataset.y == 1, 1.0, -1.0)
    return Split(name, X, y[train], X_test, y[test])
