"""One LIBSVM call through the binding, fill included, against bare ``svm_train``."""

from __future__ import annotations

import ctypes

import numpy as np
from libsvm import svm as libsvm_api
from threadpoolctl import threadpool_limits

from benchmarks.timing import Result, alternate
from mklbench.libsvm import SVM

_TARGET = 1.25


def run() -> list[Result]:
    """Return one result for each number of samples."""
    return [_generated(n) for n in (145, 500, 1000, 2000)]


def _generated(n: int) -> Result:
    """Return the time of a call over that of ``svm_train`` alone, for n samples."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 20))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    squares = np.einsum("ij,ij->i", X, X)
    K = np.exp(-(squares[:, None] + squares - 2.0 * X @ X.T) / 20.0)
    machine = SVM(y, 100.0)
    machine.solve(K)

    def bare() -> None:
        # The problem the binding has prepared, without its fill and without reading the model.
        model = libsvm_api.libsvm.svm_train(machine._problem, machine._parameter)
        libsvm_api.libsvm.svm_free_and_destroy_model(ctypes.byref(model))

    with threadpool_limits(limits=1):
        bound, prepared, ratio = alternate(lambda: machine.solve(K), bare, 20_000 // n)
    return Result(
        f"LIBSVM binding / bare svm_train, n = {n}",
        f"{ratio:.2f} ({bound * 1e3:.2f} ms / {prepared * 1e3:.2f} ms)",
        f"<= {_TARGET}",
        ratio <= _TARGET,
    )
