"""What displays share: the models that they are made from, axes, and names that fit.

A model is an estimator, or what a pipeline or a search ends in.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mklbench.errors import InputError
from mklbench.estimators.base import KernelEstimator
from mklbench.kernels import Bank, KernelOperator
from mklbench.solution import Solution
from mklbench.validation import check_choice, check_count, check_indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

LEARNED = "learned kernel"
# Inches of a line of text beside an axis.
LINE = 0.21
# Characters of a name in one line.
_WIDTH = 44


class Display:
    """What is drawn in axes."""

    ax_: Any

    @property
    def figure_(self) -> Any:
        """The figure of the axes."""
        return self.ax_.get_figure()


def taken_apart(estimator: Any) -> tuple[list[Any], KernelEstimator]:
    """Return the steps of a pipeline before its model, and the model; of a search what it found.

    Parameters
    ----------
    estimator : estimator
        An estimator of mklbench; or a `Pipeline` that ends in one, or a fitted search over either.

    Raises
    ------
    InputError
        If it has no kernels.
    """
    steps: list[Any] = []
    model = getattr(estimator, "best_estimator_", estimator)
    while isinstance(model, Pipeline):
        *before, (_, model) = model.steps
        steps += [step for _, step in before if step is not None and step != "passthrough"]
    if not isinstance(model, KernelEstimator):
        raise InputError(
            f"estimator={type(model).__name__} has no kernels to show: give an estimator of "
            "mklbench, or a pipeline or a fitted search that ends in one."
        )
    return steps, model


def fitted_model(estimator: Any) -> KernelEstimator:
    """Return the model of an estimator, a pipeline or a search, which has been fitted.

    Raises
    ------
    NotFittedError
        If it has not been fitted.
    """
    model = taken_apart(estimator)[1]
    check_is_fitted(model)
    return model


def chosen_kernels(
    model: KernelEstimator,
    X: Any,
    y: ArrayLike,
    kernels: Sequence[str | int] | None,
    top_k: int | None,
) -> dict[str, Callable[[], Array]]:
    """Return what computes the Gram matrices of kernels of a model by name, the learned one last.

    Parameters
    ----------
    model : KernelEstimator
        A fitted estimator; of one on a family there is the learned kernel alone.
    X : array_like of shape (n, d)
        Samples.
    y : array_like of shape (n,)
        Their targets, of which some kernels depend.
    kernels : sequence of str or int, or None
        The names or numbers of kernels; those of the largest weights if None.
    top_k : int or None
        Maximum number of kernels if `kernels` is not given; None for all in use.

    Raises
    ------
    InputError
        If a kernel is not known, or `top_k` is out of range.
    """
    fresh = clone(model)  # the model stays as it is
    operator = fresh._built(fresh._validated(X, y, None).samples)
    names = list(model.kernel_names_) if isinstance(operator, Bank) else []
    if kernels is not None:
        numbers = [_number(kernel, names) for kernel in kernels]
    else:
        sizes = np.zeros(len(names))
        if names:
            sizes = np.mean([np.abs(s.weights) for s in model.solutions_], axis=0)
        used = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        numbers = used[: n_shown(top_k, len(used))].tolist()
    chosen: dict[str, Callable[[], Array]]
    chosen = {names[m]: partial(_single, operator, m) for m in numbers}
    if hasattr(model, "combined_kernel"):
        chosen[LEARNED] = partial(_learned, operator, model.solutions_)
    return chosen


def _single(operator: KernelOperator, m: int) -> Array:
    """Return the Gram matrix (n, n) of one kernel of a bank."""
    return operator.gram(np.eye(operator.n_kernels)[m])


def _learned(operator: KernelOperator, solutions: Sequence[Solution]) -> Array:
    """Return the mean (n, n) of the kernels that several problems have learned."""
    grams = []
    for solution in solutions:
        if solution.thetas is None:
            grams.append(operator.gram(solution.weights) ** solution.degree)
        else:
            pairs = zip(solution.weights, solution.thetas, strict=True)
            grams.append(sum(weight * operator.gram(theta) for weight, theta in pairs))
    return np.mean(grams, axis=0)


def _number(kernel: str | int, names: list[str]) -> int:
    """Return the number of a kernel that is given by its name or its number."""
    if isinstance(kernel, str):
        return names.index(check_choice("kernels", kernel, names))
    return int(check_indices("kernels", [kernel], len(names), "kernel")[0])


def panels_or_new(
    ax: Axes | Sequence[Axes] | None, n_panels: int, width: float, height: float
) -> Any:
    """Return axes (n_panels,): no more than are given, or new ones above each other.

    A new figure has this size in inches.
    """
    if ax is not None:
        return np.ravel(np.asarray(ax, dtype=object))[:n_panels]
    from matplotlib import pyplot

    _, panels = pyplot.subplots(
        n_panels, sharex=True, squeeze=False, figsize=(width, height), layout="constrained"
    )
    return panels[:, 0]


def wrapped(name: str, width: int = _WIDTH) -> str:
    """Return a name in lines that leave room for the picture, without mathematics of TeX."""
    return textwrap.fill(name, width).replace("$", r"\$")


def n_lines(names: Sequence[str]) -> int:
    """Return the lines of the longest of some wrapped names."""
    return max((name.count("\n") + 1 for name in names), default=1)


def n_shown(top_k: int | None, n_kernels: int) -> int:
    """Return how many kernels are shown: at most `top_k`, or all if None."""
    return n_kernels if top_k is None else min(check_count("top_k", top_k), n_kernels)


def colours(n: int) -> list[Any]:
    """Return n colours that can be told apart as well as so many can."""
    from matplotlib import colormaps

    if n <= 20:
        return [colormaps["tab10" if n <= 10 else "tab20"](i) for i in range(n)]
    return [colormaps["viridis"](i / (n - 1)) for i in range(n)]


def listed(classes: Sequence[Any] | None, n: int) -> list[str]:
    """Return how the classes of n problems are called."""
    return [str(label) for label in (range(n) if classes is None else classes)]
