"""Small alignment problems, and the alignment written out on dense matrices."""

from __future__ import annotations

import numpy as np
from dense_twins import dense_gaussian, on_each_feature
from numpy.typing import NDArray
from problems import random_problem, random_stack

Array = NDArray[np.float64]


def centred(K: Array) -> Array:
    """Return H K H, or that of each matrix of a stack."""
    n = K.shape[-1]
    H = np.eye(n) - np.full((n, n), 1.0 / n)
    return H @ K @ H


def dense_alignment(K: Array, y: Array) -> float:
    """Return the centred alignment of a Gram matrix with y y'."""
    K, target = centred(K), centred(np.outer(y, y))
    return float(np.sum(K * target) / np.linalg.norm(K) / np.linalg.norm(target))


def plain_alignment(K: Array, y: Array) -> float:
    """Return the alignment of a Gram matrix with y y' without centring."""
    return float(y @ K @ y / (np.linalg.norm(K) * (y @ y)))


def scaled_stack() -> tuple[Array, Array]:
    """Return six Gram matrices of different scales, and labels that two of them explain."""
    stack, y = random_stack(n=40, n_kernels=6)
    return stack * np.array([1.0, 3.0, 0.2, 10.0, 1.0, 0.5])[:, None, None], y


def widths_stack() -> tuple[Array, Array]:
    """Return Gram matrices of three widths on each of three features, and labels."""
    X, y = random_problem(20, 3)
    return on_each_feature([dense_gaussian(gamma) for gamma in (0.05, 0.5, 5.0)], X, X), y


def indefinite_stack() -> tuple[Array, Array]:
    """Return a stack whose kernel 1 is the negative of a kernel of positive alignment."""
    stack, y = scaled_stack()
    return np.concatenate([stack[:1], -stack[1:2], stack[2:]]), y


def real_targets(n: int = 40, n_features: int = 6) -> Array:
    """Return real targets (n,) that depend on the features behind `scaled_stack`."""
    X, _ = random_problem(n, n_features)
    return np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + 3.0
