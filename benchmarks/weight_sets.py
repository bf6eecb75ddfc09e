"""The joint method with other sets of weights, and in regression, on many samples.

The samples of `benchmarks.scale`, with noise, and its kernels, a Gaussian a feature. Regression is
on the values whose signs are the labels. The plain mean, which is one SVM, is measured beside the
same by LIBSVM, on fewer samples. A fit has its kernels built within its clock, in a fresh
process; its memory is the largest that this process had. Seconds are those of the processor, on
one thread, which other work on the machine moves least.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from benchmarks.fits import COLUMNS, Measured
from benchmarks.output import publish, table_of
from benchmarks.processes import Send, cost_of, limited
from benchmarks.scale import samples
from benchmarks.timing import Result
from mklbench import MKL, VSKL, ElasticNetMKL, MKLRegressor, UniformMKL
from mklbench.optim.joint_method import Method

Array = NDArray[np.float64]

SIZES = (20_000, 100_000)
_C, _TOL, _EPSILON = 10.0, 1e-3, 0.3
_HALVES = (tuple(range(10)), tuple(range(10, 20)))
_KERNEL = "feature_gaussians"
_MODELS: dict[str, Callable[[Method], Any]] = {
    "simplex": lambda method: MKL(_KERNEL, C=_C, tol=_TOL, method=method),
    "l_2 norm": lambda method: MKL(_KERNEL, C=_C, tol=_TOL, method=method, p=2.0),
    "plain mean": lambda method: UniformMKL(_KERNEL, C=_C, svm_tol=_TOL, method=method),
    "VSKL, two groups": lambda method: VSKL(_KERNEL, C=_C, tol=_TOL, method=method, groups=_HALVES),
    "elastic net": lambda method: ElasticNetMKL(_KERNEL, C=_C, tol=_TOL, method=method),
    "regression, simplex": lambda method: MKLRegressor(
        _KERNEL, C=_C, epsilon=_EPSILON, tol=_TOL, method=method
    ),
}
_FITS: tuple[tuple[str, Method, int], ...] = (
    ("plain mean", "libsvm", 8_000),
    ("plain mean", "joint", 8_000),
    *((weights, "joint", n) for weights in _MODELS for n in SIZES),
)
# Samples of a first fit, by which all is imported.
_FEW = 200
_LIMIT = 900.0


def run() -> list[Result]:
    """Measure; write the table."""
    found = [
        one
        for weights, method, n in _FITS
        for one in limited(_fitted, weights, method, n, seconds=_LIMIT)
    ]
    _publish(found)
    return [
        Result(
            f"{one.method}, {one.problem}, n = {one.n:,}",
            f"{one.seconds:.1f} s, {one.gigabytes:.2f} GB, gap {one.gap:.1e}",
            f"gap <= {_TOL:g}",
            one.gap <= _TOL,
        )
        for one in found
    ]


def _fitted(send: Send, weights: str, method: Method, n: int) -> None:
    model = _MODELS[weights](method)
    X, y = samples(n, "noisy", 0, values=is_regressor(model))
    model.fit(X[:_FEW], y[:_FEW])
    _, seconds, peak = cost_of(partial(model.fit, X, y))
    n_iter = int(np.max(model.n_iter_))
    send(Measured(weights, method, n, seconds, peak, gap=float(model.gap_), n_iter=n_iter))


def _publish(found: list[Measured]) -> None:
    shown = ("problem", "method", "n", "seconds", "GB", "iterations", "certified gap")
    publish(
        "weight_sets.md",
        "Other sets of weights, on many samples",
        "The samples of `scale.md`, with noise, and a Gaussian for each of their 20 features, to a "
        f"certified gap of {_TOL:g}, C = {_C:g}. Regression is on the values "
        f"whose signs are the labels, epsilon {_EPSILON:g}; VSKL has two groups of ten. "
        "By LIBSVM an iteration is an SVM. Seconds are those of the processor.",
        table_of(found, {name: COLUMNS[name] for name in shown}, 2),
    )
