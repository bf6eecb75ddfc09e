"""A fit on many samples in a fresh process: what it took, and scikit-learn's machines beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

THREADS = min(2, os.cpu_count() or 1)
PEERS = ("SVC", "Nystroem, LinearSVC", "gradient boosting")


@dataclass(frozen=True)
class Measured:
    """What a fit took and what came out of it.

    Attributes
    ----------
    problem, method : names.
    n : number of training samples.
    seconds : of the fit.
    gigabytes : the largest resident memory of the process.
    accuracy : share of test samples that are right.
    gap : the largest certified relative gap of the classes, of MKL.
    cpu_seconds, n_iter : those of the processor, and iterations, where they are told.
    """

    problem: str
    method: str
    n: int
    seconds: float
    gigabytes: float
    accuracy: float | None = None
    gap: float | None = None
    cpu_seconds: float | None = None
    n_iter: int | None = None


# Of the columns that a table may have, the heading and how their numbers are shown.
COLUMNS = {
    "problem": "{.problem}",
    "method": "{.method}",
    "n": "{.n:,}",
    "seconds": "{.seconds:.2f}",
    "CPU s": "{.cpu_seconds:.1f}",
    "GB": "{.gigabytes:.2f}",
    "iterations": "{.n_iter:d}",
    "certified gap": "{.gap:.1e}",
    "accuracy": "{.accuracy:.1%}",
}


def peer(method: str, C: float, gamma: float, class_weight: str | None = None) -> Any:
    """Return one of scikit-learn's machines, of `PEERS`."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVC

    if method == "SVC":
        return SVC(C=C, gamma=gamma, class_weight=class_weight)
    if method == "gradient boosting":
        return HistGradientBoostingClassifier(random_state=0, class_weight=class_weight)
    landmarks = Nystroem(gamma=gamma, n_components=500, random_state=0)
    return make_pipeline(landmarks, LinearSVC(C=C, class_weight=class_weight))
