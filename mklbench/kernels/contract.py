"""What predictions ask of kernels, and what a builder of kernels declares of itself.

A builder is any callable from training samples to a bank or a family, such as a function with its
options bound. It may have these attributes, of itself or of its class; `declares` gives them to a
function:

- ``takes_rows = True``: it is called with row numbers of a data set, in place of features; then
  ``n_samples`` says of how many rows.
- ``takes_views = True``: it is called with features and the views that they come in.
- ``rows_of``, with ``takes_rows``: the row numbers that a mask of the rows stands for.
- ``takes_sparse = True``: it takes a sparse matrix as it is; ``takes_text``: text, too;
  ``takes_missing``: also what is missing.
- ``version``, a whole number: it is raised when numbers move that are computed with its kernels,
  though the algorithms are the same, and is part of what identifies a recorded result.
- ``new_options``, names: while one of these is None, it is no part of what identifies a result, so
  that results of before there was the option are still found.
- ``takes_few = True``: it may be called with two samples, and its kernels on these tell what those
  on all of them need (`KernelOperator.memory`). Builders of this package do; of others nothing is
  known before they are called. ``benchmarks/peaks.py`` measures what is estimated so.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Builder:
    """The declarations of a builder.

    Attributes
    ----------
    name : str
        The name of its function or class.
    takes_rows, takes_views, takes_sparse, takes_text, takes_missing, takes_few
        As above.
    version, new_options
        As above.
    n_samples, rows_of
        As above; None where it does not say so.
    """

    name: str
    takes_rows: bool = False
    takes_views: bool = False
    takes_sparse: bool = False
    takes_text: bool = False
    takes_missing: bool = False
    takes_few: bool = False
    version: int = 1
    new_options: tuple[str, ...] = ()
    n_samples: int | None = None
    rows_of: Callable[[Any], Any] | None = None


def declares(*, version: int = 1, takes_sparse: bool = False) -> Callable[[_Function], _Function]:
    """Let a function say which version it is, and that it takes few samples."""

    def attach(function: _Function) -> _Function:
        vars(function).update(version=version, takes_sparse=takes_sparse, takes_few=True)
        return function

    return attach


def builder_of(builder: Callable[..., Any]) -> Builder:
    """Return the declarations of a builder, whether its options are bound or not."""
    function, _ = unbound(builder)
    module = getattr(function, "__module__", None) or ""
    declared: dict[str, Any] = {"takes_few": module.startswith("mklbench.kernels.")}
    names = [field.name for field in fields(Builder) if field.name != "name"]
    declared |= {name: getattr(function, name) for name in names if hasattr(function, name)}
    return Builder(getattr(function, "__name__", type(function).__name__), **declared)


def on_few(builder: Callable[..., Any], samples: Any, *views: Any) -> Any:
    """Return the kernels of a builder on a few samples, None where it does not take few.

    What is wrong with the samples is said of the kernels on all of them.
    """
    if not builder_of(builder).takes_few:
        return None
    with warnings.catch_warnings(action="ignore"), suppress(InputError, ValueError):
        return builder(samples, *views)
    return None


def unbound(function: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return what `functools.partial` has bound options of, and these by name."""
    options: dict[str, Any] = {}
    while isinstance(function, partial):
        options = {**function.keywords, **options}
        function = function.func
    return function, options


# Bytes of a number.
NUMBER = 8.0


class Shape(NamedTuple):
    """The size of training samples.

    Attributes
    ----------
    n : int
        Number of samples.
    d : int
        Number of features.
    """

    n: int
    d: int = 1


class Memory(NamedTuple):
    """What a bank or a family needs.

    Attributes
    ----------
    kept : float
        The bytes that it keeps, at most.
    rank : int or None
        The number of columns that its factors have which leave out 1e-5 of each kernel, about;
        None where there are no factors in blocks of rows (`Bank.row_factors`).
    """

    kept: float = 0.0
    rank: int | None = None


def gram_bytes(n: int, count: float = 1.0) -> float:
    """Return the bytes of so many matrices (n, n)."""
    return NUMBER * count * float(n) ** 2


class CrossKernels(ABC):
    """Kernels between new samples and some training samples: all that a prediction asks for.

    Every operator is one, on its training samples, and so are kernels on nodes
    (`mklbench.kernels.row_factors`).

    Attributes
    ----------
    n_samples : int
        Number n of training samples.
    n_kernels : int
        Number M of base kernels of a bank, or of parameters of a family.
    """

    n_samples: int
    n_kernels: int

    @abstractmethod
    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        """Return the kernel (n_z, n) between new samples and the training samples at some weights.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels of a bank, or parameters theta of a family.
        Z : array_like of shape (n_z, d)
            Features of the new samples, unless the operator says otherwise.
        """

    def _check_weights(self, weights: ArrayLike) -> Array:
        checked = np.asarray(weights, dtype=np.float64)
        if checked.shape == (self.n_kernels,):
            return checked
        M = self.n_kernels
        raise InputError(
            f"weights have shape {checked.shape}, but there are {M} kernels: pass a vector ({M},) "
            f"of one weight a kernel, such as numpy.eye({M})[m] for kernel m alone."
        )


def weighted_sum(weights: Array, blocks: Iterable[Array], shape: tuple[int, int]) -> Array:
    """Return sum_m weights_m blocks_m, zeros of `shape` where there is no block."""
    total: Array | None = None
    for weight, block in zip(weights, blocks, strict=True):
        if total is None:
            total = weight * block
        else:
            total += weight * block
    return np.zeros(shape) if total is None else total
