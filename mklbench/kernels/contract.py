"""What a kernel builder declares: what it is called with, its version, what its kernels need.

A builder is any callable from training samples to a bank or a family, such as a function with its
options bound. It may have these attributes, of itself or of its class; `declares` gives them to a
function:

- ``takes_rows = True``: it is called with row numbers of a data set, in place of features; then
  ``n_samples`` says of how many rows.
- ``takes_views = True``: it is called with features and the views that they come in.
- ``takes_sparse = True``: it takes a sparse matrix as it is.
- ``streams = True``: it takes a memory-mapped file of single precision as it is, without a copy.
- ``version``, a whole number: it is raised when numbers move that are computed with its kernels,
  though the algorithms are the same, and is part of what identifies a recorded result.
- ``new_options``, names: while one of these is None, it is no part of what identifies a result, so
  that results of before there was the option are still found.
- ``memory(shape, **options)``: the `Memory` of its kernels on training samples of a `Shape`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeVar

from mklbench.kernels.memory import Memory, Shape

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Builder:
    """The declarations of a builder.

    Attributes
    ----------
    name : str
        The name of its function or class.
    takes_rows, takes_views, streams, version, new_options, memory, n_samples
        As above; None for the last two where it does not say so.
    """

    name: str
    takes_rows: bool = False
    takes_views: bool = False
    streams: bool = False
    version: int = 1
    new_options: tuple[str, ...] = ()
    memory: Callable[..., Memory] | None = None
    n_samples: int | None = None


def declares(
    *,
    memory: Callable[..., Memory],
    version: int = 1,
    streams: bool = False,
    takes_sparse: bool = False,
) -> Callable[[_Function], _Function]:
    """Let a function say what its kernels need and which version it is."""

    def attach(function: _Function) -> _Function:
        vars(function).update(
            memory=memory, version=version, streams=streams, takes_sparse=takes_sparse
        )
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
