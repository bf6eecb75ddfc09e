"""One split of a run: split, scale, choose hyperparameters, fit on the clock, test, record."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import config as configs
from mklbench import multiclass
from mklbench.config.schemas import MEASURES
from mklbench.data import Dataset
from mklbench.data.preprocessing import fit_scaling, imputed
from mklbench.data.splits import split_seed
from mklbench.experiments.provenance import provenance
from mklbench.experiments.record import DONE, Ended, Record, Selection
from mklbench.experiments.run import Run
from mklbench.experiments.search import Responses, held_out_decisions, medians, select
from mklbench.iterations import Entry, History
from mklbench.kernels import KernelOperator
from mklbench.kernels.contract import builder_of
from mklbench.kernels.naming import unique
from mklbench.prediction import DecisionFunction, single_machines
from mklbench.solution import Solution

# So many iterations are kept, the first and the last among them.
MOST_ENTRIES = 16

Array = NDArray[np.float64]

# What is kept of an iteration, by its name in a history: the name in a record, and how many
# significant digits.
_KEPT = {"n_svm_calls": ("svm_calls", 9), "objective": ("objective", 8), "gap": ("gap", 3)}

_MOST_WEIGHTS = 2000


def run_selection(run: Run, split: int) -> Selection:
    """Choose the hyperparameters of a run on the training part of one split.

    Raises
    ------
    InputError
        For what the user can mend.
    """
    return _Parts(run, split).selection()


def run_split(run: Run, split: int, selections: Mapping[int, Selection] | None = None) -> Record:
    """Run one split of a run and return its record.

    Parameters
    ----------
    run, split : Run or int
        What to run.
    selections : mapping of int to Selection or None, default=None
        Where all splits share them, the result of `run_selection` for each of
        ``run.selection_splits``; else nothing.

    Raises
    ------
    InputError
        For what the user can mend.
    """
    parts = _Parts(run, split)
    shared = {index: (selections or {})[index] for index in run.selection_splits}
    combine = run.config.search.combine
    selection = _agreed(shared, split, combine) if shared else parts.selection()
    chosen = run.config.with_values(selection.params)
    solve, builder = configs.algorithm(chosen.algo), configs.kernel(chosen.kernel)
    test_samples = parts.test_samples(builder)

    start = time.perf_counter()
    operator = parts.build(builder)
    built = time.perf_counter()
    cpu = time.process_time()
    solutions = parts.responses.fit(solve, operator)
    fitted, fit_cpu = time.perf_counter(), time.process_time() - cpu
    decision = multiclass.decision_function(operator, solutions, test_samples)
    predicted = time.perf_counter()

    scores = parts.scores(solve, operator, decision)
    if "model_bytes" in run.metrics:
        scores["model_bytes"] = DecisionFunction.of(operator, solutions).n_bytes()
    return Record(
        **_identity(run, split),
        status=DONE,
        n_train=len(parts.train),
        n_test=len(parts.test),
        C=chosen.algo.get("C"),
        fit_seconds=fitted - built,
        fit_cpu_seconds=fit_cpu,
        svm_seconds=sum(solution.svm_seconds for solution in solutions),
        kernel_seconds=built - start,
        predict_seconds=predicted - fitted,
        scores={name: scores[name] for name in run.metrics} or None,
        **_choice(selection, shared),
        **_quality(parts.tested, decision),
        **_effort(solutions, operator),
        **_weights(solutions, operator, parts.data),
    )


def unfinished(
    run: Run, split: int, status: Ended, error: str, details: str | None = None
) -> Record:
    """Return the record of a split that has no result: status "failed" or "timeout"."""
    return Record(**_identity(run, split), status=status, error=error, traceback=details)


class _Parts:
    """The training and the test part of a split, scaled as the training part says."""

    def __init__(self, run: Run, split: int) -> None:
        self._run, self._split = run, split
        self._seed = split_seed(run.data_digest, split, run.config.split)
        self.data = run.dataset()
        self.train, self.test = run.rows(split)
        X = imputed(self.data.X, self.train, self.data.impute)
        scaling = fit_scaling(run.config.split.scaling, X[self.train])
        self._X_train = scaling.transform(X[self.train])
        self._X_test = scaling.transform(X[self.test])
        groups = self.data.groups
        self._groups = None if groups is None else groups[self.train]
        self.responses = Responses.of(self.data, self.train)
        self.tested = Responses.of(self.data, self.test)

    def build(self, builder: Callable[..., Any]) -> KernelOperator:
        """Return the operator of a builder of kernels on the training part."""
        declared = builder_of(builder)
        if declared.takes_views:
            return builder(self._X_train, self.data.views)
        return builder(self.train if declared.takes_rows else self._X_train)

    def test_samples(self, builder: Callable[..., Any]) -> NDArray[Any]:
        """Return the test part as that operator takes it: features, or row numbers."""
        return self.test if builder_of(builder).takes_rows else self._X_test

    def selection(self) -> Selection:
        """Choose the hyperparameters of the run on the training part."""
        run, groups = self._run, self._groups
        validation = run.validation(self._split)
        return select(run.config, self.build, self.responses, self._seed + 1, validation, groups)

    def scores(
        self, solve: Callable[..., Solution], operator: KernelOperator, decision: Array
    ) -> dict[str, float | None]:
        """Return the scores of the test part by scikit-learn's scorers, by name.

        Probabilities are estimated only if one of them asks: by a sigmoid of the decision values
        that the rows of the training part have in 5 folds of their own, at the same
        hyperparameters.
        """

        @cache
        def probabilities() -> Array:
            from mklbench.scoring import calibrated

            seed, groups = self._seed + 2, self._groups
            held = held_out_decisions(operator, solve, self.responses, 5, seed, groups)
            return calibrated(held, self.responses.codes, decision)

        return {
            name: self.tested.score("metrics", name, decision, probabilities)
            for name in self._run.metrics
            if name not in MEASURES
        }


def decision_again(run: Run, record: Record) -> Array:
    """Fit a finished split again with what was chosen; return the decision values of its test rows.

    Returns
    -------
    ndarray of shape (n_test,) or (n_test, k)
        In the order of the rows of `Run.rows`.
    """
    parts = _Parts(run, record.split)
    chosen = run.config.with_values(record.params or {})
    builder = configs.kernel(chosen.kernel)
    operator = parts.build(builder)
    solutions = parts.responses.fit(configs.algorithm(chosen.algo), operator)
    return multiclass.decision_function(operator, solutions, parts.test_samples(builder))


def _agreed(shared: Mapping[int, Selection], split: int, combine: str | None) -> Selection:
    """Return the medians of shared selections, or what the config combines them to.

    Their seconds are noted once a run: with the splits that they were spent on.
    """
    params = medians([selection.params for selection in shared.values()], combine)
    ends = [path for selection in shared.values() for path in selection.at_border or ()]
    at_border = [path for path in params if 2 * ends.count(path) > len(shared)]
    seconds = shared[split].seconds if split in shared else 0.0
    return Selection(params, seconds=seconds, at_border=at_border)


def _identity(run: Run, split: int) -> dict[str, Any]:
    """Return what is known of a split whatever came out of it."""
    named = ("key", "algo", "kernel", "data", "search", "data_digest")
    return {
        **{name: getattr(run, name) for name in named},
        "split": split,
        "split_source": run.split_source(split),
        "seed": run.config.split.seed,
        "data_source": _without_directories(run.dataset().source),
        "provenance": provenance(),
    }


def _choice(selection: Selection, shared: Mapping[int, Selection]) -> dict[str, Any]:
    """What was chosen; where all splits share the selections these, too, so that none is lost."""
    return {
        "params": selection.params,
        "selections": [{"split": index, **shared[index].to_json()} for index in shared] or None,
        "search_accuracy": selection.accuracy,
        "search_rmse": selection.rmse,
        "search_score": selection.score,
        "at_border": selection.at_border,
        "search_seconds": selection.seconds,
    }


def _quality(test: Responses, decision: Array) -> dict[str, Any]:
    """Accuracy of classes; root mean squared error of targets, or of two classes as -1 and +1."""
    quality: dict[str, Any] = {}
    if test.targets is None:
        quality["accuracy"] = float(np.mean(multiclass.predict(decision) == test.codes))
    if decision.ndim == 1:
        quality["rmse"] = float(np.sqrt(np.mean(test.squared_errors(decision))))
    return quality


def _effort(solutions: Sequence[Solution], operator: KernelOperator) -> dict[str, Any]:
    """What the solver reports; for one-versus-rest sums, means or the worst over the classes."""
    found = any(solution.thetas is not None for solution in solutions)
    machines = list(single_machines(solutions))
    family_gaps = [s.family_gap for s in solutions if s.family_gap is not None]
    ascents = [entry["ascents"] for s in solutions for entry in s.history if "ascents" in entry]
    return {
        "n_kernels": float(np.mean([np.count_nonzero(s.weights) for s in solutions])),
        "n_base_kernels": None if found else operator.n_kernels,
        "n_support": int(np.count_nonzero(np.any([m.dual_coef != 0 for m in machines], axis=0))),
        "n_evaluations": sum(
            int(np.count_nonzero(m.weights) * np.count_nonzero(m.dual_coef)) for m in machines
        ),
        "objective": float(sum(s.objective for s in solutions)),
        "gap": float(max(s.gap for s in solutions)),
        "family_gap": max(family_gaps, default=None),
        "converged": all(bool(s.converged) for s in solutions),
        "svm_calls": sum(int(s.n_svm_calls) for s in solutions),
        "n_problems": len(solutions),
        "n_iter": sum(int(s.n_iter) for s in solutions),
        "ascents": int(max(ascents)) if ascents else None,
        "descent": compact([solution.history for solution in solutions]),
    }


def _weights(
    solutions: Sequence[Solution], operator: KernelOperator, data: Dataset
) -> dict[str, Any]:
    """The weights, and the share of them that lies on features which are not appended noise.

    Of kernels that the solver has found itself there is no such share. They are not recorded: a
    hundred of them on 60 features take 100 kB a split, and another run finds them again. Of more
    than `_MOST_WEIGHTS` kernels those in use are recorded by name, unless these are as many.
    """
    found = any(solution.thetas is not None for solution in solutions)
    if operator.n_kernels > _MOST_WEIGHTS:
        in_use = [int(np.count_nonzero(solution.weights)) for solution in solutions]
        if found or max(in_use) > _MOST_WEIGHTS:
            return {}
        names = unique(operator.kernel_names(data.feature_names))
        active = [
            {names[m]: float(s.weights[m]) for m in np.flatnonzero(s.weights).tolist()}
            for s in solutions
        ]
        return {"active_weights": active[0] if len(active) == 1 else active}
    listed = [solution.weights.tolist() for solution in solutions]
    recorded = {"weights": listed[0] if len(listed) == 1 else listed}
    features = np.asarray(operator.features)
    if not found and (features >= 0).all() and (weights := np.array(listed)).sum() > 0:
        n_original = data.X.shape[1] - data.n_noise_features
        relevant = weights[:, features < n_original].sum() / weights.sum()
        recorded["relevant_weight"] = float(relevant)
    return recorded


def _without_directories(source: str) -> str:
    """Return where data came from; of files their names, as directories differ between machines."""
    return source if "://" in source else " + ".join(Path(p).name for p in source.split(" + "))


def compact(histories: Sequence[History]) -> Mapping[str, list[float | None]] | None:
    """Return the course of the longest of the problems that were solved.

    Of several classes it is that of the problem with the most iterations, the first of these. Of
    many iterations the early ones are kept and then ever fewer, at equal steps of their logarithm.

    Parameters
    ----------
    histories : sequence of list of dict of str to float
        One a binary problem (`mklbench.solution.Solution.history`).

    Returns
    -------
    ``svm_calls``, ``objective`` and ``gap``, each a list of one number an iteration that was kept,
    None where it is not finite; without the gap where none was noted. None where no problem took
    more than one iteration.
    """
    history = max(histories, key=len, default=[])
    if len(history) < 2:
        return None
    kept = {round(at) - 1 for at in np.geomspace(1.0, len(history), MOST_ENTRIES)}
    is_short = len(history) <= MOST_ENTRIES
    entries = [entry for at, entry in enumerate(history) if is_short or at in kept]
    return {
        name: [_rounded(entry, noted, digits) for entry in entries]
        for noted, (name, digits) in _KEPT.items()
        if any(noted in entry for entry in entries)
    }


def _rounded(entry: Entry, name: str, digits: int) -> float | None:
    value = entry.get(name, math.nan)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
