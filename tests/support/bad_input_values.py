"""What the bad inputs of the library (`tests/bad_inputs`) call, and the values they name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import damaged_models
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import linear_model
from sklearn.preprocessing import OneHotEncoder

import mklbench
from mklbench import displays, kernels, one_class
from mklbench.kernels.groups import groups_of
from mklbench.libsvm import SVM

N, D = 24, 3


def fit(
    estimator: str, X: Any, y: Any, parameters: dict[str, Any] | None = None, **more: Any
) -> Any:
    """Fit an estimator of `mklbench` by its name."""
    return getattr(mklbench, estimator)(**(parameters or {})).fit(X, y, **more)


def predict(
    estimator: str, X: Any, method: str = "predict", fit_X: Any = None, **fitting: Any
) -> Any:
    """Predict for `X` by an estimator that was fitted to `fit_X` or the ordinary samples."""
    given = samples() if fit_X is None else fit_X
    fitting_to: dict[str, Any] = {"X": given, "y": labels()} | fitting
    fitted = fit(estimator, **fitting_to)
    return getattr(fitted, method)(X)


def predict_unfitted(estimator: str, X: Any) -> Any:
    """Predict by an estimator that was not fitted."""
    return getattr(mklbench, estimator)().predict(X)


def load_damaged(name: str, damage: str, estimator: str = "KernelSVC", **options: Any) -> Any:
    """Load a model that was saved to a file of this name, damaged (`damaged_models`) since then."""
    damaged_models.write(fit(estimator, samples(), labels()), Path(name), damage)
    return mklbench.load(name, **options)


def set_params(estimator: str, parameters: dict[str, Any]) -> Any:
    """Set parameters of an estimator."""
    return getattr(mklbench, estimator)().set_params(**parameters)


def build(kernel: str, X: Any = "ordinary", options: dict[str, Any] | None = None) -> Any:
    """Build the kernels of a builder by its name."""
    ordinary = samples() if isinstance(X, str) and X == "ordinary" else X
    return kernels.resolve(kernel, **(options or {}))(ordinary)


def make(name: str, *arguments: Any, **options: Any) -> Any:
    """Make an object of `mklbench.kernels`."""
    return getattr(kernels, name)(*arguments, **options)


def make_and_call(name: str, X: Any, **options: Any) -> Any:
    """Make a builder of `mklbench.kernels` and call it with samples."""
    return make(name, **options)(X)


def of(operator: Any, method: str, argument: Any) -> Any:
    """Call a method of an operator."""
    return getattr(operator, method)(argument)


def display(name: str, estimator: Any, y: Any = None, fitted: bool = True, **options: Any) -> Any:
    """Make a display from an estimator: its name, that of another class, or a value."""
    model: Any = estimator
    if isinstance(estimator, str):
        model = getattr(mklbench, estimator, None) or getattr(linear_model, estimator)
        model = model().fit(samples(), labels()) if fitted else model()
    data = {} if y is None else {"X": samples(), "y": y}
    return getattr(displays, name).from_estimator(model, **data, **options)


def solve_svm(y: Any, K: Any = None, **options: Any) -> Any:
    """Solve one SVM for a Gram matrix."""
    return SVM(y, **options).solve(K)


_OWN: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (fit, predict, predict_unfitted, set_params, build, make, make_and_call, of)
} | {
    "load": mklbench.load,
    "load_damaged": load_damaged,
    "display": display,
    "groups_of": groups_of,
    "solve_svm": solve_svm,
    "one_class.solve": one_class.solve,
}


def called(name: str) -> Callable[..., Any]:
    """Return what an entry calls: a function of this module, or ``solve`` of an algorithm."""
    if name in _OWN:
        return _OWN[name]
    algorithm, _, function = name.partition(".")
    return getattr(importlib.import_module(f"mklbench.algorithms.{algorithm}"), function)


def samples() -> np.ndarray:
    """Return ordinary samples (24, 3)."""
    return np.random.default_rng(0).normal(size=(N, D)) + labels()[:, None]


def labels() -> np.ndarray:
    """Return ordinary labels (24,), half of them -1."""
    return np.repeat([-1.0, 1.0], N // 2)


def _changed(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    changed = array.copy()
    changed[place] = value
    return changed


def _frame() -> pd.DataFrame:
    return pd.DataFrame({"size": np.arange(N), "colour": ["red", "blue"] * (N // 2)})


_VALUES: dict[str, Callable[[], Any]] = {
    # samples
    "X": samples,
    "X_nan": lambda: _changed(samples(), (3, 1), np.nan),
    "X_inf": lambda: _changed(samples(), (3, 1), np.inf),
    "X_complex": lambda: samples() + 1j,
    "X_text": lambda: np.full((N, D), "red"),
    "X_objects": lambda: np.full((N, D), object()),
    "X_dates": lambda: np.full((N, D), np.datetime64("2020-01-01")),
    "X_frame": _frame,
    "X_sparse": lambda: sparse.csr_matrix(samples()),
    "X_vector": lambda: samples()[:, 0],
    "X_cube": lambda: samples()[None],
    "X_no_rows": lambda: samples()[:0],
    "X_wide": lambda: np.hstack([samples(), samples()]),
    "X_narrow": lambda: samples()[:, :2],
    "X_ragged": lambda: [[1.0, 2.0], [3.0]],
    "X_coloured": lambda: pd.DataFrame({"size": samples()[:, 0], "colour": ["red", "blue"] * 12}),
    "X_named": lambda: pd.DataFrame(samples(), columns=["a", "b", "c"]),
    "X_renamed": lambda: pd.DataFrame(samples(), columns=["z", "b", "c"]),
    "X_reordered": lambda: pd.DataFrame(samples(), columns=["a", "b", "c"])[["b", "a", "c"]],
    "X_lacking": lambda: pd.DataFrame(samples()[:, :2], columns=["a", "b"]),
    "X_green": lambda: pd.DataFrame({"size": samples()[:, 0], "colour": ["red", "green"] * 12}),
    "X_views": lambda: [samples(), samples()[:, :1]],
    "X_views_uneven": lambda: [samples(), samples()[1:]],
    # kernels, functions of two sets of samples
    "Gaussian": lambda: kernels.Gaussian,
    "gaussian_unit": lambda: kernels.Gaussian(1.0),
    "linear_kernel": kernels.Linear,
    "Precomputed": lambda: kernels.Precomputed(np.eye(N)[None]),
    "OneHotEncoder": OneHotEncoder,
    "k_wide": lambda: lambda X, Z: np.ones((len(X), len(Z) + 1)),
    "k_nan": lambda: lambda X, Z: np.full((len(X), len(Z)), np.nan),
    "k_lopsided": lambda: lambda X, Z: X[:, :1] + 0.0 * Z[:, 0],
    "k_indefinite": lambda: lambda X, Z: -np.eye(len(X))[:, : len(Z)],
    "k_text": lambda: lambda X, Z: "one",
    "k_of_one": lambda: lambda X: X @ X.T,
    # responses
    "y": labels,
    "y_short": lambda: labels()[:-1],
    "y_matrix": lambda: labels()[:, None],
    "y_two_columns": lambda: np.column_stack([labels(), labels()]),
    "y_text": lambda: np.repeat(["a", "b"], N // 2),
    "y_bool": lambda: labels() > 0,
    "y_nan": lambda: _changed(labels(), 3, np.nan),
    "y_inf": lambda: _changed(labels(), 3, np.inf),
    "y_one_class": lambda: np.ones(N),
    "y_three": lambda: np.repeat([-1.0, 0.0, 1.0], N // 3),
    "y_real": lambda: np.linspace(0.0, 1.0, N),
    "y_whole": lambda: np.arange(N) ** 2.0,  # as real targets are
    "y_empty": lambda: np.empty(0),
    # kernels
    "bank": lambda: kernels.feature_gaussians(samples()),
    "linear": lambda: kernels.linear_features(samples()),
    "family": lambda: kernels.product_gaussians(samples()),
    "isotropic": lambda: kernels.isotropic_gaussians(samples(), gamma_max=30.0),
    "list": lambda: [np.eye(N), np.eye(N)],
    "gram": lambda: samples() @ samples().T,
    "gram_small": lambda: np.eye(N - 1),
    "gram_nan": lambda: _changed(np.eye(N), (2, 5), np.nan),
    "gram_inf": lambda: _changed(np.eye(N), (2, 5), np.inf),
    "gram_complex": lambda: np.eye(N) + 1j,
    "gram_asymmetric": lambda: _changed(np.eye(N), (0, 1), 0.5),
    "gram_indefinite": lambda: np.diag([-1.0, *np.ones(N - 1)]),
    "gram_rectangle": lambda: np.ones((N, N - 1)),
    "stack": lambda: np.stack([np.eye(N), np.ones((N, N))]),
    "stack_small": lambda: np.stack([np.eye(N - 1)] * 2),
    "gram_stack": lambda: kernels.GramStack(np.stack([np.eye(N), np.ones((N, N))])),
    "gram_stack_cross": lambda: kernels.GramStack(np.ones((2, 3, N - 1))),
    # so near to each other that the sum stays positive definite
    "stack_distances": lambda: np.stack(
        [np.eye(N), 1e-3 * np.abs(np.subtract.outer(labels(), labels()))]
    ),
    "stack_nan": lambda: _changed(np.stack([np.eye(N)] * 2), (1, 2, 5), np.nan),
    # numbers and vectors
    "weights_nan": lambda: np.array([1.0, np.nan, 1.0]),
    "weights_negative": lambda: np.array([1.0, -1.0, 1.0]),
    "weights_short": lambda: np.ones(2),
    "weights_text": lambda: np.array(["a", "b", "c"]),
    "weights_of_rows": lambda: np.ones(N),
    "weights_of_rows_negative": lambda: _changed(np.ones(N), 3, -1.0),
    "weights_of_rows_nan": lambda: _changed(np.ones(N), 3, np.nan),
    "weights_of_rows_zero": lambda: np.zeros(N),
    "weights_of_rows_some": lambda: _changed(np.ones(N), 3, 0.0),
    "weights_of_one_class": lambda: (labels() > 0).astype(float),
}


@cache
def _value(name: str) -> Any:
    return _VALUES[name]()


def valued(given: Any) -> Any:
    """Return arguments of an entry with each ``$name`` replaced by the value that it names."""
    if isinstance(given, str) and given.startswith("$"):
        return _value(given[1:])
    if isinstance(given, dict) and set(given) == {"tuple"}:
        return tuple(valued(given["tuple"]))
    if isinstance(given, dict):
        return {key: valued(value) for key, value in given.items()}
    if isinstance(given, list):
        return [valued(value) for value in given]
    return given
