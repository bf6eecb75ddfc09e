"""Every classifier as it is constructed, beside scikit-learn's SVC, on five sets of data.

The sets are standardised, and the accuracies are means over 5 stratified folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.output import write_csv
from benchmarks.timing import Result
from mklbench import estimators
from mklbench.config import config_of
from mklbench.data import load

SETS = ("sonar", "ionosphere", "pima", "wdbc", "wine")
# Fits of these take minutes.
_LONG = ("IKL", "SimpleMKL")
# Below SVC, in points.
_MOST_BELOW = 2.0


def run() -> list[Result]:
    """Measure, write the figures, and return how far each classifier is from SVC at worst."""
    lines = []
    for model in (SVC(), *_classifiers()):
        found = {name: f"{100.0 * _accuracy(model, *_samples(name)):.1f}" for name in SETS}
        lines.append({"classifier": type(model).__name__, **found})
    write_csv("defaults.csv", lines)
    svc, *others = lines
    return [_result(line, svc) for line in others]


def _classifiers() -> Iterator[ClassifierMixin]:
    for name in estimators.__all__:  # type: ignore[attr-defined]  # made of its modules
        model = getattr(estimators, name)()
        if is_classifier(model) and name not in _LONG:
            yield model


def _samples(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if name == "wine":
        return load_wine(return_X_y=True)
    data = load(config_of([f"data={name}"]).data)
    return data.X, data.y


def _accuracy(model: ClassifierMixin, X: NDArray[Any], y: NDArray[Any]) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=folds).mean())


def _result(line: dict[str, str], svc: dict[str, str]) -> Result:
    worst = min(SETS, key=lambda name: float(line[name]) - float(svc[name]))
    difference = float(line[worst]) - float(svc[worst])
    return Result(
        f"{line['classifier']}: points above SVC at worst",
        f"{difference:+.1f} ({worst})",
        f">= -{_MOST_BELOW:g}",
        difference >= -_MOST_BELOW,
    )
