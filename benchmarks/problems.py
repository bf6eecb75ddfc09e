"""Problems of the single benchmarks: real data where they are at hand, else generated ones."""

from __future__ import annotations

import numpy as np

from benchmarks.reference import synthetic_samples
from mklbench import data, resources
from mklbench.data.preprocessing import fit_scaling
from mklbench.data.splits import Protocol, random_split
from mklbench.errors import DataError


def sonar_like_split() -> tuple[np.ndarray, np.ndarray, str]:
    """Return samples, labels and a name: sonar where its data are at hand, else one of its size."""
    try:
        return *_training_split("sonar"), "sonar"
    except DataError:
        X, y = synthetic_samples()
        return X, y, "generated 145 x 60"


def _training_split(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised training samples and labels -1/+1 of the first 70/30 split of a set."""
    config = data.read_configs(resources.configs() / "data")[name]
    dataset = data.load(config)
    rows, _ = random_split(dataset.y, dataset.digest, 0, Protocol(test_fraction=0.3))
    X = dataset.X[rows]
    return fit_scaling("standard", X).transform(X), np.where(dataset.y[rows] == 1, 1.0, -1.0)
