"""Scores by scikit-learn's names: as scikit-learn gives them for a real estimator."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from mklbench import scoring
from mklbench.config.schemas import TABLE_SCORERS

OF_CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "f1_micro", "neg_log_loss",
              "neg_brier_score", "roc_auc_ovr", "average_precision")  # fmt: skip


def machine(n_classes: int) -> tuple[LogisticRegression, np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_samples=160, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=3
    )
    return LogisticRegression().fit(X[:80], y[:80]), X[80:], y[80:]


@pytest.mark.parametrize("name", [*OF_CLASSES, "f1", "roc_auc", "precision", "d2_log_loss_score"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_classes_are_those_of_a_real_estimator(name: str, n_classes: int) -> None:
    of_two = ["f1", "roc_auc", "precision"]
    if Version(sklearn.__version__) < Version("1.7"):
        of_two.append("neg_brier_score")
    if n_classes == 3 and name in of_two:
        return  # what scikit-learn says of it is the sentence
    if name not in get_scorer_names():
        pytest.skip("not in this scikit-learn")
    model, X, y = machine(n_classes)
    found = scoring.score(
        name, y, model.decision_function(X), n_classes, lambda: model.predict_proba(X)
    )
    assert found == pytest.approx(get_scorer(name)(model, X, y), abs=1e-12)


@pytest.mark.parametrize("name", ["r2", "neg_mean_squared_error"])
def test_of_targets_are_those_of_a_real_estimator(name: str) -> None:
    X, y = make_regression(n_samples=60, noise=20.0, random_state=1)
    model = LinearRegression().fit(X[:30], y[:30])
    found = scoring.score(name, y[30:], model.predict(X[30:]), 0)
    assert found == pytest.approx(get_scorer(name)(model, X[30:], y[30:]))
    scoring.check_task("metrics", name, "d", 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_scikit_learns_calibration(n_classes: int) -> None:
    model, X, y = machine(n_classes)
    cv = StratifiedKFold(5)
    held = cross_val_predict(model, X, y, cv=cv, method="decision_function")
    expected = CalibratedClassifierCV(model, method="sigmoid", cv=cv, ensemble=False).fit(X, y)
    new = np.random.default_rng(0).normal(size=(9, X.shape[1]))
    found = scoring.calibrated(held, y, model.fit(X, y).decision_function(new))
    assert np.allclose(found, expected.predict_proba(new), atol=1e-10)


def test_what_has_no_value_is_none() -> None:
    assert scoring.score("roc_auc", np.zeros(4, int), np.arange(4.0), 2) is None


def test_scorers_of_tables_are_known_without_scikit_learn() -> None:
    assert set(TABLE_SCORERS) <= set(get_scorer_names())
