"""The models that displays are made from: estimators, and pipelines and searches around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mklbench.displays.drawing import n_shown
from mklbench.errors import InputError, unknown
from mklbench.estimators.base import KernelEstimator
from mklbench.kernels import Bank, KernelOperator
from mklbench.solution import Solution

Array = NDArray[np.float64]

LEARNED = "learned kernel"


def fitted_model(estimator: Any) -> KernelEstimator:
    """Return the fitted model of an estimator, or that a pipeline or a search ends in.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of mklbench; or a fitted `Pipeline` that ends in one, or a fitted search
        over either.

    Raises
    ------
    InputError
        If it has no kernels.
    NotFittedError
        If it has not been fitted.
    """
    model = _last(_found(estimator, must_be_fitted=True))
    check_is_fitted(model)
    return model


def transformed(estimator: Any, X: Any) -> Any:
    """Return samples as the model in a fitted pipeline or search takes them."""
    for step in _steps_before(_found(estimator, must_be_fitted=True)):
        X = step.transform(X)
    return X


def model_and_samples(estimator: Any, X: Any, y: ArrayLike) -> tuple[KernelEstimator, Any]:
    """Return a model to be fitted, unfitted, and the samples that it is to be fitted to.

    The steps before it in a pipeline are fitted to them.

    Parameters
    ----------
    estimator : estimator
        As for `fitted_model`, but that only a search needs to be fitted.
    X : array_like of shape (n, d)
        Training samples.
    y : array_like of shape (n,)
        Their targets.
    """
    found = _found(estimator, must_be_fitted=False)
    model = clone(_last(found))
    for step in _steps_before(found):
        X = clone(step).fit_transform(X, y)
    return model, X


def chosen_kernels(
    model: KernelEstimator,
    X: Any,
    y: ArrayLike,
    kernels: Sequence[str | int] | None,
    top_k: int | None,
) -> dict[str, Callable[[], Array]]:
    """Return functions that form the Gram matrices of kernels of a fitted model, by their names.

    Parameters
    ----------
    model : KernelEstimator
        The fitted model.
    X : array_like of shape (n, d)
        Samples, on which the kernels are built again.
    y : array_like of shape (n,)
        Their targets.
    kernels : sequence of str or int, or None
        The names of kernels, or their numbers; None for those of the largest weights.
    top_k : int or None
        Maximum number of these; None for all in use.

    Returns
    -------
    dict of str to callable
        The kernels, and what the model has made of them where that is one kernel.

    Raises
    ------
    InputError
        If a kernel is not known, or `top_k` is out of range.
    """
    operator = model._kernels_on(X, y)
    available = _base_kernels(model, operator, in_use=kernels is None)
    learned = _learned_kernels(model, operator)
    if kernels is not None:
        names = list(available)
        chosen = [_known(kernel, names) for kernel in kernels]
    else:
        table = model.kernel_weights(sort=True)
        used = table.index[(table.to_numpy().reshape(len(table), -1) != 0).any(axis=1)]
        chosen = [name for name in used[: n_shown(top_k, len(used))] if name in available]
    return {name: available[name] for name in chosen} | learned


def _base_kernels(
    model: KernelEstimator, operator: KernelOperator, in_use: bool
) -> dict[str, Callable[[], Array]]:
    """Return the kernels that are combined: of a bank, or members of a family.

    Of a bank those in use may be enough.
    """
    names = model.kernel_names_
    if isinstance(operator, Bank):
        weights = np.array([solution.weights for solution in model.solutions_])
        chosen = np.flatnonzero(weights.any(axis=0)) if in_use else np.arange(len(names))
        return {names[m]: partial(_single, operator, m) for m in chosen.tolist()}
    if model.thetas_ is None:
        return {}
    by_problem = [names] if isinstance(names[0], str) else names
    return {
        name: partial(operator.gram, theta)
        for own, solution in zip(by_problem, model.solutions_, strict=True)
        if solution.thetas is not None
        for name, theta in zip(own, solution.thetas, strict=True)
    }


def _learned_kernels(
    model: KernelEstimator, operator: KernelOperator
) -> dict[str, Callable[[], Array]]:
    """Return the kernel of the decision function, where there is one for all classes.

    Of a single kernel of a family, which has no others to show, it is one a class.
    """
    solutions = model.solutions_
    if solutions[0].members is not None or model.thetas_ is not None:
        return {}
    if len(solutions) == 1:
        return {LEARNED: partial(_power, operator, solutions[0])}
    if isinstance(operator, Bank):
        return {}
    labels = getattr(model, "classes_", range(len(solutions)))
    return {
        f"{LEARNED} of class {label}": partial(_power, operator, solution)
        for label, solution in zip(labels, solutions, strict=True)
    }


def _single(bank: Bank, m: int) -> Array:
    """Return the Gram matrix of kernel m."""
    weights = np.zeros(bank.n_kernels)
    weights[m] = 1.0
    return bank.combine(weights)


def _power(operator: KernelOperator, solution: Solution) -> Array:
    return operator.gram(solution.weights) ** solution.degree


def _known(kernel: str | int, names: list[str]) -> str:
    """Return the name of a kernel that is given by its name or its number."""
    if isinstance(kernel, str):
        if kernel in names:
            return kernel
        raise unknown("kernels", kernel, names)
    is_number = isinstance(kernel, int | np.integer) and not isinstance(kernel, bool)
    if not is_number or not 0 <= kernel < len(names):
        raise InputError(
            f"kernels has {kernel!r}, but there are {len(names)} kernels: give names, or numbers "
            f"from 0 to {len(names) - 1}."
        )
    return names[kernel]


def _found(estimator: Any, must_be_fitted: bool) -> Any:
    """Return what a search has found, or `estimator` itself."""
    is_search = hasattr(estimator, "estimator") and hasattr(estimator, "best_estimator_")
    if is_search:
        return estimator.best_estimator_
    if must_be_fitted or hasattr(estimator, "estimator"):
        if not hasattr(estimator, "fit"):
            raise _no_model(estimator)
        check_is_fitted(estimator)
    return estimator


def _last(estimator: Any) -> KernelEstimator:
    model = estimator
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    if not isinstance(model, KernelEstimator):
        raise _no_model(estimator)
    return model


def _steps_before(estimator: Any) -> list[Any]:
    """Return the transformers before the last step of a pipeline, in its order."""
    steps = []
    while hasattr(estimator, "steps"):
        *before, (_, estimator) = estimator.steps
        steps += [step for _, step in before if step is not None and step != "passthrough"]
    return steps


def _no_model(estimator: Any) -> InputError:
    return InputError(
        f"estimator={type(estimator).__name__} has no kernels to show: give an estimator of "
        "mklbench, or a pipeline or a search that ends in one."
    )
