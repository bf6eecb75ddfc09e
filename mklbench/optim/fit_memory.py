"""What a fit needs of memory, told before it is begun.

What `solve` holds beside the kernels its module says (`mklbench.contract`); the temporaries of the
kernels (`mklbench.kernels.memory`) are added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mklbench.contract import algorithm_of
from mklbench.kernels.contract import memory_of, unbound
from mklbench.kernels.memory import Memory, Shape, gram_bytes
from mklbench.solution import Solution

# LIBSVM's buffer, and a Gram matrix.
ONE_SVM = 3.0

# LIBSVM keeps columns in single precision: about half of them, up to the size of its cache.
_CACHED, _CACHE = 0.25, 200e6


def fitting(
    builder: Callable[..., Any], solve: Callable[..., Solution], shape: Shape, n_problems: int = 1
) -> float:
    """Return the bytes that kernels and their fit take at most.

    Parameters
    ----------
    builder : callable
        Of the kernels.
    solve : callable
        Of an algorithm's module, with its options.
    shape : Shape
        Of the training samples.
    n_problems : int, default=1
        Number of binary problems, one a class where there are more than two.
    """
    kernels = memory_of(builder, shape)
    on_factors = algorithm_of(solve).bytes_on_factors
    if on_factors is not None:
        needed = on_factors(kernels, shape, **unbound(solve)[1])
        if needed is not None:
            return needed
    return max(kernels.building, kernels.kept + solving(solve, kernels, shape, n_problems))


def auto_avoids_matrices(
    builder: Callable[..., Any], solve: Callable[..., Solution], shape: Shape
) -> bool:
    """Tell whether method=auto would form no Gram matrix where another method does.

    Parameters are those of `fitting`.
    """
    needed, options = algorithm_of(solve).bytes_on_factors, unbound(solve)[1]
    kernels = memory_of(builder, shape)
    if needed is None or needed(kernels, shape, **options) is not None:
        return False
    return needed(kernels, shape, **{**options, "method": "auto"}) is not None


def searching(
    builder: Callable[..., Any],
    solve: Callable[..., Solution],
    shape: Shape,
    n_problems: int,
    folds: int,
) -> float:
    """Return the bytes that cross-validation and the fit after it take at most.

    Beside the kernels on all samples there are those on the samples of a fold, and the Gram matrix
    of all that predicts the held-out ones.
    """
    part = shape.with_samples(shape.n - shape.n // folds)
    on_factors = algorithm_of(solve).bytes_on_factors
    if on_factors is not None:
        kernels = memory_of(builder, part)
        needed = on_factors(kernels, part, **unbound(solve)[1])
        if needed is not None:  # the samples of a fold are a copy
            return fitting(builder, solve, shape, n_problems) + kernels.streamed
    whole, fold = memory_of(builder, shape), memory_of(builder, part)
    at_once = max(
        fold.restricting,
        solving(solve, fold, part, n_problems, path=True),
        whole.combining,
    )
    search = whole.kept + whole.active + fold.kept + gram_bytes(shape.n) + at_once
    return max(search, fitting(builder, solve, shape, n_problems))


def solving(
    solve: Callable[..., Solution],
    kernels: Memory,
    shape: Shape,
    n_problems: int = 1,
    *,
    path: bool = False,
) -> float:
    """Return the bytes that `solve`, or `solve_path` beside it, takes beside what kernels keep."""
    algorithm = algorithm_of(solve)
    if algorithm.bytes_needed is None:
        return at_changing_weights(kernels, shape, algorithm.matrices)
    options = {**unbound(solve)[1], "path": path}
    return float(algorithm.bytes_needed(kernels, shape, n_problems, **options))


def at_changing_weights(kernels: Memory, shape: Shape, held: float) -> float:
    """Return the bytes of a search for weights that holds so many matrices (n, n)."""
    return kernels.active + at_fixed_weights(kernels, shape, held)


def at_fixed_weights(kernels: Memory, shape: Shape, held: float = ONE_SVM) -> float:
    """Return the same where each combination of the kernels is asked for once."""
    return gram_bytes(shape.n, held) + kernels.combining + min(gram_bytes(shape.n, _CACHED), _CACHE)
