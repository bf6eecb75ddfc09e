"""Learning problems for the tests of the solvers: small random ones, and the reference problems."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from dense_twins import dense_gaussian, on_each_feature
from numpy.typing import NDArray

Array = NDArray[np.float64]

# UCI sets: file below the mirror, columns that are no features, column of the class, its positive
# value.
_SETS: dict[str, tuple[str, tuple[int, ...], int, str]] = {
    "sonar": ("sonar/sonar.all-data", (60,), 60, "M"),
    "ionosphere": ("ionosphere/ionosphere.data", (34,), 34, "g"),
    "liver": ("liver/bupa.data", (6,), 6, "1"),
    "pima": ("pima/pima-indians-diabetes.data", (8,), 8, "1"),
    "wpbc": ("wpbc/wpbc.data", (0, 1), 1, "R"),
    "wdbc": ("wdbc/wdbc.data", (0, 1), 1, "M"),
    "parkinsons": ("parkinsons/parkinsons.data", (0, 17), 17, "1"),
    "breast_cancer_wisconsin": (
        "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        (0, 10),
        10,
        "4",
    ),
}


def random_problem(n: int = 30, n_features: int = 4, seed: int = 0) -> tuple[Array, Array]:
    """Return features (n, d) and noisy labels (n,) that depend on the first two of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    score = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 - 0.8 + 0.4 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


def no_line_separates() -> tuple[Array, Array]:
    """Return ten points in the plane, and labels: an SVM at C = 1e9 takes LIBSVM to its limit."""
    return random_problem(10, 2)[0], random_problem(10)[1]


def gram_and_labels(n: int = 40, seed: int = 0) -> tuple[Array, Array]:
    """Return the Gram matrix (n, n) of a Gaussian kernel on a random problem, and its labels."""
    X, y = random_problem(n, seed=seed)
    return dense_gaussian(0.3)(X, X), y


def random_stack(n: int = 30, n_kernels: int = 5, seed: int = 0) -> tuple[Array, Array]:
    """Return Gaussian Gram matrices (M, n, n) on single features, and labels."""
    X, y = random_problem(n, n_kernels, seed)
    return on_each_feature([dense_gaussian(0.7)], X, X), y


def categories(seed: int, n: int = 50) -> tuple[Array, Array]:
    """Return Gram matrices (M, n, n) and labels of samples of which many are equal.

    They have three categories, of 6, 8 and 2 values, and a number; there is a Gaussian on every
    column of their one-hot code, and the labels tell nothing of them.
    """
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, k, n)[:, None] == np.arange(k) for k in (6, 8, 2)]
    X = np.column_stack([*codes, rng.integers(3, 10, n)]).astype(float)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return on_each_feature([dense_gaussian(1.0)], X, X), y


def read_set(mirror: Path, name: str) -> tuple[Array, Array]:
    """Return the features (n, d) of a real set without its constant columns, and its labels."""
    path, skipped, label, positive = _SETS[name]
    with open(mirror / path, encoding="utf-8") as handle:
        rows = [row for row in csv.reader(handle) if row and "?" not in row and row[0] != "name"]
    features = [j for j in range(len(rows[0])) if j not in skipped]
    X = np.array([[float(row[j]) for j in features] for row in rows])
    y = np.where([row[label].strip() == positive for row in rows], 1.0, -1.0)
    return X[:, X.std(axis=0) > 1e-9], y


def to_unit_box(X: Array) -> Array:
    """Return the features scaled to [-1, 1]."""
    return 2.0 * (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) - 1.0


def reference_part(mirror: Path, name: str) -> tuple[Array, Array]:
    """Return the standardised 70% of a real set on which the reference optima were computed."""
    X, y = read_set(mirror, name)
    part = np.random.default_rng(0).permutation(len(y))[: int(0.7 * len(y))]
    X, y = X[part], y[part]
    X = X[:, X.std(axis=0) > 1e-9]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def synthetic_reference() -> tuple[Array, Array]:
    """Return the 145 samples of 60 features, 6 of them relevant, of the synthetic reference."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((145, 60))
    noise = 0.3 * rng.standard_normal(145)
    score = (
        np.sin(1.5 * X[:, 0])
        + (X[:, 1] ** 2 - 1)
        + X[:, 2] * X[:, 3]
        + 0.8 * X[:, 4]
        + (np.abs(X[:, 5]) - 0.8)
        + noise
    )
    y = np.where(score > np.median(score), 1.0, -1.0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y
