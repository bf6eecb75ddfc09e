"""What is to be predicted, classes or real targets, and how far predictions are off it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import multiclass
from mklbench.contract import Solver
from mklbench.data import Dataset
from mklbench.errors import InputError, first_line
from mklbench.kernels import KernelOperator
from mklbench.solution import Solution

Array = NDArray[np.float64]
PathSolver = Callable[[KernelOperator, Array, Sequence[Any]], list[Solution]]


@dataclass(frozen=True)
class Responses:
    """The responses of n samples: class codes, or real targets.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class codes; all 0 where there are targets.
    n_classes : int
        Number of classes of the data set; 0 where there are targets.
    targets : ndarray of shape (n,) or None
        Real numbers; None where there are classes.
    """

    codes: NDArray[np.int64]
    n_classes: int
    targets: Array | None = None

    @classmethod
    def of(cls, data: Dataset, rows: NDArray[np.int64]) -> Responses:
        """Return the responses of some rows of a data set."""
        return cls(data.y, len(data.classes), data.targets).take(rows)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.int64]) -> Responses:
        """Return the responses of some of the samples."""
        targets = None if self.targets is None else self.targets[rows]
        return Responses(self.codes[rows], self.n_classes, targets)

    def fit(
        self,
        solve: Solver,
        operator: KernelOperator,
        starts: Sequence[multiclass.Start] | None = None,
    ) -> list[Solution]:
        """Solve the problems that the responses pose: one, or one a class of more than two.

        Parameters are those of `mklbench.multiclass.fit`.
        """
        if self.targets is None:
            return multiclass.fit(solve, operator, self.codes, self.n_classes, starts=starts)
        start = {} if starts is None else {"start": starts[0]}
        return [multiclass.checked(solve(operator, self.targets, **start), solve, operator)]

    def fit_path(
        self, solve_path: PathSolver, operator: KernelOperator, values: Sequence[Any]
    ) -> list[list[Solution]]:
        """Return what `fit` returns for each of the `values` of an option, solved all at once."""
        paths: list[list[Solution]] = []

        def solve(operator: KernelOperator, y: Array) -> Solution:
            paths.append(solve_path(operator, y, values))
            return paths[-1][0]

        self.fit(solve, operator)
        return [list(solutions) for solutions in zip(*paths, strict=True)]

    def loss(self, score: str, decision: Array) -> float:
        """Return what decision values, (n,) or (n, k), lose: summed over the samples.

        For "accuracy" the samples that are classified wrongly, for "rmse" the `squared_errors`; for
        one of scikit-learn's scorers minus its value, times n.

        Raises
        ------
        InputError
            If the scorer is not defined for these samples.
        """
        if score == "rmse":
            return float(self.squared_errors(decision).sum())
        if score != "accuracy":
            value = self.score("search.score", score, decision)
            if value is None:
                raise InputError(
                    f"search.score={score} has no value on a part of the training rows: choose "
                    "another score, or fewer search.folds."
                )
            return -len(self) * value
        return float(np.count_nonzero(multiclass.predict(decision) != self.codes))

    def score(
        self,
        option: str,
        name: str,
        decision: Array,
        probabilities: Callable[[], Array] | None = None,
    ) -> float | None:
        """Return what one of scikit-learn's scorers gives (`mklbench.scoring.score`).

        Raises
        ------
        InputError
            With the `option` that names it, if it does not take such responses.
        """
        from mklbench.scoring import score

        y = self.codes if self.targets is None else self.targets
        try:
            return score(name, y, decision, self.n_classes, probabilities)
        except ValueError as error:
            raise InputError(
                f"{option}={name} is not defined on some of the rows ({first_line(error)}): choose "
                "another."
            ) from error

    def squared_errors(self, decision: Array) -> Array:
        """Return the squared errors (n,) of decision values, (n,) or (n, k).

        Of classes against the labels -1 and +1; of k binary problems their mean.
        """
        if self.targets is not None:
            return np.square(decision - self.targets)
        if decision.ndim == 1:
            return np.square(decision - np.where(self.codes == 1, 1.0, -1.0))
        labels = np.where(self.codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)
        return np.square(decision - labels).mean(axis=1)
