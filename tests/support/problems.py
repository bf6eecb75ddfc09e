"""Small random learning problems for the tests of the solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dense_twins import dense_gaussian, on_each_feature
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


def differences(function: Callable[[Array], Any], x: Array, step: float) -> Array:
    """Return (f(x + h e_m) - f(x - h e_m)) / 2h of each unit vector e_m, for h = `step`."""
    steps = step * np.eye(len(x))
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in steps])
