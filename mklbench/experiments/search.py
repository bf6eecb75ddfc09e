"""Model selection: a grid of hyperparameters, cross-validated inside the training part.

A run either selects anew on the training part of each split (`select`), or does so on the first
few splits and uses the medians of these choices on all (`medians`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import config as configs
from mklbench import grids, multiclass
from mklbench.config import RunConfig
from mklbench.config.schemas import SCORES
from mklbench.contract import Solver
from mklbench.data import Dataset
from mklbench.data.splits import folds
from mklbench.errors import InputError, SingularError, first_line
from mklbench.experiments.record import Selection
from mklbench.kernels import Family, KernelOperator
from mklbench.solution import Solution

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Build = Callable[[Callable[..., Any]], KernelOperator]


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
        self, solve_path: Callable[..., Any], operator: KernelOperator, values: Sequence[Any]
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


# Options in which a path ascends, where the algorithm has no path of its own.
_PATH_OPTIONS = ("algo.C", "algo.lam")


def select(
    config: RunConfig,
    build: Build,
    responses: Responses,
    seed: int,
    validation: Rows | None = None,
    groups: Rows | None = None,
) -> Selection:
    """Choose the hyperparameters of a run by cross-validation on its training part.

    Values that are in units of the kernel, "auto", are tried as `mklbench.grids.search` says.
    The kernels are built once on the training part for each setting of the ``kernel.*`` keys and
    restricted once to each fold; all settings of the ``algo.*`` keys are tried on that. Entries
    that differ in one option alone are solved together where the algorithm has a path in it
    (`mklbench.contract`): the ridge lambda, or the iterations of a descent.

    Solvers that take a start (`multiclass.takes_start`) are warm-started: the entries that
    differ in C (or lambda) alone are walked in ascending order, and each starts at the mean of the
    weights of its neighbours, the entry before it on this path and the same entry in the fold
    before. That saves SVM calls and changes weights within the solver's tolerance only. In a
    family, where a search for kernels may end elsewhere if it starts elsewhere, nothing passes from
    fold to fold, as the kernels of one fold have seen the held-out rows of the next. It ends with
    the search: the fit at the chosen hyperparameters starts from nothing, as where they are given,
    so that fit_seconds compares algorithms and no part of a fit is hidden in search_seconds.

    Parameters
    ----------
    config : RunConfig
        Of the run; its ``search`` has the grid, the number of folds, the
        tolerance of the fits and their options where these are others than those of the
        algorithm, and the score:
        "accuracy", "rmse", one of scikit-learn's scorers, or null for the accuracy of classes and
        the RMSE of real targets.
    build : Build
        Makes the operator on the training part by a builder of kernels.
    responses : Responses
        Of the training part; folds are stratified by their classes.
    seed : int
        Of the folds.
    validation : ndarray of int or None, default=None
        Which samples of the training part all settings are tested on, fitted to the others; None:
        folds are made.
    groups : ndarray of int or None, default=None
        Codes (n,) of groups of samples, which stay together in the folds.

    Returns
    -------
    Selection
        The entry with the best score; of several, that with fewer iterations, then with the smaller
        C, then the earlier, or with ``ties="larger"`` the other way round.

    Raises
    ------
    SingularError
        Every ridge lambda of the grid is too small on some fold; else those that are do not count.
    """
    grid = config.search.grid
    if not grid:
        return Selection()
    start = time.perf_counter()
    score: str = config.search.score or ("rmse" if responses.n_classes == 0 else "accuracy")
    tol = {} if config.search.tol is None else {"algo.tol": config.search.tol}
    config = config.with_values(tol | (config.search.fits or {}))  # of the fits of the search
    if validation is None:
        in_order = config.split.kind == "time"
        parts = folds(responses.codes, config.search.folds, seed, groups, in_order)
    else:
        parts = [(np.setdiff1d(np.arange(len(responses)), validation), validation)]
    lists = map(grids.first_values, grid.values())  # the last key varies fastest
    entries = [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]
    rank: Callable[[Mapping[str, Any]], Any] = _complexity
    if config.search.ties == "larger":
        entries, rank = entries[::-1], lambda entry: [-value for value in _complexity(entry)]
    trial = _Trial(config, build, responses, parts, score)
    best, lost, at_end = grids.search(entries, trial.losses, rank, trial.axes)
    if trial.singular is not None and lost == math.inf:
        raise trial.singular
    params, n = trial.resolved(best), sum(len(held_out) for _, held_out in parts)
    return Selection(
        params=params,
        accuracy=(n - lost) / n if score == "accuracy" else None,
        seconds=time.perf_counter() - start,
        rmse=math.sqrt(lost / n) if score == "rmse" else None,
        score=None if score in SCORES else -lost / n,
        at_border=[*at_end, *grids.at_ends(grid, params)],
    )


@dataclass
class _Trial:
    """Tries entries of a grid in the folds of a training part; the parameters are of `select`.

    Attributes
    ----------
    axes : list of str
        The keys of the grid whose values are in units of the kernel.
    singular : SingularError or None
        Why some entry has no solution.
    """

    config: RunConfig
    build: Build
    responses: Responses
    parts: Sequence[tuple[Rows, Rows]]
    score: str

    def __post_init__(self) -> None:
        grid = self.config.search.grid
        self.axes = [path for path, values in grid.items() if values == grids.AUTO]
        self.singular: SingularError | None = None
        option = configs.declared(self.config.algo).path_option
        self._path = None if option is None else f"algo.{option}"
        self._operators: dict[str, KernelOperator] = {}  # the latest only
        self._units: dict[str, float] = {}

    def resolved(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry with plain values in the place of those in units of its kernel."""
        in_units = {
            path: grids.resolved(path.partition(".")[2], entry[path], self._units[_kernel(entry)])
            for path in self.axes
        }
        return {**entry, **in_units}

    def losses(self, entries: Sequence[Mapping[str, Any]]) -> list[float]:
        """Return what entries lose over all folds; infinity where there is no solution."""
        losses = [0.0] * len(entries)
        for paths in _paths(entries, self._path):
            operator = self._operator(entries[paths[0][0]])
            settings = [
                [self.config.with_values(self.resolved(entries[i])) for i in path] for path in paths
            ]
            predictor = _Predictor(operator)
            solvers = [_PathSolver(setting) for setting in settings]
            for fit_rows, held_out in self.parts:
                fold_operator = operator.take(fit_rows)
                learning, held = self.responses.take(fit_rows), self.responses.take(held_out)
                for path, solver in zip(paths, solvers, strict=True):
                    solved = solver.solve(fold_operator, learning)
                    for entry, solutions in zip(path, solved, strict=True):
                        if isinstance(solutions, SingularError):
                            losses[entry], self.singular = math.inf, solutions
                            continue
                        decision = predictor.decision(solutions, held_out, fit_rows)
                        losses[entry] += held.loss(self.score, decision)
                del fold_operator  # its memory serves the next one
        return losses

    def _operator(self, entry: Mapping[str, Any]) -> KernelOperator:
        """Return the operator of an entry on the training part; its unit is then known."""
        kernel = _kernel(entry)
        if kernel not in self._operators:
            self._operators.clear()
            builder = configs.kernel(self.config.with_values(entry).kernel)
            self._operators[kernel] = self.build(builder)
            if self.axes:
                self._units[kernel] = grids.unit_of(self._operators[kernel])
        return self._operators[kernel]


