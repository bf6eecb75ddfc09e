"""What a kernel builder declares: what it is called with, its version, what its kernels need.

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
- ``memory(shape, **options)``: the `Memory` of its kernels on training samples of a `Shape`.

Memory is estimated from sizes alone: every bank has a function from samples and kernels to a
`Memory`; ``benchmarks/peaks.py`` measures them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Builder:
    """The declarations of a builder.

    Attributes
    ----------
    name : str
        The name of its function or class.
    takes_rows, takes_views, takes_sparse, takes_text, takes_missing, version, new_options
        As above.
    memory, n_samples, rows_of
        As above; None where it does not say so.
    """

    name: str
    takes_rows: bool = False
    takes_views: bool = False
    takes_sparse: bool = False
    takes_text: bool = False
    takes_missing: bool = False
    version: int = 1
    new_options: tuple[str, ...] = ()
    memory: Callable[..., Memory] | None = None
    n_samples: int | None = None
    rows_of: Callable[[Any], Any] | None = None


def declares(
    *,
    memory: Callable[..., Memory],
    version: int = 1,
    takes_sparse: bool = False,
) -> Callable[[_Function], _Function]:
    """Let a function say what its kernels need and which version it is."""

    def attach(function: _Function) -> _Function:
        vars(function).update(memory=memory, version=version, takes_sparse=takes_sparse)
        return function

    return attach


def builder_of(builder: Callable[..., Any]) -> Builder:
    """Return the declarations of a builder, whether its options are bound or not."""
    function, _ = unbound(builder)
    names = (field.name for field in fields(Builder) if field.name != "name")
    declared = {name: getattr(function, name) for name in names if hasattr(function, name)}
    return Builder(getattr(function, "__name__", type(function).__name__), **declared)


def memory_of(builder: Callable[..., Any], shape: Shape) -> Memory:
    """Return what the kernels of a builder, options bound or not, need on samples of a shape.

    Of a builder that does not say so it is that of a family, which keeps next to nothing: the
    least that they can need.
    """
    estimate = builder_of(builder).memory
    return Memory(is_family=True) if estimate is None else estimate(shape, **unbound(builder)[1])


def unbound(function: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return what `functools.partial` has bound options of, and these by name."""
    options: dict[str, Any] = {}
    while isinstance(function, partial):
        options = {**function.keywords, **options}
        function = function.func
    return function, options


# Bytes of a number.
NUMBER = 8.0


@dataclass(frozen=True)
class Shape:
    """The size of training samples.

    Attributes
    ----------
    n : int
        Number of samples.
    d : int
        Number of features.
    n_views : int
        Number of views the features come in.
    n_grams : int
        Number of matrices, where the samples are a stack of Gram matrices (M, n, n).
    """

    n: int
    d: int = 1
    n_views: int = 1
    n_grams: int = 1

    @classmethod
    def of(cls, X: ArrayLike) -> Shape:
        """Return that of samples (n, d), of row numbers (n,) or of a stack (M, n, n)."""
        shape = np.shape(X)
        if len(shape) == 3:
            return cls(shape[1], shape[2], n_grams=shape[0])
        return cls(shape[0], *shape[1:2])

    def with_samples(self, n: int) -> Shape:
        """Return that of `n` such samples."""
        return replace(self, n=n)


@dataclass(frozen=True)
class Memory:
    """The bytes that a bank or a family takes.

    Attributes
    ----------
    n_kernels : int or None
        M; None where that is not known before the kernels are made.
    kept : float
        What it keeps, at most.
    combining : float
        Temporaries while a Gram matrix is formed, that matrix not included.
    is_family : bool
        Whether it is a family.
    rank : int or None
        The number of columns that its factors have which leave out 1e-5 of each kernel, about;
        None where there are no factors in blocks of rows (`Bank.row_factors`).
    """

    n_kernels: int | None = None
    kept: float = 0.0
    combining: float = 0.0
    is_family: bool = False
    rank: int | None = None


def gram_bytes(n: int, count: float = 1.0) -> float:
    """Return the bytes of so many matrices (n, n)."""
    return NUMBER * count * float(n) ** 2
