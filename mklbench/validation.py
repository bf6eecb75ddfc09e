"""Checks shared by the algorithms: each failure names the argument, its value and the remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError, check_known, hint

# Of the training samples' features, in absolute value (`check_scale`).
SMALLEST_FEATURE, LARGEST_FEATURE = 1e-75, 1e50
# Of real targets: their squares, and products with coefficients, are then in the range of doubles.
LARGEST_TARGET = 1e50

# A relative gap that rounding leaves of an optimum.
_ROUNDING = 1e-12

_T = TypeVar("_T")
Array = NDArray[np.float64]

# The largest count that NumPy and LIBSVM can both hold.
_LARGEST_COUNT = 2**31 - 1


_COLUMNS: ContextVar[Sequence[Any] | None] = ContextVar("columns", default=None)
_KERNELS: ContextVar[Sequence[Any] | None] = ContextVar("kernels", default=None)


@contextmanager
def columns_called(
    names: Sequence[Any] | None, kernels: Sequence[Any] | None = None
) -> Iterator[None]:
    """Let messages call the columns of samples, and given kernels, by these names.

    Parameters
    ----------
    names : sequence of str or None
        Those (d,) of the columns; their numbers if None.
    kernels : sequence of str or None, default=None
        Those (M,) of the kernels; their numbers if None.
    """
    tokens = _COLUMNS.set(names), _KERNELS.set(kernels)
    try:
        yield
    finally:
        _COLUMNS.reset(tokens[0])
        _KERNELS.reset(tokens[1])


def kernel_called(m: int) -> str:
    """Return what messages call a kernel that is given: "kernel 'rna' of K", or "kernel 1 of K"."""
    names = _KERNELS.get()
    return f"kernel {m if names is None else repr(names[m])} of K"


def column_called(j: int) -> str:
    """Return what messages call a column: "column 'income'", or "column 1" if it has no name."""
    names = _COLUMNS.get()
    return f"column {j}" if names is None or j >= len(names) else f"column {names[j]!r}"


def check_choice(name: str, value: object, accepted: Iterable[str]) -> str:
    """Return `value` if it is one of `accepted`."""
    known = list(accepted)
    if not isinstance(value, str):
        raise InputError(f"{name}={value} is not known: {hint('', known)}.")
    check_known(name, [value], known)
    return value


def check_flag(name: str, value: bool) -> bool:
    """Return `value` as a bool if it is true or false."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}={value!r} is not accepted: it must be true or false.")
    return bool(value)


def check_number(
    name: str,
    value: float,
    low: float,
    high: float,
    kind: str,
    open_below: bool = False,
    open_above: bool = False,
) -> float:
    """Return `value` as a float if it is a number from `low` to `high`, which `kind` says."""
    try:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        number = float(value) if is_number else math.nan
    except OverflowError:  # an integer of more than 308 digits
        number = math.nan
    at_an_end = (open_below and number == low) or (open_above and number == high)
    if not low <= number <= high or at_an_end:
        raise InputError(f"{name}={value!r} is not accepted: it must be {kind}.")
    return number


def check_positive(name: str, value: float) -> float:
    """Return `value` as a float if it is a finite number > 0."""
    return check_number(name, value, 0.0, math.inf, "a finite number > 0", True, True)


def check_tolerance(name: str, value: float) -> float:
    """Return a relative tolerance > 0, that of rounding where it is less: no gap gets below."""
    return max(check_positive(name, value), _ROUNDING)


def check_positive_or_none(name: str, value: float | None) -> float | None:
    """Return `value` if it is None, or as `check_positive` does."""
    return None if value is None else check_positive(name, value)


def check_positive_or_choice(name: str, value: float | str, accepted: Iterable[str]) -> object:
    """Return `value` if it is one of the texts `accepted`, or as `check_positive` does."""
    if isinstance(value, str):
        return check_choice(name, value, accepted)
    return check_positive(name, value)


def check_not_negative(name: str, value: float) -> float:
    """Return `value` as a float if it is a finite number >= 0."""
    return check_number(name, value, 0.0, math.inf, "a finite number >= 0", open_above=True)


def check_share(name: str, value: float) -> float:
    """Return `value` as a float if it is a number from 0 to 1."""
    return check_number(name, value, 0.0, 1.0, "a number from 0 to 1")


def check_not_empty(name: str, values: Sequence[_T]) -> Sequence[_T]:
    """Return `values` if there is one."""
    if len(values) == 0:
        raise InputError(f"{name}={list(values)} is empty: give at least one value.")
    return values