def _kernel(entry: Mapping[str, Any]) -> str:
    """Return what tells the kernels of entries apart."""
    return repr({path: value for path, value in entry.items() if path.startswith("kernel.")})


def held_out_decisions(
    operator: KernelOperator,
    solve: Callable[..., Solution],
    responses: Responses,
    n_folds: int,
    seed: int,
    groups: Rows | None = None,
) -> Array:
    """Return decision values (n,) or (n, k) of each training row by machines fitted without it.

    Parameters
    ----------
    operator : KernelOperator
        On the training part.
    solve : callable
        The algorithm, its options bound.
    responses : Responses
        Of the training part.
    n_folds, seed : int
        Of the folds, which are stratified by the classes.
    groups : ndarray of int or None, default=None
        Codes (n,) of groups of samples, which stay together in the folds.
    """
    predictor = _Predictor(operator)
    shape = (len(responses),) if responses.n_classes <= 2 else (len(responses), responses.n_classes)
    decisions = np.empty(shape)
    for fit_rows, held_out in folds(responses.codes, n_folds, seed, groups):
        solutions = responses.take(fit_rows).fit(solve, operator.take(fit_rows))
        decisions[held_out] = predictor.decision(solutions, held_out, fit_rows)
    return decisions


class _PathSolver:
    """Solves the entries of one path, fold after fold.

    Parameters
    ----------
    settings : sequence of RunConfig
        The config of the run at each entry of the path.
    """

    def __init__(self, settings: Sequence[RunConfig]) -> None:
        algos = [setting.algo for setting in settings]
        self._solves = [configs.algorithm(algo) for algo in algos]
        option = configs.declared(algos[0]).path_option
        self._values = [algo.get(str(option)) for algo in algos]
        is_path = option is not None and len(set(self._values)) == len(algos) > 1
        self._at_once = configs.path_algorithm(algos[0]) if is_path else None
        self._latest: list[list[Solution] | None] = [None] * len(algos)  # of the fold before

    def solve(
        self, operator: KernelOperator, responses: Responses
    ) -> Iterator[list[Solution] | SingularError]:
        """Yield the solutions of each entry on a fold, or why it has none."""
        if self._at_once is not None:
            with contextlib.suppress(SingularError):  # of one lambda: the others may have solutions
                yield from responses.fit_path(self._at_once, operator, self._values)
                return
        before: list[Solution] | None = None
        for index, solve in enumerate(self._solves):
            near = [before] if isinstance(operator, Family) else [before, self._latest[index]]
            starts = None
            if multiclass.takes_start(solve):
                starts = multiclass.mean_starts([found for found in near if found is not None])
            try:
                before = self._latest[index] = responses.fit(solve, operator, starts)
            except SingularError as error:
                yield error
            else:
                yield before


