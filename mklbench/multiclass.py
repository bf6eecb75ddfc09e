"""More than two classes by one-versus-rest, all classes on one shared bank or family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from mklbench.contract import Solver, algorithm_of, named
from mklbench.errors import InputError
from mklbench.kernels import Bank, Family, KernelOperator, Views
from mklbench.kernels.contract import CrossKernels, unbound
from mklbench.kernels.families import mixture_outputs
from mklbench.solution import Mixture, Solution

Array = NDArray[np.float64]
Start = Array | Mixture

# Bytes of the kernel between new samples and the training ones that is formed at once.
_CROSS = 2**28


def takes_start(solve: Solver) -> bool:
    """Tell whether a solver can be warm-started (`mklbench.contract`) and has no start yet.

    Parameters
    ----------
    solve : Solver
        The `solve` of an algorithm, options bound (``functools.partial``) or not.
    """
    return algorithm_of(solve).takes_start and unbound(solve)[1].get("start") is None


def fit(
    solve: Solver,
    operator: KernelOperator,
    codes: ArrayLike,
    n_classes: int,
    *,
    starts: Sequence[Start] | None = None,
) -> list[Solution]:
    """Solve the binary problems of a classification into `n_classes` classes.

    Parameters
    ----------
    solve : Solver
        Solves one binary problem, ``solve(operator, y)`` with y (n,) in {-1, +1}.
    operator : KernelOperator
        The kernels of all problems.
    codes : array_like of int of shape (n,)
        Class codes 0 ... n_classes - 1.
    n_classes : int
        Number of classes, >= 2.
    starts : sequence of Start or None, default=None
        What to start each binary problem from, in the order of the result, for a `solve` that
        takes it (`takes_start`). One class is no start for the next: that was found
        not to save time, and so each solution is that of its problem alone.

    Returns
    -------
    list of Solution
        One for two classes (code 1 is +1), else one a class (the class is +1, the rest is -1).
    """
    classes = np.asarray(codes)
    positives = [1] if n_classes == 2 else range(n_classes)
    labels = [np.where(classes == code, 1.0, -1.0) for code in positives]
    given = [{}] * len(labels) if starts is None else [{"start": start} for start in starts]
    found = (solve(operator, y, **start) for y, start in zip(labels, given, strict=True))
    return [checked(solution, solve, operator) for solution in found]


def checked(found: Any, solve: Solver, operator: KernelOperator) -> Solution:
    """Return what a `solve` has returned, if it is a solution on the operator.

    Parameters
    ----------
    found : object
        What it has returned.
    solve : callable
        The function.
    operator : KernelOperator
        What it was called with.

    Raises
    ------
    TypeError
        If it is none.
    ValueError
        If its arrays have other shapes.
    """
    name = named(unbound(solve)[0])
    if not isinstance(found, Solution):
        raise TypeError(
            f"{name} returned an object of type {type(found).__name__}: it must return a "
            "mklbench.solution.Solution."
        )
    # Those of a family may be of kernels that were found.
    n_weights = operator.n_kernels if found.thetas is None else len(found.thetas)
    shapes = np.shape(found.weights), np.shape(found.dual_coef)
    if shapes != ((n_weights,), (operator.n_samples,)):
        raise ValueError(
            f"{name} returned a Solution with weights of shape {shapes[0]} and dual_coef of shape "
            f"{shapes[1]} in place of ({n_weights},) and ({operator.n_samples},)."
        )
    return found


def decision_function(
    operator: KernelOperator, solutions: Sequence[Solution], Z: ArrayLike
) -> Array:
    """Return the decision values (n_z,) of one problem or (n_z, k) of k problems at new samples.

    Where the kernel between all of `Z` and the training samples would take too much memory, `Z` is
    taken in blocks.

    Parameters
    ----------
    operator : KernelOperator
        The kernels that the solutions were learned with.
    solutions : sequence of Solution
        One a binary problem, as `fit` returns them.
    Z : array_like of shape (n_z, d)
        New samples; or what else the operator takes in their place, see its `cross`.

    Raises
    ------
    InputError
        If `Z` is not as the operator takes it, or so large that its kernel values overflow.
    """
    kernels, machines = on_nodes(operator, solutions)
    return decided(kernels, machines, Z, _CROSS)


def on_nodes(
    operator: KernelOperator, solutions: Sequence[Solution]
) -> tuple[CrossKernels, list[Solution]]:
    """Return what solutions predict with, and these with `dual_coef` on it.

    That is the operator itself, or for solutions with an `expansion` its kernels on nodes.

    Parameters
    ----------
    operator : KernelOperator
        The kernels that the solutions were learned with.
    solutions : sequence of Solution
        One a binary problem.
    """
    if not isinstance(operator, Bank) or all(s.expansion is None for s in solutions):
        return operator, list(solutions)
    factors = operator.row_factors()
    assert factors is not None, "a solution with an expansion is of a bank with factors"
    found = [(s, s.expansion) for s in solutions if s.expansion is not None]
    return factors.cross, [replace(s, dual_coef=e, expansion=None) for s, e in found]


def decided(
    kernels: CrossKernels, machines: Sequence[Solution], Z: ArrayLike | Views, n_bytes: int
) -> Array:
    """Return the decision values of new samples, which are looked at in blocks.

    Parameters
    ----------
    kernels : CrossKernels
        The kernels between new samples and those of `dual_coef`.
    machines : sequence of Solution
        One a binary problem, as `on_nodes` returns them.
    Z : Views or array_like of shape (n_z, d), (n_z,) or (M, n_z, n)
        New samples: features, row numbers, or cross Gram matrices.
    n_bytes : int
        What the samples of a block, or the kernel between these and the others, may take.

    Raises
    ------
    InputError
        If the kernel values of a sample overflow.
    """
    samples = Z if isinstance(Z, Views) else np.asarray(Z)
    is_stack = samples.ndim == 3  # of cross Gram matrices (M, n_z, n)
    n_new = samples.shape[1 if is_stack else 0] if samples.ndim else 1
    width = samples.shape[-1] if samples.ndim > 1 else 1
    rows = max(1, n_bytes // (8 * max(1, width, kernels.n_samples)))
    blocks: list[Any] = [samples]
    if n_new > rows:
        parts = np.array_split(np.arange(n_new), -(-n_new // rows))
        blocks = [samples[:, part] if is_stack else samples[part] for part in parts]
    with np.errstate(over="ignore", invalid="ignore"):  # judged just below
        values = np.concatenate(
            [decision_values(machines, _outputs_at(kernels, block)) for block in blocks]
        )
    infinite = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(infinite):
        raise InputError(
            f"row {infinite[0]} of the new samples is where the kernels are beyond the range of "
            "double precision: rescale it or leave it out."
        )
    return values


def _outputs_at(kernels: CrossKernels, Z: Any) -> Callable[[Solution], Array]:
    """Return the outputs (n_z,) of a machine at some samples, as a function of the machine.

    Machines of the same weights one after the other, as those at fixed weights, share a kernel.
    """

    kernel = lru_cache(maxsize=1)(lambda weights: kernels.cross(np.frombuffer(weights), Z))

    def of(machine: Solution) -> Array:
        if not machine.is_on_samples:
            return outputs_from(lambda weights: kernel(weights.tobytes()), machine)
        return outputs(kernels, machine, Z)

    return of


def decision_values(
    solutions: Sequence[Solution], outputs_of: Callable[[Solution], Array]
) -> Array:
    """Return what `decision_function` does, from the outputs of the single machines.

    Parameters
    ----------
    solutions : sequence of Solution
        One a binary problem, as `fit` returns them.
    outputs_of : callable
        ``outputs_of(machine)`` returns the `outputs` (n_z,) of a single machine.
    """
    values = [_decision(solution, outputs_of) for solution in solutions]
    return values[0] if len(values) == 1 else np.stack(values, axis=1)


def _decision(solution: Solution, outputs_of: Callable[[Solution], Array]) -> Array:
    if solution.members is None:
        return outputs_of(solution) + solution.intercept
    values = np.array([_decision(member, outputs_of) for member in solution.members])
    if solution.gates is None:
        return vote(values) if solution.vote else values.mean(axis=0)
    scores = np.array([_decision(gate, outputs_of) for gate in solution.gates])
    return (softmax(scores, axis=0) * values).sum(axis=0) + solution.intercept


def vote(values: Array) -> Array:
    """Return what the decision values of k machines vote: the mean (n_z,) of their signs.

    To it a share of their mean value is added, too small to turn a majority or to change the order
    of two, so that it decides between classes with the same votes.

    Parameters
    ----------
    values : ndarray of shape (k, n_z)
        The decision values of each machine.
    """
    mean = values.mean(axis=0)
    return np.sign(values).mean(axis=0) + mean / (1.0 + np.abs(mean)) / (3.0 * len(values))


def outputs(operator: CrossKernels, solution: Solution, Z: ArrayLike) -> Array:
    """Return the decision values (n_z,) of one machine at new samples, without the intercept.

    Parameters
    ----------
    operator : CrossKernels
        The kernels that the solution was learned with.
    solution : Solution
        That of a single machine, not of an ensemble.
    Z : array_like of shape (n_z, d)
        New samples; or what else the operator takes in their place, see its `cross`.
    """
    if solution.model is not None:
        return solution.model(Z)
    if solution.thetas is None:
        return outputs_from(lambda weights: operator.cross(weights, Z), solution)
    family = cast(Family, operator)
    return mixture_outputs(family, solution.weights, solution.thetas, solution.dual_coef, Z)


def outputs_from(block: Callable[[Array], Array], solution: Solution) -> Array:
    """Return what `outputs` does, from the kernel between new samples and the training ones.

    Parameters
    ----------
    block : callable
        ``block(weights)`` returns the kernel (n_z, n) at weights (M,) of the operator.
    solution : Solution
        That of a single machine that looks at the kernel alone (`Solution.is_on_samples`).
    """
    return block(solution.weights) ** solution.degree @ solution.dual_coef


def mean_starts(neighbours: Sequence[Sequence[Solution]]) -> list[Start] | None:
    """Return a start for each binary problem between the solutions of similar ones.

    Parameters
    ----------
    neighbours : sequence of sequence of Solution
        Solutions of the same binary problems, in the same order, at other
        hyperparameters or on other samples; several sequences of them, or none.

    Returns
    -------
    list of starts or None
        The mean of the weights; where kernels were found in a family, all of them, with their
        weights divided by the number of neighbours. None without neighbours.
    """
    if not neighbours:
        return None
    return [_mean(alike) for alike in zip(*neighbours, strict=True)]


def _mean(solutions: Sequence[Solution]) -> Start:
    found = [solution.thetas for solution in solutions if solution.thetas is not None]
    if not found:
        return np.mean([solution.weights for solution in solutions], axis=0)
    weights = np.concatenate([solution.weights for solution in solutions]) / len(solutions)
    return Mixture(weights, np.concatenate(found))


def predict(decision: Array) -> NDArray[np.intp]:
    """Return the class codes (n_z,) that decision values stand for.

    Parameters
    ----------
    decision : ndarray of shape (n_z,) or (n_z, k)
        Decision values of one problem, or of k, one a class.
    """
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    return decision.argmax(axis=1)
