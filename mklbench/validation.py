"""Checks shared by the algorithms: each failure names the argument, its value and the remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError


def check_positive(name: str, value: float) -> float:
    """Return `value` as a float if it is a finite number > 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < math.inf:
        raise InputError(f"{name}={value!r} is not accepted: it must be a finite number > 0.")
    return float(value)


def check_positive_or_none(name: str, value: float | None) -> float | None:
    """Return `value` if it is None, or as `check_positive` does."""
    return None if value is None else check_positive(name, value)


def check_not_negative(name: str, value: float) -> float:
    """Return `value` as a float if it is a finite number >= 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise InputError(f"{name}={value!r} is not accepted: it must be a finite number >= 0.")
    return float(value)


def check_not_empty(name: str, values: Sequence[float]) -> Sequence[float]:
    """Return `values` if there is one."""
    if len(values) == 0:
        raise InputError(f"{name}={list(values)} is empty: give at least one value.")
    return values


def check_count(name: str, value: int, minimum: int = 1) -> int:
    """Return `value` as an int if it is a whole number >= `minimum`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise InputError(f"{name}={value!r} is not accepted: it must be an integer >= {minimum}.")
    return int(value)


def check_labels(y: ArrayLike) -> NDArray[np.float64]:
    """Return `y` as an array of its own of -1.0 and +1.0, in which both occur."""
    try:
        labels = np.array(y, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError("y has labels that are not numbers: code the classes as -1 and +1.") from (
            error
        )
    if labels.ndim != 1:
        raise InputError(f"y has shape {labels.shape}: it must be a vector of labels -1 and +1.")
    values = np.unique(labels)
    if not np.isin(values, (-1.0, 1.0)).all():
        shown = ", ".join(f"{value:g}" for value in values[:4])
        raise InputError(
            f"y has the labels {shown}{', ...' if len(values) > 4 else ''}: "
            "a binary solver takes -1 and +1 only, and real targets are for krr, nkrr and svr."
        )
    if len(values) < 2:
        only = f"{values[0]:+g}" if len(values) else "no label at all"
        raise InputError(f"y has one class only ({only}): both -1 and +1 must be present.")
    return labels


def check_targets(y: ArrayLike) -> NDArray[np.float64]:
    """Return `y` as an array (n,) of its own of finite numbers."""
    try:
        targets = np.array(y, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(
            "y has targets that are not numbers: a regression takes real numbers, a classifier "
            "class labels."
        ) from error
    if targets.ndim != 1 or len(targets) == 0:
        raise InputError(f"y has shape {targets.shape}: it must be a vector of numbers.")
    if not np.isfinite(targets).all():
        row = int(np.flatnonzero(~np.isfinite(targets))[0])
        raise InputError(
            f"y holds {targets[row]} at row {row}: remove or impute NaN and infinite values."
        )
    return targets


def check_features(name: str, X: ArrayLike, n_features: int | None = None) -> NDArray[np.float64]:
    """Return `X` as a finite float64 matrix of its own, (n, d) with n, d >= 1.

    Where `n_features` is given, d must be equal to it.
    """
    matrix = np.array(X, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{name} has shape {matrix.shape}: it must be a matrix (n_samples, n_features)."
        )
    if n_features is not None and matrix.shape[1] != n_features:
        raise InputError(
            f"{name} has {matrix.shape[1]} features, but the kernels were built on {n_features} "
            "features: pass the same ones in the same order."
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"{name} holds {matrix[row, column]} at row {row}, column {column}: "
            "remove or impute NaN and infinite values."
        )
    return matrix
