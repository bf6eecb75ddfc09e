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
        given = {name: options[name] for name in self._searched if name in options}
        others = {name: value for name, value in options.items() if name not in given}
        weights = others.pop("sample_weight", np.ones(len(codes)))
        unit = grids.unit_of(kernels)

        def with_C(entry: grids.Entry) -> dict[str, Any]:
            return {**entry, "C": grids.resolved("C", entry["C"], unit), **given}

        def losses(entries: Sequence[grids.Entry]) -> list[float]:
            lost: list[float] = []
            for C, alike in itertools.groupby(map(with_C, entries), lambda entry: entry["C"]):
                ends = [entry["iterations"] for entry in alike]
                wrong = np.zeros(len(ends))
                for fit, held_out in parts:
                    path = partial(
                        self._algorithm.solve_path, C=C, sample_weight=weights[fit], **others
                    )
                    block = np.ix_(held_out, fit)
                    for i, machines in enumerate(
                        _along(path, kernels.take(fit), codes[fit], n_classes, ends)
                    ):
                        outputs = partial(_outputs, kernels, block)
                        decision = multiclass.decision_values(machines, outputs)
                        missed = multiclass.predict(decision) != codes[held_out]
                        wrong[i] += weights[held_out][missed].sum()
                lost += wrong.tolist()
            return lost

        grid = {"C": grids.DECADES, "iterations": ITERATIONS}
        grid |= {name: (value,) for name, value in given.items()}
        best, _, _ = grids.search(
            [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())],
            losses,
            lambda entry: (entry["iterations"] or 0, entry["C"]),
            [] if "C" in given else ["C"],
        )
        return with_C(best)


def _outputs(kernels: KernelOperator, block: Any, machine: Solution) -> NDArray[np.float64]:
    """Return the outputs of a machine at the samples that are the rows of a block."""
    return multiclass.outputs_from(lambda weights: kernels.gram(weights)[block], machine)


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
