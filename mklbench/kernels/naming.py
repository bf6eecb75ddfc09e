"""What kernels are called, in one place: "gaussian 0.5 on age", "polynomial 2 on all columns".

A name says which function it is and which columns it looks at. The number of a Gaussian is its
gamma, that of a polynomial its degree; columns without names of their own go by their numbers, from
0. Rescaling, centring and normalising kernels leaves them their names, as scikit-learn's scalers
leave features theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError
from mklbench.kernels.functions import Gaussian, KernelFunction, Linear, Polynomial

ALL_COLUMNS = "all columns"

# Digits of a number in a name; the most are those of a double.
_FEW, _MORE, _ALL = 3, 6, 17
# Columns that the name of a product of kernels tells.
_COLUMNS_TOLD = 3


def named(function: str, where: str) -> str:
    """Return the name of a kernel function on some columns."""
    return f"{function} on {where}"


def column_names(n_columns: int, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the names (d,) of columns, "column 0" and so on where none are given.

    Raises
    ------
    InputError
        If there are more or fewer names than columns.
    """
    if names is None:
        return tuple(f"column {j}" for j in range(n_columns))
    if len(names) != n_columns:
        raise InputError(
            f"columns has {len(names)} names, but the kernels are on {n_columns} columns: give one "
            "name a column."
        )
    return tuple(str(name) for name in names)


def function_names(functions: Sequence[KernelFunction]) -> list[str]:
    """Return what kernel functions are called, with as many digits as tell them apart."""
    return _told_apart(lambda digits: [_function(each, digits) for each in functions])


def gaussian_names(gammas: Iterable[float], function: str = "gaussian") -> list[str]:
    """Return what Gaussians of these gammas are called, with as many digits as tell them apart."""
    values = list(gammas)
    return _told_apart(lambda digits: [f"{function} {gamma:.{digits}g}" for gamma in values])


def product_names(thetas: ArrayLike, columns: Sequence[str]) -> list[str]:
    """Return what products of Gaussians are called, after the columns of largest gamma.

    Parameters
    ----------
    thetas : array_like of shape (k, d)
        The gammas of each column, one row a kernel.
    columns : sequence of str
        The names (d,) of the columns.
    """
    rows = np.asarray(thetas, dtype=np.float64)
    return _told_apart(lambda digits: [_product(theta, columns, digits) for theta in rows])


def unique(names: Iterable[str]) -> list[str]:
    """Return names of which none is there twice: those that come again get a number, "… (2)"."""
    times: Counter[str] = Counter()
    told = []
    for name in names:
        times[name] += 1
        told.append(name if times[name] == 1 else f"{name} ({times[name]})")
    return told


def _told_apart(names: Callable[[int], list[str]]) -> list[str]:
    """Return names with few digits if these are as many different ones as there are with all."""
    exact = names(_ALL)
    for digits in (_FEW, _MORE):
        shorter = names(digits)
        if len(set(shorter)) == len(set(exact)):
            return shorter
    return exact


def _function(function: KernelFunction, digits: int) -> str:
    if isinstance(function, Gaussian):
        return f"gaussian {function.factor:.{digits}g}"
    if isinstance(function, Linear):
        return "linear"
    if not isinstance(function, Polynomial):  # of somebody else
        own = getattr(function, "name", None) or getattr(function, "__name__", None)
        return str(own or type(function).__name__)
    if function.degree == 1 and function.offset == 0:
        return "linear"
    offset = "" if function.offset == 1 else f" offset {function.offset:.{digits}g}"
    factor = "" if function.gamma == 1 else f" gamma {function.gamma:.{digits}g}"
    return f"polynomial {function.degree}{offset}{factor}"


def _product(theta: np.ndarray, columns: Sequence[str], digits: int) -> str:
    largest_first = np.argsort(-theta, kind="stable")
    used = [int(j) for j in largest_first if theta[j] != 0]
    if not used:
        return "constant"
    parts = [f"{theta[j]:.{digits}g} on {columns[j]}" for j in used[:_COLUMNS_TOLD]]
    if len(used) > _COLUMNS_TOLD:
        parts.append(f"{len(used) - _COLUMNS_TOLD} more")
    told = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"gaussian {told}"
