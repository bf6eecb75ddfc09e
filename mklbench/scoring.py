"""Scores by the names of scikit-learn's scorers, from predictions that are at hand.

A scorer of scikit-learn asks a fitted estimator for what it needs: classes, decision values or
probabilities. Here it gets them from arrays, so that any scorer may be used where there is no
estimator. Imported only where a score is asked for: scikit-learn takes a second to load.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer

from mklbench import multiclass
from mklbench.errors import InputError

Array = NDArray[np.float64]


def check_task(
    option: str, name: str, data: str, n_classes: int, *, probabilities: bool = True
) -> None:
    """Raise InputError unless a scorer can be used on a data set.

    Parameters
    ----------
    option, name : str
        What the user has set, and the name of the scorer.
    data : str
        Name of the data set.
    n_classes : int
        Its classes; 0 for real targets.
    probabilities : bool, default=True
        Whether there will be any.

    Raises
    ------
    InputError
        If it is for another task, or needs probabilities that there are not.
    """
    scorer = get_scorer(name)
    # Those of real targets take class codes for numbers, and say nothing.
    is_of_targets = scorer._score_func.__module__.endswith("_regression")
    if is_of_targets and n_classes:
        raise InputError(
            f"{option}={name} needs real numbers to predict, and data={data} has classes: choose a "
            "score of classes, such as balanced_accuracy."
        )
    if not is_of_targets and not n_classes:
        raise InputError(
            f"{option}={name} needs classes, and data={data} has real numbers to predict: "
            "choose a score of real numbers, such as r2."
        )
    if scorer._response_method == "predict_proba" and not probabilities:
        raise InputError(
            f"{option}={name} needs probabilities, which are not estimated here: choose a score of "
            "classes or decision values, such as roc_auc."
        )


def score(
    name: str,
    y: NDArray[Any],
    decision: Array,
    n_classes: int,
    probabilities: Callable[[], Array] | None = None,
) -> float | None:
    """Return a score of predictions, as scikit-learn's scorer of that name gives it.

    Parameters
    ----------
    name : str
        Of the scorer; the larger its value the better.
    y : ndarray of shape (n,)
        Class codes 0, 1, ..., or real targets.
    decision : ndarray of shape (n,) or (n, k)
        Decision values, of two classes > 0 for the class 1; or predicted targets.
    n_classes : int
        k; 0 for real targets.
    probabilities : callable or None, default=None
        Returns the probabilities (n, k) of the classes; it is called if the scorer needs them.

    Returns
    -------
    float or None
        None where it is not defined, such as a ROC AUC without samples of one class.

    Raises
    ------
    ValueError
        If the scorer does not take such predictions.
    """
    machine: Any = _Classes(n_classes, probabilities) if n_classes else _Targets()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = float(get_scorer(name)(machine, _as_columns(decision), y))
    return value if math.isfinite(value) else None


def calibrated(held_out: Array, codes: NDArray[np.int64], decision: Array) -> Array:
    """Return the probabilities (n, k) of classes that decision values stand for.

    A sigmoid of the decision values is fitted for each class against the rest, and the
    probabilities are divided by their sum (Platt, "Probabilistic outputs for support vector
    machines", 1999; `sklearn.calibration.CalibratedClassifierCV`).

    Parameters
    ----------
    held_out : ndarray of shape (m,) or (m, k)
        Decision values of training samples by machines that were fitted without them.
    codes : ndarray of shape (m,)
        Their class codes.
    decision : ndarray of shape (n,) or (n, k)
        Decision values of new samples.
    """
    machine = FrozenEstimator(_Classes(int(codes.max()) + 1))
    model = CalibratedClassifierCV(machine, method="sigmoid", ensemble=False)
    model.fit(_as_columns(held_out), codes)
    return np.asarray(model.predict_proba(_as_columns(decision)))


class _Classes(ClassifierMixin, BaseEstimator):
    """A classifier whose samples are its decision values."""

    def __init__(self, n_classes: int, probabilities: Callable[[], Array] | None = None) -> None:
        self.n_classes, self.probabilities = n_classes, probabilities
        self.classes_ = np.arange(n_classes)

    def fit(self, X: Array, y: NDArray[Any]) -> _Classes:
        return self

    def decision_function(self, X: Array) -> Array:
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: Array) -> NDArray[np.intp]:
        return multiclass.predict(self.decision_function(X))

    def predict_proba(self, X: Array) -> Array:
        if self.probabilities is None:
            raise ValueError("there are no probabilities")
        return self.probabilities()


class _Targets(RegressorMixin, BaseEstimator):
    """A regression whose samples are what it predicts."""

    def predict(self, X: Array) -> Array:
        return X[:, 0]


def _as_columns(decision: Array) -> Array:
    return decision[:, None] if decision.ndim == 1 else decision
