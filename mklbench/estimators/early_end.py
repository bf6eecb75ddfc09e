"""Descents whose early end regularises: C and the iterations by cross-validation, unless given."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from mklbench import grids, multiclass
from mklbench.errors import InputError
from mklbench.estimators.learners import KernelLearner
from mklbench.kernels import KernelOperator
from mklbench.solution import Solution

Codes = NDArray[np.intp]

ITERATIONS = (0, 1, 2, 3, 5)
_FOLDS = 5


class EndsEarly(KernelLearner):
    """A descent to the end of which a model fits its training samples alone.

    Where C or `iterations` is "cv" it is chosen by 5-fold cross-validation among the training
    samples: C in units of the kernels (`mklbench.grids`), iterations among 0, 1, 2, 3 and 5. Of
    choices that do alike that with fewer iterations is taken, then that with the smaller C.

    Attributes
    ----------
    C_, iterations_ : float and int or None
        What was given or chosen; the others are in `KernelLearner`.
    """

    C: float | Literal["cv"]
    iterations: int | Literal["cv"] | None
    _searched: ClassVar[tuple[str, ...]] = ("C", "iterations")

    def _hyperparameters(self) -> dict[str, Any]:
        given = super()._hyperparameters()
        return {name: v for name, v in given.items() if not (name in self._searched and v == "cv")}

    def _tuned(
        self, solve: Callable[..., Solution], kernels: KernelOperator, codes: Codes, n_classes: int
    ) -> Callable[..., Solution]:
        options = dict(solve.keywords)  # type: ignore[attr-defined]
        if any(name not in options for name in self._searched):
            options |= self._cross_validated(options, kernels, codes, n_classes)
        self.C_, self.iterations_ = (options[name] for name in self._searched)
        return partial(self._algorithm.solve, **options)

    def _cross_validated(
        self, options: dict[str, Any], kernels: KernelOperator, codes: Codes, n_classes: int
    ) -> dict[str, Any]:
        """Return the C and iterations that are not among the options."""
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            raise InputError(
                f"{type(self).__name__} chooses C and iterations by cross-validation, but there is "
                "1 sample of a class: give both, or more samples."
            )
        folds = StratifiedKFold(min(_FOLDS, smallest), shuffle=True, random_state=0)
        parts = list(folds.split(codes, codes))
        fixed = {name: options[name] for name in options if name not in self._searched}
        weights = fixed.pop("sample_weight", None)
        importance = np.ones(len(codes)) if weights is None else weights
        unit = grids.unit_of(kernels)

        def losses(entries: Sequence[grids.Entry]) -> list[float]:
            found = np.zeros(len(entries))
            for fit, held_out in parts:
                part, block = kernels.restrict(fit), np.ix_(held_out, fit)
                own = {} if weights is None else {"sample_weight": weights[fit]}
                for C, alike in itertools.groupby(range(len(entries)), lambda i: entries[i]["C"]):
                    paths = list(alike)
                    ends = [entries[i]["iterations"] for i in paths]
                    path = partial(self._algorithm.solve_path, C=C_of(C), **fixed, **own)
                    for i, machines in zip(
                        paths, _along(path, part, codes[fit], n_classes, ends), strict=True
                    ):
                        decision = multiclass.decision_values(
                            machines,
                            lambda machine, block=block: multiclass.outputs_from(
                                lambda d: kernels.gram(d)[block], machine
                            ),
                        )
                        wrong = multiclass.predict(decision) != codes[held_out]
                        found[i] += importance[held_out][wrong].sum()
            return list(found)

        def C_of(c: float) -> float:
            return options["C"] if "C" in options else grids.resolved("C", c, unit)

        grid = {
            "C": [options["C"]] if "C" in options else grids.DECADES,
            "iterations": [options["iterations"]] if "iterations" in options else ITERATIONS,
        }
        entries = [
            dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
        ]
        best, _, _ = grids.search(
            entries,
            losses,
            lambda entry: (entry["iterations"] or 0, entry["C"]),
            [] if "C" in options else ["C"],
        )
        return {"C": C_of(best["C"]), "iterations": best["iterations"]}


def _along(
    solve_path: Callable[..., list[Solution]],
    kernels: KernelOperator,
    codes: Codes,
    n_classes: int,
    ends: Sequence[int | None],
) -> list[list[Solution]]:
    """Return the machines of all classes after each of some numbers of iterations."""
    paths: list[list[Solution]] = []

    def solve(operator: KernelOperator, y: NDArray[np.float64]) -> Solution:
        paths.append(solve_path(operator, y, ends))
        return paths[-1][0]

    multiclass.fit(solve, kernels, codes, n_classes)
    return [list(machines) for machines in zip(*paths, strict=True)]
