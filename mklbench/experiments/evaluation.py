"""One split of a cell: split, scale, choose hyperparameters, fit on the clock, test, record."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import config as configs
from mklbench import one_vs_rest
from mklbench.data import Dataset
from mklbench.data.preprocessing import fit_scaling
from mklbench.data.splits import split_seed
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.provenance import provenance
from mklbench.experiments.search import Selection, select
from mklbench.kernels import KernelOperator
from mklbench.solution import Solution

SCHEMA = 1

Record = dict[str, Any]


def run_split(cell: Cell, split: int) -> Record:
    """Run one split of a cell and return its record; a crash of the algorithm is recorded, too.

    Raises
    ------
    InputError : for what the user can mend; nothing is recorded then.
    """
    try:
        return _run_split(cell, split)
    except InputError:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return unfinished(cell, split, "failed", message, traceback.format_exc())


def unfinished(
    cell: Cell, split: int, status: str, error: str, details: str | None = None
) -> Record:
    """Return the record of a split that has no result: status "failed" or "timeout"."""
    measured = dict.fromkeys(_MEASURED)
    return _header(cell, split) | measured | _ending(cell, status, error, details)


_MEASURED = (
    "n_train", "n_test", "C", "params", "accuracy", "rmse", "n_kernels", "n_base_kernels",
    "objective", "gap", "converged", "svm_calls", "n_iter", "fit_seconds", "fit_cpu_seconds",
    "svm_seconds", "kernel_seconds", "search_seconds", "search_accuracy", "predict_seconds",
    "relevant_weight", "weights",
)  # fmt: skip


def _run_split(cell: Cell, split: int) -> Record:
    data = cell.dataset()
    train, test = cell.rows(split)
    scaling = fit_scaling(cell.config["split"]["scaling"], data.X[train])
    X_train, X_test = scaling.transform(data.X[train]), scaling.transform(data.X[test])
    codes, n_classes = data.y[train], len(data.classes)

    def build(kernel_config: Mapping[str, Any]) -> KernelOperator:
        builder = configs.kernel(kernel_config)
        return builder(train if getattr(builder, "takes_rows", False) else X_train)

    selection = select(cell.config, build, codes, n_classes, _seed(cell, split) + 1)
    chosen = configs.with_values(cell.config, selection.params)
    solve, builder = configs.algorithm(chosen["algo"]), configs.kernel(chosen["kernel"])
    takes_rows = getattr(builder, "takes_rows", False)

    start = time.perf_counter()
    operator = build(chosen["kernel"])
    built = time.perf_counter()
    cpu = time.process_time()
    solutions = one_vs_rest.fit(solve, operator, codes, n_classes)
    fitted, fit_cpu = time.perf_counter(), time.process_time() - cpu
    decision = one_vs_rest.decision_function(operator, solutions, test if takes_rows else X_test)
    predicted = time.perf_counter()

    seconds = {
        "fit_seconds": fitted - built,
        "fit_cpu_seconds": fit_cpu,
        "svm_seconds": sum(solution.svm_seconds for solution in solutions),
        "kernel_seconds": built - start,
        "search_seconds": selection.seconds,
        "predict_seconds": predicted - fitted,
    }
    return (
        _header(cell, split)
        | {"n_train": len(train), "n_test": len(test)}
        | _hyperparameters(chosen, selection)
        | _quality(decision, data.y[test])
        | _solver(solutions, operator)
        | seconds
        | _weights(solutions, operator, data)
        | _ending(cell, "done", None, None)
    )


def _seed(cell: Cell, split: int) -> int:
    protocol = cell.config["split"]
    return split_seed(
        cell.data_digest,
        split,
        test_fraction=protocol["test_fraction"],
        stratified=protocol["stratified"],
        seed=protocol["seed"],
    )


def _header(cell: Cell, split: int) -> Record:
    return {
        "schema": SCHEMA,
        "key": cell.key,
        "algo": cell.algo,
        "kernel": cell.kernel,
        "data": cell.data,
        "search": cell.search,
        "split": split,
    }


def _hyperparameters(chosen: Mapping[str, Any], selection: Selection) -> Record:
    return {
        "C": chosen["algo"].get("C"),
        "params": selection.params,
        "search_accuracy": selection.accuracy,
    }


def _quality(decision: NDArray[np.float64], codes: NDArray[np.int64]) -> Record:
    """Accuracy, and for two classes the root mean squared error against the labels -1 and +1."""
    accuracy = float(np.mean(one_vs_rest.predict(decision) == codes))
    rmse = None
    if decision.ndim == 1:
        rmse = _finite(np.sqrt(np.mean((decision - np.where(codes == 1, 1.0, -1.0)) ** 2)))
    return {"accuracy": accuracy, "rmse": rmse}


def _solver(solutions: Sequence[Solution], operator: KernelOperator) -> Record:
    """What the solver reports; for one-versus-rest sums, means or the worst over the classes."""
    return {
        "n_kernels": float(np.mean([np.count_nonzero(s.weights) for s in solutions])),
        "n_base_kernels": operator.n_kernels,
        "objective": _finite(sum(s.objective for s in solutions)),
        "gap": _finite(max(s.gap for s in solutions)),
        "converged": all(bool(s.converged) for s in solutions),
        "svm_calls": sum(int(s.n_svm_calls) for s in solutions),
        "n_iter": sum(int(s.n_iter) for s in solutions),
    }


def _weights(solutions: Sequence[Solution], operator: KernelOperator, data: Dataset) -> Record:
    """The weights, and the share of them that lies on features which are not appended noise."""
    weights = np.array([solution.weights for solution in solutions])
    features = np.asarray(operator.features)
    relevant = None
    if (features >= 0).all() and weights.sum() > 0:
        n_original = data.X.shape[1] - data.n_noise_features
        relevant = float(weights[:, features < n_original].sum() / weights.sum())
    listed = weights[0].tolist() if len(solutions) == 1 else weights.tolist()
    return {"relevant_weight": relevant, "weights": listed}


def _ending(cell: Cell, status: str, error: str | None, details: str | None) -> Record:
    return {
        "status": status,
        "error": error,
        "traceback": details,
        "seed": cell.config["split"]["seed"],
        "data_digest": cell.data_digest,
        "data_source": _place(cell.dataset().source),
        "provenance": provenance(),
    }


def _place(source: str) -> str:
    """Return where data came from; of a file its name, as directories differ between machines."""
    return source if "://" in source else Path(source).name


def _finite(value: float) -> float | None:
    """Return a finite number, or None: JSON has neither NaN nor infinity."""
    return float(value) if math.isfinite(value) else None
