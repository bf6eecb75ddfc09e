"""Every estimator, every kernel that is made from features, and what both are tested with."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from cases import rest_slow
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

import mklbench
from mklbench.estimators.base import KernelEstimator
from mklbench.kernels import (
    BUILDERS,
    Combination,
    Descriptors,
    KernelBuilder,
    Normalised,
    Standardised,
    gaussians,
    smkl_bank,
)
from mklbench.kernels.base import Array

NAMES: list[str] = mklbench.__all__  # type: ignore[attr-defined]  # found when asked for
# An estimator of each kind, for what need not be asked of all in every run.
KINDS = ("MKL", "QNPKL", "EasyMKL", "LateFusion", "OneClassMKL", "KRR", "KRRClassifier", "Align")
KINDS_FIRST = rest_slow(NAMES, *KINDS)
# Where the search for kernels need not be thorough.
QUICK = {
    "IKL": {"samples": 0, "n_global_ascents": 10, "n_product_starts": 5, "tol": 0.1},
    "GMKL": {"C": 10.0},
    "QNPKL": {"C": 10.0, "iterations": 4},
}

# Every kernel that is made from features. On these the extreme rows have finite kernel values...
BOUNDED: dict[str, KernelBuilder] = {
    **{
        name: BUILDERS[name]
        for name in (
            "gaussian", "feature_gaussians", "feature_widths", "feature_pairs", "single",
            "separate", "isotropic", "product", "products", "rbf", "laplacian",
        )
    },
    "gaussians": partial(gaussians, gammas=[0.1, 10.0]),
    "normalised Gaussians": Normalised("feature_gaussians"),
    "cosine of Gaussians": Normalised("separate", centre=False),
    "sum of Gaussians": Combination("feature_gaussians"),
    "product of Gaussians": Combination("feature_gaussians", how="product"),
    "polynomial of Gaussians": Combination("feature_gaussians", how="polynomial", degree=3),
    "standardised": Standardised("gaussian"),
    "standardised widths": Standardised("feature_widths"),
    "euclidean": Descriptors(distance="euclidean"),
    "seuclidean": Descriptors(distance="seuclidean"),
    "chi2": Descriptors(distance="chi2"),
    "chi2 kernel": BUILDERS["chi2"],
}  # fmt: skip
# ... and on these only those that are not too large.
UNBOUNDED: dict[str, KernelBuilder] = {
    "simplemkl": BUILDERS["simplemkl"],
    "linear_features": BUILDERS["linear_features"],
    "linear": BUILDERS["linear"],
    "poly": BUILDERS["poly"],
    "smkl": partial(smkl_bank, sigmoids=False),  # which are no kernels
    "cosine similarity": BUILDERS["cosine"],
    "normalised": Normalised("simplemkl"),
    "cosine": Normalised("simplemkl", centre=False),
    "standardised simplemkl": Standardised("simplemkl"),
    "polynomial": Combination("linear_features", how="polynomial", degree=2),
}


@cache
def problem(n: int = 50, d: int = 4, seed: int = 0) -> tuple[Array, NDArray[np.int64], Array]:
    """Training samples, labels and new samples, all above 0 for the sake of histograms."""
    rng = np.random.default_rng(seed)
    X = np.abs(rng.standard_normal((n + 30, d)))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n + 30) > 0.5, 1, -1)
    return X[:n], y[:n], X[n:]


COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]


@cache
def flowers(n_classes: int) -> tuple[pd.DataFrame, NDArray[np.str_]]:
    """Return every second flower of the last two species of iris, or of all three, by name."""
    data = load_iris()
    chosen = data.target >= 3 - n_classes
    X = StandardScaler().fit_transform(data.data)[chosen][::2]
    return pd.DataFrame(X, columns=COLUMNS), data.target_names[data.target[chosen]][::2]


@cache
def fitted_to_flowers(name: str, n_classes: int) -> Any:
    X, y = flowers(n_classes)
    estimator = getattr(mklbench, name)(**QUICK.get(name, {}))
    return estimator.fit(X, y if is_classifier(estimator) else X["petal width"])


def decisions(model: KernelEstimator, Z: Any) -> Array:
    return (getattr(model, "decision_function", None) or model.predict)(Z)
