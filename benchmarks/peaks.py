"""Estimates of memory beside measured peaks, of five algorithms and kernels.

The peaks are those of a process that has done the same on few samples before, over what it held
then. Blocks of a megabyte and more are mapped each on its own, as large ones always are, so that
small problems show what large ones take.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.output import publish, table
from benchmarks.processes import Send, forget_peak, limited, peak_megabytes
from benchmarks.timing import Result
from mklbench import kernels, multiclass
from mklbench.kernels.contract import Shape, on_few
from mklbench.optim.fit_memory import fitting
from mklbench.solution import Solution

# By this factor an estimate may be off, in both directions.
WITHIN = 2.0

_WARM_UP = 60
_MEGABYTE = 2**20
# mallopt() of the GNU C library: from how many bytes on a block is mapped.
_MMAP_THRESHOLD = -3


@dataclass(frozen=True)
class Fit:
    """Kernels built on random samples, a fit on them and a prediction.

    Attributes
    ----------
    algorithm : name of its module.
    kernel : name of a function or class of `mklbench.kernels`.
    options, kernel_options : keywords of both.
    n, d : samples and features.
    targets : whether these are learned, in place of two classes.
    """

    algorithm: str
    kernel: str
    options: Mapping[str, Any] = field(default_factory=dict)
    kernel_options: Mapping[str, Any] = field(default_factory=dict)
    n: int = 1500
    d: int = 5
    targets: bool = False

    @property
    def name(self) -> str:
        """What is measured, in words."""
        chosen = {**self.kernel_options, **self.options}
        shown = "".join(f", {key}={value}" for key, value in chosen.items())
        return f"{self.algorithm} on {self.kernel}, d={self.d}{shown}"

    def estimate(self) -> float:
        """Return the bytes that are expected."""
        few = on_few(self._builder(), np.eye(2, self.d))
        return fitting(few, self._solve(), Shape(self.n, self.d))

    def run(self, n: int) -> None:
        """Do it on `n` samples."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, self.d))
        value = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)
        operator = self._builder()(X)
        labels = value if self.targets else np.where(value > np.median(value), 1.0, -1.0)
        solution = self._solve()(operator, labels)
        multiclass.decision_function(operator, [solution], X[: n // 4])

    def _builder(self) -> Callable[..., kernels.KernelOperator]:
        return partial(getattr(kernels, self.kernel), **self.kernel_options)

    def _solve(self) -> Callable[..., Solution]:
        module = importlib.import_module(f"mklbench.algorithms.{self.algorithm}")
        return partial(module.solve, **self.options)


_THREE = {"gammas": [0.1, 0.3, 1.0]}
_LOOSE = {"C": 1.0, "tol": 1e-2}

CASES = (
    Fit("svm", "gaussian"),
    Fit("mkl", "feature_gaussians", _LOOSE),
    Fit("simplemkl", "gaussians", _LOOSE, _THREE),
    Fit("gmkl", "product_gaussians", {"max_iter": 3}),
    Fit("nkrr", "linear_features", {"max_iter": 3}, targets=True),
)


def measure(cases: Sequence[Fit]) -> Iterator[tuple[Fit, float]]:
    """Yield each case with its measured peak in bytes, all of them from one process."""
    return limited(_measured, list(cases), seconds=600.0)


def _measured(send: Send, cases: Sequence[Fit]) -> None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is not None and hasattr(library, "mallopt"):
        library.mallopt(_MMAP_THRESHOLD, _MEGABYTE)
    for case in cases:
        case.run(_WARM_UP)
        if library is not None and hasattr(library, "malloc_trim"):
            library.malloc_trim(0)
        forget_peak()
        before = peak_megabytes()
        case.run(case.n)
        send((case, (peak_megabytes() - before) * _MEGABYTE))


def run() -> list[Result]:
    """Return how far the estimates are off, having written them to ``results/bench/peaks.md``."""
    results, rows = [], []
    for case, measured in measure(CASES):
        ratio = case.estimate() / measured
        rows.append([case.name, str(case.n), f"{measured / 1e6:.0f}", f"{ratio:.2f}"])
        results.append(
            Result(
                f"estimated memory / measured peak, {case.name}, n = {case.n}",
                f"{ratio:.2f} ({measured / 1e6:.0f} MB)",
                f"{1 / WITHIN:.2f} to {WITHIN:g}",
                1 / WITHIN <= ratio <= WITHIN,
            )
        )
    headers = ["fit and prediction", "n", "peak, MB", "estimate / peak"]
    publish("peaks.md", "Estimates of memory beside measured peaks", table(rows, headers, 1))
    return results
