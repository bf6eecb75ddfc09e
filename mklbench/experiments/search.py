"""Model selection: a grid of hyperparameters, cross-validated inside the training part.

A cell either selects anew on the training part of each split (`select`), or does so on the first
few splits and uses the medians of these choices on all (`medians`).
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mklbench import config as configs
from mklbench import one_vs_rest
from mklbench.data.splits import folds
from mklbench.kernels import Family, KernelOperator
from mklbench.solution import Solution

Codes = NDArray[np.int64]
Rows = NDArray[np.int64]
Build = Callable[[Mapping[str, Any]], KernelOperator]


@dataclass(frozen=True)
class Selection:
    """The hyperparameters chosen on one training part.

    Attributes
    ----------
    params : dotted path -> value (``{"algo.C": 10}``); empty if nothing was searched.
    accuracy : share of the training rows classified correctly while they were held out; None if
        nothing was searched.
    seconds : wall-clock seconds of the search.
    """

    params: dict[str, Any] = field(default_factory=dict)
    accuracy: float | None = None
    seconds: float = 0.0


def grid_entries(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of the values of a grid, the last key varying fastest."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def select(
    config: Mapping[str, Any], build: Build, codes: Codes, n_classes: int, seed: int
) -> Selection:
    """Choose the hyperparameters of a cell by cross-validation on its training part.

    The kernels are built once on the training part for each setting of the ``kernel.*`` keys and
    restricted once to each fold; all settings of the ``algo.*`` keys are tried on that.

    Solvers that take a start (`one_vs_rest.takes_start`) are warm-started: the entries that
    differ in C alone are walked in ascending C, and each starts at the mean of the weights of its
    neighbours, the entry before it on this path and the same entry in the fold before. That saves
    SVM calls and changes weights within the solver's tolerance only. In a family, where a search
    for kernels may end elsewhere if it starts elsewhere, nothing passes from fold to fold, as the
    kernels of one fold have seen the held-out rows of the next. It ends with the search: the
    fit at the chosen hyperparameters starts from nothing, as where they are given, so that
    fit_seconds compares algorithms and no part of a fit is hidden in search_seconds.

    Parameters
    ----------
    config : the cell's config; ``config["search"]`` has the grid and the number of folds.
    build : makes the operator on the training part from a kernel config.
    codes : (n,) class codes of the training part.
    n_classes : number of classes.
    seed : of the folds.

    Returns
    -------
    Selection
        The entry with the most rows correct; of several, that with the smaller C, then the earlier.
    """
    grid = config["search"]["grid"]
    if not grid:
        return Selection()
    start = time.perf_counter()
    entries = grid_entries(grid)
    parts = folds(codes, config["search"]["folds"], seed)
    correct = [0] * len(entries)
    for path in _paths(entries):
        settings = [configs.with_values(config, entries[step.entry]) for step in path]
        operator = build(settings[0]["kernel"])
        predictor = _Predictor(operator)
        solves = [configs.algorithm(setting["algo"]) for setting in settings]
        learned: dict[int | None, list[Solution]] = {}  # entry -> its latest solutions
        for fit_rows, held_out in parts:
            fold_operator = operator.restrict(fit_rows)
            for step, solve in zip(path, solves, strict=True):
                takes_start = one_vs_rest.takes_start(solve)
                near = [step.before] if isinstance(fold_operator, Family) else step
                neighbours = [learned[index] for index in near if index in learned]
                solutions = one_vs_rest.fit(
                    solve,
                    fold_operator,
                    codes[fit_rows],
                    n_classes,
                    starts=one_vs_rest.mean_starts(neighbours) if takes_start else None,
                )
                learned[step.entry] = solutions
                predicted = predictor.predict(solutions, held_out, fit_rows)
                correct[step.entry] += int(np.count_nonzero(predicted == codes[held_out]))
    best = min(range(len(entries)), key=lambda i: (-correct[i], _box(entries[i]), i))
    return Selection(
        params=entries[best],
        accuracy=correct[best] / len(codes),
        seconds=time.perf_counter() - start,
    )


def medians(choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return of each hyperparameter the median over several choices.

    Of an even number it is the lower of the two in the middle, so that it is a value of the grid.

    Used on every split, the medians are the protocol of the IDA benchmarks and of Gehler & Nowozin
    2008, but they break the rule that hyperparameters never see the test part: the training parts
    of the first splits overlap with the test parts of the others. Cawley & Talbot, "On over-fitting
    in model selection", JMLR 11, 2010, find the test errors so obtained optimistic.

    Parameters
    ----------
    choices : `Selection.params` of one selection each, all of the same grid; at least one.
    """
    paths = choices[0]
    return {path: statistics.median_low(choice[path] for choice in choices) for path in paths}


def _box(entry: Mapping[str, Any]) -> float:
    """Return the entry's C, or 0 where C is not searched."""
    return float(entry.get("algo.C", 0.0))


class _Step(NamedTuple):
    """An entry of the grid; `before` it on its path is the one with the next smaller C, if any."""

    before: int | None
    entry: int


def _paths(entries: Sequence[Mapping[str, Any]]) -> list[list[_Step]]:
    """Return the order in which to try the entries: one path a setting of the ``kernel.*`` keys.

    On it, entries that differ in C alone follow one another in ascending C.
    """
    kernels: dict[str, dict[str, list[int]]] = {}
    for index, entry in enumerate(entries):
        kernel = {path: value for path, value in entry.items() if path.startswith("kernel.")}
        others = {path: value for path, value in entry.items() if path != "algo.C"}
        kernels.setdefault(repr(kernel), {}).setdefault(repr(others), []).append(index)
    paths = []
    for alike in kernels.values():
        ascending = [sorted(indices, key=lambda i: _box(entries[i])) for indices in alike.values()]
        pairs = (pair for run in ascending for pair in itertools.pairwise([None, *run]))
        paths.append([_Step(before, entry) for before, entry in pairs if entry is not None])
    return paths


class _Predictor:
    """Predictions for held-out training rows, from the Gram matrix of the whole training part.

    The last Gram matrix is kept: at fixed weights it serves every fold and every C. Of kernels that
    a solver has found, which are others each time, only the block at hand is computed.
    """

    def __init__(self, operator: KernelOperator) -> None:
        self._operator = operator
        self._last: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def predict(
        self, solutions: Sequence[Solution], held_out: Rows, fit_rows: Rows
    ) -> NDArray[np.intp]:
        values = [
            self._values(solution, held_out, fit_rows) + solution.intercept
            for solution in solutions
        ]
        decision = values[0] if len(values) == 1 else np.stack(values, axis=1)
        return one_vs_rest.predict(decision)

    def _values(self, solution: Solution, held_out: Rows, fit_rows: Rows) -> NDArray[np.float64]:
        if solution.thetas is None:
            block = np.ix_(held_out, fit_rows)
            return one_vs_rest.outputs_from(lambda weights: self._at(weights)[block], solution)
        family = cast(Family, self._operator)
        return one_vs_rest.outputs(family.restrict(fit_rows), solution, family.samples[held_out])

    def _at(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._last is None or not np.array_equal(weights, self._last[0]):
            self._last = weights.copy(), self._operator.gram(weights)
        return self._last[1]
