"""Fitted models beside scikit-learn's SVC: their size, and what a prediction takes.

The SVC of a comparison has one Gaussian and as many support vectors as the model, on the same
features. Predictions are timed in turn, in seconds of the processor; their memory is that of a
fresh process that has loaded the model and predicted a few rows before.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.output import publish, table
from benchmarks.processes import Send, forget_peak, limited, peak_megabytes
from benchmarks.timing import Result, alternate

Array = NDArray[np.float64]

# Asked for (issue of the library's users): of a pickle, of a prediction and of a fit.
_MOST_BYTES, _MOST_TO_PREDICT, _MOST_TO_FIT = 1e6, 1.3, 1.5
# Rows that are predicted at once; four times as many take as much memory, but for the rows.
_ROWS, _TIMES = 20_000, 4
_REPEATS = 5
_N, _D, _LARGE = 2000, 20, 5000
_GAMMAS = (0.01, 0.03, 0.1)


@dataclass(frozen=True)
class Model:
    """A fitted model, the samples it was fitted to, and what is asked of it.

    Attributes
    ----------
    name : what it is.
    fitted : the estimator.
    X : its training samples (n, d).
    """

    name: str
    fitted: Any
    X: Array

    @property
    def n_kernels(self) -> int:
        """The kernels with a weight."""
        return int(np.count_nonzero(self.fitted.weights_))


def run() -> list[Result]:
    """Measure sizes, predictions and a fit, and write the table."""
    rows, results = [], []
    for model in models():
        other = svc_of_size(model.X, len(model.fitted.support_))
        new = new_rows(model.X, _ROWS)
        ours, theirs, ratio = alternate(
            partial(model.fitted.decision_function, new),
            partial(other.decision_function, new),
            _REPEATS,
            process_time,
        )
        sizes = [len(pickle.dumps(each)) for each in (model.fitted, other)]
        memory = [peaks(each, model.X.shape[1]) for each in (model.fitted, other)]
        rows.append(
            [model.name, str(model.n_kernels), f"{len(model.fitted.support_)}",
             f"{len(other.support_)}", *(f"{size / 1e3:.0f}" for size in sizes),
             f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.2f}",
             *(f"{few:.0f} / {many:.0f}" for few, many in memory)]
        )  # fmt: skip
        results += [
            Result(
                f"{model.name}: pickle",
                f"{sizes[0] / 1e3:.0f} kB (SVC {sizes[1] / 1e3:.0f} kB)",
                f"< {_MOST_BYTES / 1e6:g} MB",
                sizes[0] < _MOST_BYTES,
            ),
            Result(
                f"{model.name}: prediction of {_ROWS} rows / SVC",
                f"{ratio:.2f} ({ours:.2f} s / {theirs:.2f} s, {model.n_kernels} kernels in use)",
                f"<= {_MOST_TO_PREDICT}",
                ratio <= _MOST_TO_PREDICT,
            ),
        ]
    fit = _fit()
    headers = (
        "model",
        "kernels in use",
        "support vectors",
        "SVC's",
        "pickle, kB",
        "SVC's",
        "prediction, s",
        "SVC's",
        "ratio",
        "memory, MB",
        "SVC's",
    )
    publish(
        "prediction.md",
        "Size and predictions of fitted models",
        "Beside each model scikit-learn's `SVC` with one Gaussian and as many support vectors, on "
        f"the same features. A prediction is of {_ROWS} rows, in seconds of the processor, medians "
        f"of {_REPEATS} in turn. Memory is what {_ROWS} / {_TIMES * _ROWS} rows add to that of a "
        "process that has loaded the model and the rows.",
        table(rows, headers, 1),
        f"A fit of `KernelSVC()` on {_LARGE} samples of {_D} features takes {fit.measured} of the "
        "time of `SVC(gamma=1/d)`; the decision values agree to the tolerance.",
    )
    return [*results, fit]


def models() -> Iterator[Model]:
    """Yield the models that are measured."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    from mklbench import MKL, KernelSVC, UniformMKL
    from mklbench.kernels import gaussians

    X, y = problem(_N)
    yield Model("`KernelSVC()`", KernelSVC().fit(X, y), X)
    several = partial(gaussians, gammas=_GAMMAS)
    yield Model(f"`UniformMKL`, {len(_GAMMAS)} Gaussians", UniformMKL(several).fit(X, y), X)
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    yield Model("`MKL()` on wdbc, 569 x 30, 403 kernels", MKL().fit(X, y), X)


def problem(n: int) -> tuple[Array, NDArray[np.int64]]:
    """Return samples (n, d) of two classes that overlap."""
    from sklearn.datasets import make_classification

    X, y = make_classification(n, _D, n_informative=10, class_sep=0.8, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def svc_of_size(X: Array, n_support: int) -> Any:
    """Return an SVC on rows of `X` that are all support vectors, `n_support` or one less."""
    from sklearn.svm import SVC

    half = n_support // 2
    labels = np.repeat([0, 1], half)
    # So small a C that every coefficient is at its bound.
    return SVC(C=1e-6, gamma=1.0 / X.shape[1]).fit(X[: 2 * half], labels)


def new_rows(X: Array, n: int) -> Array:
    """Return `n` rows like those of `X`."""
    rng = np.random.default_rng(1)
    return X[rng.integers(len(X), size=n)] + 0.1 * rng.standard_normal((n, X.shape[1]))


def peaks(model: Any, n_features: int) -> tuple[float, float]:
    """Return the megabytes that predictions of few and of many rows add."""
    ((few, many),) = limited(_added, pickle.dumps(model), n_features, seconds=600.0)
    return few, many


def _added(send: Send, pickled: bytes, n_features: int) -> None:
    model = pickle.loads(pickled)
    rows = np.random.default_rng(0).standard_normal((_TIMES * _ROWS, n_features))
    model.decision_function(rows[:50])
    found = []
    for n in (_ROWS, _TIMES * _ROWS):
        forget_peak()
        before = peak_megabytes()
        model.decision_function(rows[:n])
        found.append(peak_megabytes() - before)
    send(tuple(found))


def _fit() -> Result:
    """Return the time of a fit on many samples, over that of SVC."""
    from sklearn.svm import SVC

    from mklbench import KernelSVC

    X, y = problem(_LARGE)
    ours: Callable[[], Any] = partial(KernelSVC().fit, X, y)
    theirs: Callable[[], Any] = partial(SVC(gamma=1.0 / X.shape[1]).fit, X, y)
    difference = ours().decision_function(X[:500]) - theirs().decision_function(X[:500])
    assert np.abs(difference).max() < 0.02, "they solve different problems"
    here, there, ratio = alternate(ours, theirs, 3, process_time)
    return Result(
        f"KernelSVC() / SVC, a fit on {_LARGE} samples",
        f"{ratio:.2f} ({here:.2f} s / {there:.2f} s)",
        f"<= {_MOST_TO_FIT}",
        ratio <= _MOST_TO_FIT,
    )
