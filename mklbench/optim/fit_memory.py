"""What a fit needs of memory, told before it is begun: within a factor of two.

A module of an algorithm declares how many matrices (n, n) its `solve` holds beside the kernels
(`mklbench.contract`), and kernels what they keep (`KernelOperator.memory`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mklbench.contract import algorithm_of
from mklbench.kernels import Bank, Family, KernelOperator
from mklbench.kernels.contract import Memory, Shape, gram_bytes, unbound
from mklbench.optim import joint_method
from mklbench.solution import Solution

# Of a family the kernels that were found are kept as halves: some 30. A descent, which is not
# convex, moves one kernel and finds none.
_FOUND = 15.0
# Stored kernels are combined as a packed triangle, which is then written into a matrix.
_COMBINED = 1.5
# LIBSVM keeps columns in single precision: about half of them, up to the size of its cache.
_CACHED, _CACHE = 0.25, 200e6


def fitting(kernels: KernelOperator | None, solve: Callable[..., Solution], shape: Shape) -> float:
    """Return the bytes that kernels and their fit take at most.

    Parameters
    ----------
    kernels : KernelOperator or None
        On a few of the samples (`on_few`); None where nothing is known of them.
    solve : callable
        Of an algorithm's module, with its options.
    shape : Shape
        Of the training samples.
    """
    needed = _memory(kernels, shape)
    on_factors = _on_factors(solve, needed, shape)
    if on_factors is not None:
        return on_factors
    return needed.kept + solving(solve, kernels, shape)


def searching(
    kernels: KernelOperator | None, solve: Callable[..., Solution], shape: Shape, folds: int
) -> float:
    """Return the bytes that cross-validation and the fit after it take at most.

    Beside the kernels on all samples there are those on the samples of a fold, and the Gram matrix
    of all that predicts the held-out ones.
    """
    part = Shape(shape.n - shape.n // folds, shape.d)
    fold = _memory(kernels, part)
    if _on_factors(solve, fold, part) is not None:  # the samples of a fold are a copy
        return fitting(kernels, solve, shape) + joint_method.bytes_of_samples(part)
    kept = _memory(kernels, shape).kept + fold.kept + gram_bytes(shape.n)
    return max(kept + solving(solve, kernels, part), fitting(kernels, solve, shape))


def _memory(kernels: KernelOperator | None, shape: Shape) -> Memory:
    return Memory() if kernels is None else kernels.memory(shape.n)


def solving(solve: Callable[..., Solution], kernels: KernelOperator | None, shape: Shape) -> float:
    """Return the bytes that `solve` takes beside what kernels keep."""
    algorithm = algorithm_of(solve)
    needed = gram_bytes(shape.n, algorithm.matrices)
    if isinstance(kernels, Bank) and kernels.memory(shape.n).rank is None:
        needed += gram_bytes(shape.n, _COMBINED)
    if isinstance(kernels, Family) and algorithm.convex and not algorithm.combines_once:
        needed += gram_bytes(shape.n, _FOUND)
    return needed + min(gram_bytes(shape.n, _CACHED), _CACHE)


def _on_factors(solve: Callable[..., Solution], kernels: Memory, shape: Shape) -> float | None:
    """Return the bytes of a fit by the joint method; None where Gram matrices are formed."""
    algorithm, given = algorithm_of(solve), unbound(solve)[1]

    def option(name: str) -> Any:
        return given.get(name, algorithm.default(name))

    if "method" not in algorithm.options:
        return None
    tol, n_terms = option("tol") or option("svm_tol"), 2 if algorithm.regression else 1
    return joint_method.bytes_on_factors(kernels, shape, str(option("method")), tol, n_terms)
