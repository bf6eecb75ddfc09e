"""What a fitted estimator tells: its kernels by name, its optimum, and a summary in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mklbench.iterations import History, Watcher
from mklbench.kernels import Family, KernelOperator
from mklbench.kernels.naming import unique
from mklbench.solution import Solution

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# Kernels of which tables list all; of more they list those in use.
_MOST_LISTED = 10_000


class ReadableModel:
    """What there is to read of solutions whose kernels have names.

    Attributes
    ----------
    kernel_names_ : sequence of str
        A name (M,) for each kernel, in the order of `weights_`, none there twice. Where
        each class has found kernels of its own in a family, a list of such lists.
    solutions_ : list of Solution
        One a binary problem.
    """

    kernel_names_: Any
    solutions_: list[Solution]

    @property
    def support_(self) -> NDArray[np.intp]:
        """Row numbers of the training samples with a coefficient other than 0 in any class."""
        coefficients = np.array([solution.dual_coef for solution in self.solutions_])
        return np.flatnonzero(coefficients.any(axis=0))

    @property
    def objective_(self) -> float | Array:
        """The objective at the optimum, a number, or an array with one a class."""
        return one_or_all([solution.objective for solution in self.solutions_])

    @property
    def gap_(self) -> float | Array:
        """The certified relative duality gap, a number, or an array with one a class."""
        return one_or_all([solution.gap for solution in self.solutions_])

    @property
    def converged_(self) -> bool:
        """Whether all problems ended by their stopping rule, and none by a limit."""
        return all(bool(solution.converged) for solution in self.solutions_)

    @property
    def history_(self) -> History | list[History]:
        """What was noted in each outer iteration, a dict each; a list of these lists by class."""
        histories = [solution.history for solution in self.solutions_]
        return histories[0] if len(histories) == 1 else histories

    def kernel_weights(self, *, sort: bool = False) -> pd.Series | pd.DataFrame:
        """Return the kernel weights under the names of their kernels.

        Parameters
        ----------
        sort : bool, default=False
            Whether the largest come first, in absolute value; over several classes in the mean.

        Returns
        -------
        Series of shape (M,) or DataFrame of shape (M, k)
            One column a class for more than two of them. Where each class has found kernels of its
            own, they are the kernels of any class, at 0 where a class has not found them. Of more
            than 10,000 kernels only those are there that have a weight other than 0 in any class.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        """
        check_is_fitted(self)
        import pandas as pd

        names, weights = self._labelled()
        index = pd.Index(names, name="kernel")
        labelled: Any
        if len(weights) == 1:
            labelled = pd.Series(weights[0], index=index, name="weight")
            sizes = labelled.abs()
        else:
            columns = pd.Index(getattr(self, "classes_", range(len(weights))), name="class")
            labelled = pd.DataFrame(weights.T, index=index, columns=columns)
            sizes = labelled.abs().mean(axis=1)
        order = np.argsort(-sizes.to_numpy(), kind="stable") if sort else slice(None)
        return cast("pd.Series | pd.DataFrame", labelled.iloc[order])

    def _labelled(self) -> tuple[list[str], Array]:
        """Return names and weights (k, M), one row a problem.

        Of too many kernels those in use are listed alone.
        """
        given = [solution.weights for solution in self.solutions_]
        names = self.kernel_names_
        if not len(names) or isinstance(names[0], str):
            weights = np.array(given)
            listed = np.arange(len(names))
            if len(names) > _MOST_LISTED:
                listed = np.flatnonzero(weights.any(axis=0))
            return [names[m] for m in listed.tolist()], weights[:, listed]
        every = list(dict.fromkeys(name for own in names for name in own))
        place = {name: m for m, name in enumerate(every)}
        weights = np.zeros((len(given), len(every)))
        for row, own, values in zip(weights, names, given, strict=True):
            row[[place[name] for name in own]] = values
        return every, weights


def names_of(
    operator: KernelOperator, solutions: Sequence[Solution], columns: Sequence[str] | None
) -> Sequence[str] | list[list[str]]:
    """Return the names of the kernels that solutions have weights for.

    Parameters
    ----------
    operator : KernelOperator
        The kernels that the solutions were learned with.
    solutions : sequence of Solution
        One a binary problem.
    columns : sequence of str or None
        The names (d,) of the columns of the samples, if they have any.

    Returns
    -------
    sequence of str
        One a kernel; or a list of such lists, where each problem has found kernels of its own. The
        same kernel then has the same name in each.
    """
    found = [solution.thetas for solution in solutions if solution.thetas is not None]
    if not found:
        return unique(operator.kernel_names(columns))
    thetas, numbers = np.unique(np.concatenate(found), axis=0, return_inverse=True)
    every = unique(cast(Family, operator).member_names(thetas, columns))
    of_all = [every[m] for m in numbers.ravel().tolist()]
    if len(found) == 1:
        return of_all
    ends = np.cumsum([len(each) for each in found])
    return [of_all[end - len(each) : end] for each, end in zip(found, ends, strict=True)]


def one_or_all(values: list[float]) -> float | Array:
    return float(values[0]) if len(values) == 1 else np.array(values)


class Printer(Watcher):
    """Prints a line for each entry of the histories that it is told of.

    Parameters
    ----------
    estimator : str
        What is fitted.
    problems : sequence of str
        A name for each binary problem, in their order; none where there is only one.
    """

    def __init__(self, estimator: str, problems: Sequence[str] = ()) -> None:
        self._estimator, self._problems = estimator, problems
        self._histories: list[History] = []
        self._started = perf_counter()

    def begun(self, history: History) -> None:
        """Take notice of the history of the next binary problem."""
        self._histories.append(history)

    def noted(self, history: History) -> None:
        """Print the last entry: the objective J, its gap, the kernels in use, the time so far."""
        entry = history[-1]
        told = [f"J {entry['objective']:.6g}"]
        if np.isfinite(entry.get("gap", np.inf)):  # that of the start may not be known
            told.append(f"gap {entry['gap']:.1e}")
        n_active = round(entry["n_active"])
        told.append(f"{n_active} active kernel{'' if n_active == 1 else 's'}")
        told.append(f"{perf_counter() - self._started:.2f} s")
        print(f"[{self._called(history)}] {', '.join(told)}", flush=True)

    def told(self, history: History, sentence: str) -> None:
        """Print a sentence about a problem."""
        print(f"[{self._called(history)}] {sentence}", flush=True)

    def _called(self, history: History) -> str:
        """Return which iteration of which problem it is; the start is number 0."""
        number = next(k for k, each in enumerate(self._histories) if each is history)
        problem = f" {self._problems[number]}," if self._problems else ""
        return f"{self._estimator}{problem} iteration {len(history) - 1}"
