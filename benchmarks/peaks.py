"""Estimates of memory beside measured peaks: every algorithm and every builder of kernels.

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

from benchmarks.output import publish, table, write_csv
from benchmarks.processes import Send, forget_peak, limited, peak_megabytes
from benchmarks.timing import Result
from mklbench import kernels, multiclass
from mklbench.algorithms.qnpkl import PRINTED
from mklbench.kernels.contract import Shape
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
    n_classes : number of classes; 0 for real targets.
    """

    algorithm: str
    kernel: str
    options: Mapping[str, Any] = field(default_factory=dict)
    kernel_options: Mapping[str, Any] = field(default_factory=dict)
    n: int = 1500
    d: int = 5
    n_classes: int = 2

    @property
    def name(self) -> str:
        """What is measured, in words."""
        chosen = {**self.kernel_options, **self.options}
        shown = "".join(f", {key}={value}" for key, value in chosen.items())
        classes = {0: ", targets", 2: ""}.get(self.n_classes, f", {self.n_classes} classes")
        return f"{self.algorithm} on {self.kernel}, d={self.d}{shown}{classes}"

    def estimate(self) -> float:
        """Return the bytes that are expected."""
        return fitting(self._builder(), self._solve(), self._shape())

    def run(self, n: int) -> None:
        """Do it on `n` samples."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, self.d))
        value = X[:, 0] + X[:, 1] * X[:, 2 % self.d] + 0.5 * rng.standard_normal(n)
        samples = self._samples(X)
        operator = self._builder()(samples)
        solutions = self._fit(operator, value)
        new = samples[:, : n // 4] if samples.ndim == 3 else samples[: n // 4]
        multiclass.decision_function(operator, solutions, new)

    def _fit(self, operator: kernels.KernelOperator, value: np.ndarray) -> list[Solution]:
        if self.n_classes == 0:
            return [self._solve()(operator, value)]
        ends = np.quantile(value, np.linspace(0, 1, self.n_classes + 1)[1:-1])
        return multiclass.fit(self._solve(), operator, np.digitize(value, ends), self.n_classes)

    def _samples(self, X: np.ndarray) -> np.ndarray:
        if self.kernel == "precomputed":
            return kernels.gaussian(X).combine(np.ones(1))[None]
        return X

    def _shape(self) -> Shape:
        return Shape(self.n, self.d)

    def _builder(self) -> Callable[..., kernels.KernelOperator]:
        made = getattr(kernels, self.kernel)
        if isinstance(made, type):
            return made(**self.kernel_options)
        return partial(made, **self.kernel_options)

    def _solve(self) -> Callable[..., Solution]:
        module = importlib.import_module(f"mklbench.algorithms.{self.algorithm}")
        return partial(module.solve, **self.options)


@dataclass(frozen=True)
class Split:
    """One split of a cell, as the command line runs it, on data that are generated.

    Attributes
    ----------
    overrides : of the cell.
    n : rows of the data.
    """

    overrides: tuple[str, ...]
    n: int = 2000

    @property
    def name(self) -> str:
        """What is measured, in words."""
        return " ".join(self.overrides)

    def estimate(self) -> float:
        """Return the bytes that are expected."""
        from mklbench.experiments.cell_checks import bytes_of_step

        cell = self._cell(self.n)
        return bytes_of_step(cell, 0)(len(cell.rows(0)[0]))

    def run(self, n: int) -> None:
        """Do it on data of `n` rows."""
        from mklbench.experiments.evaluation import run_split

        assert run_split(self._cell(n), 0).status == "done"

    def _cell(self, n: int) -> Any:
        from mklbench.experiments.cell import Cell

        return Cell.from_overrides([*self.overrides, f"data.n_samples={n}"])


Case = Fit | Split

_THREE = {"gammas": [0.1, 0.3, 1.0]}
_LOOSE = {"C": 1.0, "tol": 1e-2}
_QUICK = ("search=cv", "search.folds=3", "search.grid.algo.C=[1]")

# One of each kind of estimate.
_KINDS: tuple[Case, ...] = (
    Fit("svm", "separate", d=2, kernel_options={"widths": [1.0, 3.0]}),
    Fit("svm", "Descriptors"),
    Fit("svm", "Normalised"),
    Fit("mkl", "feature_gaussians", _LOOSE),
    Fit("simplemkl", "gaussians", _LOOSE, _THREE),
    Fit("vskl", "gaussians", _LOOSE, _THREE, n_classes=3),
    Fit("gmkl", "product_gaussians", {"max_iter": 3}),
    Fit("nkrr", "linear_features", {"max_iter": 3}, n_classes=0),
    Split((*_QUICK, "data=twonorm", "algo=svm", "kernel=single", "kernel.widths=[3,10]")),
    Split(("data=arm", "algo=krr", "kernel=gaussian", "search=ridge", "search.folds=2")),
)

_BANKS: tuple[tuple[str, Mapping[str, Any], int], ...] = (
    ("gaussian", {}, 5),
    ("gaussians", _THREE, 5),
    ("single", {}, 5),
    ("separate", {}, 3),
    ("simplemkl_bank", {}, 3),
    ("feature_gaussians", {}, 20),
    ("feature_gaussians", {}, 300),
    ("feature_widths", {}, 5),
    ("linear_features", {}, 20),
    ("product_gaussians", {}, 20),
    ("isotropic_gaussians", {}, 5),
    ("precomputed", {}, 5),
    ("Descriptors", {}, 5),
    ("Normalised", {"base": "single"}, 5),
    ("Normalised", {"base": "simplemkl"}, 2),
    ("Combination", {"how": "product"}, 5),
    ("Combination", {"base": "single"}, 5),
    ("Standardised", {}, 5),
)
_EXACT = ("mkl", "simplemkl", "hessianmkl", "vskl", "ckl", "ikl")

ALL: tuple[Case, ...] = (
    *(Fit("svm", name, {}, options, d=d) for name, options, d in _BANKS),
    *(Fit(name, "gaussians", _LOOSE, _THREE) for name in _EXACT),
    *(Fit(name, "feature_gaussians", _LOOSE) for name in _EXACT),
    *(Fit(name, "linear_features", {**_LOOSE, "max_iter": 20}) for name in _EXACT),
    *(Fit(name, "gaussians", _LOOSE, _THREE, n_classes=4) for name in _EXACT[:5]),
    # Halves of the kernels in use are counted as many as may be kept, 512 MB: much to few samples.
    Fit("mkl", "simplemkl_bank", {"tol": 1e-2}, d=3, n=5000),
    Fit("ikl", "product_gaussians", {"tol": 1e-2}, {"gamma_max": 30.0}),
    Fit("ikl", "isotropic_gaussians", {"tol": 1e-2}, {"gamma_max": 30.0}),
    Fit("gmkl", "gaussians", {"max_iter": 5}, _THREE),
    Fit("gmkl", "product_gaussians", {"max_iter": 5}),
    Fit("qnpkl", "product_gaussians", {**PRINTED, "max_iter": 5}),
    Fit("uniform", "product_gaussians"),
    *(
        Fit(name, kernel, {}, options)
        for name in ("align", "alignf", "late_fusion", "best_kernel")
        for kernel, options in (("gaussians", _THREE), ("feature_gaussians", {}))
    ),
    Fit("early_fusion", "Standardised"),
    Fit("svr", "gaussians", {}, _THREE, n_classes=0),
    Fit("krr", "gaussians", {}, _THREE, n_classes=0),
    Fit("krr", "linear_features", {"degree": 2}, n_classes=0),
    Fit("nkrr", "gaussians", {"max_iter": 5}, _THREE, n_classes=0),
    Fit("nkrr", "linear_features", {"max_iter": 5}, n_classes=0),
    Split(("data=twonorm", "algo=mkl", "kernel=feature_gaussians", "search=cv")),
    Split(("data=twonorm", "algo=vskl", "kernel=simplemkl", "search=cv", "algo.tol=0.1")),
    Split(("data=arm", "algo=nkrr", "kernel=gaussian", "search=ridge")),
    Split(("data=twonorm", "algo=svm", "kernel=single", "search=cv")),
    *_KINDS,
)


def measure(cases: Sequence[Case]) -> Iterator[tuple[Case, float]]:
    """Yield each case with its measured peak in bytes, all of them from one process."""
    return limited(_measured, list(cases), seconds=600.0)


def _measured(send: Send, cases: Sequence[Case]) -> None:
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
    """Return how far the estimates are off, having written them to ``results/bench/peaks``."""
    rows = []
    for case, measured in measure(ALL):
        expected = case.estimate()
        rows.append((case.name, case.n, measured / 1e6, expected / 1e6, expected / measured))
        print(f"{expected / measured:.2f}  {case.name}", file=sys.stderr, flush=True)
    headers = ("what", "n", "measured_mb", "estimated_mb", "ratio")
    write_csv("peaks.csv", [dict(zip(headers, row, strict=True)) for row in rows])
    shown = [
        (name, str(n), f"{a:.0f}", f"{b:.0f}", f"{ratio:.2f}") for name, n, a, b, ratio in rows
    ]
    publish(
        "peaks.md",
        "Estimated and measured memory",
        table(shown, ("what", "n", "measured, MB", "estimated, MB", "ratio"), 1),
    )
    ratios = [row[4] for row in rows]
    return [
        Result(
            f"estimated memory / measured peak, {len(rows)} fits and splits",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
            f"{1 / WITHIN:.2f} to {WITHIN}",
            min(ratios) >= 1 / WITHIN and max(ratios) <= WITHIN,
        )
    ]