# Rules that take the choice of one split as a whole, in the order of C, then of the others.
_WHOLE: Mapping[str, Callable[[Iterable[Any]], Any]] = {
    "joint": statistics.median_low,
    "smallest": min,
    "largest": max,
}


def medians(choices: Sequence[Mapping[str, Any]], combine: str | None = None) -> dict[str, Any]:
    """Return of each hyperparameter the median over several choices, or what takes its place.

    Of an even number it is the lower of the two in the middle, so that it is a value of the grid.

    Used on every split, the medians are the protocol of the IDA benchmarks and of Gehler & Nowozin
    2008, but they break the rule that hyperparameters never see the test part: the training parts
    of the first splits overlap with the test parts of the others. Cawley & Talbot, "On over-fitting
    in model selection", JMLR 11, 2010, find the test errors so obtained optimistic.

    Parameters
    ----------
    choices : sequence of mapping of str to object
        `Selection.params` of one selection each, all of the same grid; at least one.
    combine : str or None, default=None
        In place of the medians the choice that one split has made as a whole: the "smallest", the
        "largest" or the median ("joint") in the order of the first value, then of the next.
    """
    paths = choices[0]
    if combine is not None:
        whole = _WHOLE[combine](tuple(choice.values()) for choice in choices)
        return dict(zip(paths, whole, strict=True))
    return {path: statistics.median_low(choice[path] for choice in choices) for path in paths}


def _complexity(entry: Mapping[str, Any]) -> tuple[float, float]:
    """Return what tells between entries of the same score: iterations without end come last."""
    return _ascending(entry.get("algo.iterations", 0)), entry.get("algo.C", 0.0)


def _paths(entries: Sequence[Mapping[str, Any]], own: str | None) -> list[list[list[int]]]:
    """Return for each setting of the ``kernel.*`` keys the paths of entries to try.

    On a path, given by their indices, entries differ in the option alone that the algorithm has a
    path of its `own` in, or in C, or where there is no C in lambda, and ascend in it.
    """
    options = _PATH_OPTIONS if own is None else (own, *_PATH_OPTIONS)
    option = next((name for name in options if name in entries[0]), "")
    kernels: dict[str, dict[str, list[int]]] = {}
    for index, entry in enumerate(entries):
        others = {path: value for path, value in entry.items() if path != option}
        kernels.setdefault(_kernel(entry), {}).setdefault(repr(others), []).append(index)
    return [
        [
            sorted(path, key=lambda i: _ascending(entries[i].get(option, 0.0)))
            for path in alike.values()
        ]
        for alike in kernels.values()
    ]


def _ascending(value: float | None) -> float:
    """Return a value to sort by; None, which is no end, is the last."""
    return math.inf if value is None else value


class _Predictor:
    """Decision values of held-out training rows, from the Gram matrix of the whole training part.

    The last Gram matrix is kept: at fixed weights it serves every fold and every C. Of kernels that
    a solver has found, which are others each time, only the block at hand is computed.
    """

    def __init__(self, operator: KernelOperator) -> None:
        self._operator = operator
        self._gram = lru_cache(maxsize=1)(lambda weights: operator.gram(np.frombuffer(weights)))

    def decision(self, solutions: Sequence[Solution], held_out: Rows, fit_rows: Rows) -> Array:
        return multiclass.decision_values(
            solutions, lambda machine: self._values(machine, held_out, fit_rows)
        )

    def _values(self, solution: Solution, held_out: Rows, fit_rows: Rows) -> Array:
        operator = self._operator
        if not solution.is_on_samples:
            block = np.ix_(held_out, fit_rows)
            return multiclass.outputs_from(lambda w: self._gram(w.tobytes())[block], solution)
        whole: Any = operator  # a family, unless it is the nodes of a bank's factors
        samples = whole.samples if solution.expansion is None else whole.row_factors().X
        kernels, machines = multiclass.on_nodes(operator.take(fit_rows), [solution])
        return multiclass.outputs(kernels, machines[0], samples[held_out])