def check_count(name: str, value: int, minimum: int = 1, maximum: int = _LARGEST_COUNT) -> int:
    """Return `value` as an int if it is a whole number from `minimum` to `maximum`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise InputError(f"{name}={value!r} is not accepted: it must be an integer >= {minimum}.")
    if value > maximum:
        raise InputError(f"{name}={value!r} is not accepted: it must be an integer <= {maximum}.")
    return int(value)


def check_limits(tol: float, max_iter: int) -> float:
    """Return a relative tolerance as `check_tolerance` does, beside a limit on the iterations."""
    check_count("max_iter", max_iter)
    return check_tolerance("tol", tol)


def check_indices(
    name: str, rows: ArrayLike, n: int, kind: Literal["row", "kernel"] = "row"
) -> NDArray[np.intp]:
    """Return `rows` of `n` samples as indices (k,) from 0 to n - 1; a mask (n,) is taken, too."""
    chosen = np.asarray(rows)
    if chosen.dtype.kind == "b" and chosen.shape == (n,):
        return np.flatnonzero(chosen)
    if chosen.size == 0 and chosen.ndim == 1:
        return chosen.astype(np.intp)
    shown = f"of shape {chosen.shape} and type {chosen.dtype}"
    if chosen.ndim == 1 and chosen.dtype.kind in "iu":
        outside = chosen[(chosen < 0) | (chosen >= n)]
        if len(outside) == 0:
            return chosen.astype(np.intp, copy=False)
        shown = f"with the number {outside[0]}"
    raise InputError(
        f"{name} {shown} are not accepted: give a vector of {kind} numbers from 0 to {n - 1}, or a "
        f"mask of {n} truth values."
    )


def real_array(name: str, values: ArrayLike, wanted: str = "of real numbers") -> Array:
    """Return `values` as an array of doubles if they are real numbers; without a copy if it can.

    Text is refused, also that of numbers, and so are complex numbers.
    """
    if isinstance(values, str):
        raise InputError(f"{name}={values!r} is not accepted: give an array {wanted}.")
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiubO":
            return array.astype(np.float64, copy=False)
        shown = f"is of type {array.dtype}"
    except (TypeError, ValueError, OverflowError):
        shown = "holds what is no real number, or rows of different lengths"
    raise InputError(f"{name} {shown}: give an array {wanted}.")


def check_labels(y: ArrayLike) -> Array:
    """Return `y` as an array of its own of -1.0 and +1.0, in which both occur."""
    labels = np.array(real_array("y", y, "of labels -1 and +1"), order="C")
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


def check_sample_weight(sample_weight: ArrayLike, n: int, zeros: bool = False) -> Array:
    """Return the weights (n,) of samples as an array of its own of numbers > 0, or >= 0."""
    weights = np.array(real_array("sample_weight", sample_weight))
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight has shape {weights.shape}, but there are {n} samples: give one weight "
            "a sample."
        )
    above = weights >= 0 if zeros else weights > 0
    refused = np.flatnonzero(~(above & (weights < np.inf)))
    if len(refused):
        row, least = refused[0], ">= 0" if zeros else "> 0"
        raise InputError(
            f"sample_weight is {weights[row]:g} at row {row}: it must be finite and {least}, leave "
            "out the samples that are not to count."
        )
    return weights


def check_targets(y: ArrayLike) -> Array:
    """Return `y` as an array (n,) of its own of finite numbers whose squares are safe."""
    targets = np.array(real_array("y", y), order="C")
    if targets.ndim != 1 or len(targets) == 0:
        raise InputError(f"y has shape {targets.shape}: it must be a vector of numbers.")
    refused = np.flatnonzero(~(np.abs(targets) <= LARGEST_TARGET))
    if len(refused):
        row = refused[0]
        raise InputError(
            f"y holds {targets[row]:g} at row {row}: targets may be up to {LARGEST_TARGET:g} in "
            "absolute value, remove, impute or rescale others."
        )
    return targets


def check_features(name: str, X: ArrayLike, n_features: int | None = None) -> Array:
    """Return `X` as a finite float64 matrix of its own, (n, d) with n, d >= 1.

    Where `n_features` is given, d must be equal to it.
    """
    matrix = np.array(real_array(name, X))
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{name} has shape {matrix.shape}: it must be a matrix (n_samples, n_features)."
        )
    if n_features is not None and matrix.shape[1] != n_features:
        raise InputError(
            f"{name} has {matrix.shape[1]} features, but the kernels were built on {n_features} "
            "features: pass the same ones in the same order."
        )
    check_finite(name, matrix)
    return matrix


def check_finite(name: str, array: Array) -> None:
    """Raise an InputError if `array`, whose last two axes are rows and columns, is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()  # tells of most arrays that they are finite, in less time
    if not np.isfinite(total) and not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0])
        row, column = place[-2:]
        raise InputError(
            f"{name} holds {array[place]} at row {row}, {column_called(int(column))}: "
            "remove or impute NaN and infinite values."
        )


def check_training_features(name: str, X: ArrayLike) -> Array:
    """Return the training samples `X` as `check_features` does, if `check_scale` accepts them."""
    matrix = check_features(name, X)
    check_scale(name, matrix)
    return matrix


def check_scale(
    name: str, X: NDArray[np.floating], first: int = 0, largest: float = LARGEST_FEATURE
) -> None:
    """Raise an InputError unless what kernels make of the features `X` (n, d) is safe in doubles.

    The largest absolute value of all must be 0 or from 1e-75 to 1e50: the squares of squared
    features are then in the range of doubles, with room for sums of them. A single feature may be
    as small as it likes. `first` is the number of the first column in the message, and `largest` a
    lower limit.
    """
    size = max(float(X.max()), -float(X.min()))
    if size == 0.0 or SMALLEST_FEATURE <= size <= largest:
        return
    row, column = np.unravel_index(int(np.abs(X).argmax()), X.shape)
    raise InputError(
        f"{name} holds {X[row, column]:g} at row {row}, {column_called(first + int(column))}: this "
        f"kernel takes features up to {largest:g}, the largest of them at least "
        f"{SMALLEST_FEATURE:g}, rescale the column or remove the row."
    )
