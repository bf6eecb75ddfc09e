"""How the suites say what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError

Array = NDArray[np.float64]


def require(condition: object, sentence: str) -> None:
    """Raise an AssertionError with the sentence unless the condition holds."""
    if not condition:
        raise AssertionError(sentence)


def agree(what: str, actual: ArrayLike, expected: ArrayLike, atol: float, other: str) -> None:
    """Raise an AssertionError unless two arrays have the same shape and values, up to `atol`."""
    found, wanted = np.asarray(actual), np.asarray(expected)
    require(
        found.shape == wanted.shape,
        f"{what} has shape {found.shape}, and {other} shape {wanted.shape}.",
    )
    differences = np.abs(found - wanted)
    largest = float(differences.max(initial=0.0))
    require(
        largest <= atol,  # not so where one is NaN
        f"{what} differs from {other} by up to {largest:.2g}, and {atol:.2g} is accepted.",
    )


def refuses(what: str, call: Callable[[], Any], names: str) -> None:
    """Raise an AssertionError unless a call is refused in a sentence that names the option."""
    demanded = f"{what} must be refused by mklbench.errors.InputError"
    try:
        call()
    except InputError as error:
        require(
            names in str(error) and str(error).rstrip().endswith("."),
            f"{demanded} in one sentence that names {names}, and the message is: {error}",
        )
    except Exception as error:
        raise AssertionError(f"{demanded}, and raises {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{demanded}, and is accepted.")
