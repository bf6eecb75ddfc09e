"""More than two classes by one-versus-rest, all classes on one shared bank or family."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels.base import KernelOperator
from mklbench.solution import Solution

Array = NDArray[np.float64]
Solver = Callable[..., Solution]


def takes_start(solve: Solver) -> bool:
    """Tell whether a solver can be warm-started: whether it has the parameter ``start``, left None.

    `start` are the weights (M,) from which a solver sets out. Who has the parameter promises that
    the result depends on it no more than on the solver's tolerance, as with convex problems.
    """
    parameter = inspect.signature(solve).parameters.get("start")
    return parameter is not None and parameter.default is None


def fit(
    solve: Solver,
    operator: KernelOperator,
    codes: ArrayLike,
    n_classes: int,
    *,
    starts: Sequence[Array] | None = None,
) -> list[Solution]:
    """Solve the binary problems of a classification into `n_classes` classes.

    Parameters
    ----------
    solve : solves one binary problem, ``solve(operator, y)`` with y (n,) in {-1, +1}.
    operator : the kernels of all problems.
    codes : (n,) class codes 0 ... n_classes - 1.
    starts : weights (M,) to start each binary problem from, in the order of the result, for a
        `solve` that takes them (`takes_start`). One class is no start for the next: that was found
        not to save time, and so each solution is that of its problem alone.

    Returns
    -------
    list of Solution
        One for two classes (code 1 is +1), else one a class (the class is +1, the rest is -1).
    """
    classes = np.asarray(codes)
    positives = [1] if n_classes == 2 else range(n_classes)
    labels = [np.where(classes == code, 1.0, -1.0) for code in positives]
    if starts is None:
        return [solve(operator, y) for y in labels]
    return [solve(operator, y, start=start) for y, start in zip(labels, starts, strict=True)]


def decision_function(
    operator: KernelOperator, solutions: Sequence[Solution], Z: ArrayLike
) -> Array:
    """Return the decision values (n_z,) of one problem or (n_z, k) of k problems at `Z`."""
    values = [
        operator.cross(solution.weights, Z) @ solution.dual_coef + solution.intercept
        for solution in solutions
    ]
    return values[0] if len(values) == 1 else np.stack(values, axis=1)


def predict(decision: Array) -> NDArray[np.intp]:
    """Return the class codes (n_z,) that decision values stand for."""
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    return decision.argmax(axis=1)
