"""Problems the benchmarks run on: real data where they are at hand, else generated ones."""

from __future__ import annotations

import numpy as np

from mklbench import data, resources
from mklbench.data.preprocessing import fit_scaling
from mklbench.data.splits import random_split
from mklbench.errors import DataError
from mklbench.kernels import Bank, PrecomputedBank, simplemkl_bank


def training_split(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised training samples and labels -1/+1 of the first 70/30 split of a set."""
    config = data.read_configs(resources.configs() / "data")[name]
    dataset = data.load(config)
    rows, _ = random_split(
        dataset.y, dataset.digest, 0, test_fraction=0.3, stratified=False, seed=0
    )
    X = dataset.X[rows]
    return fit_scaling("standard", X).transform(X), np.where(dataset.y[rows] == 1, 1.0, -1.0)


def sonar_like_split() -> tuple[np.ndarray, np.ndarray, str]:
    """Return samples, labels and a name: sonar where its data are at hand, else one of its size."""
    try:
        return *training_split("sonar"), "sonar"
    except DataError:
        X, y = _generated()
        return X, y, "generated 145 x 60"


def synthetic(C: float = 10.0) -> tuple[Bank, np.ndarray, float]:
    """Return 60 per-feature Gaussians (gamma = 1) on 145 generated samples, labels and C."""
    X, y = _generated()
    return PrecomputedBank(np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))), y, C


def toolbox(name: str, C: float) -> tuple[Bank, np.ndarray, float]:
    """Return the 13 (d + 1) kernels of SimpleMKL on the first split of a set, labels and C."""
    X, y = training_split(name)
    return simplemkl_bank(X[:, X.std(axis=0) > 0]), y, C


def _generated() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    n, d = 145, 60
    X = rng.standard_normal((n, d))
    target = (
        np.sin(1.5 * X[:, 0])
        + X[:, 1] ** 2
        + X[:, 2] * X[:, 3]
        + 0.8 * X[:, 4]
        + np.abs(X[:, 5])
        + 0.3 * rng.standard_normal(n)
    )
    y = np.where(target > np.median(target), 1.0, -1.0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y
