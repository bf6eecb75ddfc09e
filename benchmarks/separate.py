"""MKL on the set "separate" of Gehler & Nowozin 2008, on splice: peak memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Split, first_split
from benchmarks.processes import Send, limited, peak_megabytes
from benchmarks.timing import Result
from mklbench.algorithms import mkl
from mklbench.errors import DataError
from mklbench.kernels import separate

Array = NDArray[np.float64]

_C, _TOL = 1.0, 1e-3
_LIMIT_SECONDS = 300.0
_MOST_MEGABYTES = 500.0


def run() -> list[Result]:
    """Return the peak of a process that solves the problem."""
    try:
        split = first_split("splice")
    except DataError:
        return []
    return list(limited(learn, split, seconds=_LIMIT_SECONDS))


def learn(send: Send, split: Split) -> None:
    """Send the largest memory of this process, which learns and predicts and does nothing else."""
    bank = separate(split.X)
    solution = mkl.solve(bank, split.y, _C, tol=_TOL)
    bank.cross(solution.weights, split.X_test)
    megabytes = peak_megabytes()
    stack = bank.n_kernels * bank.n_samples**2 * 8 / 1e6
    send(
        Result(
            f"peak memory of MKL separate, n = {bank.n_samples}, M = {bank.n_kernels}",
            f"{megabytes:.0f} MB ({solution.n_svm_calls} SVM calls to a gap of "
            f"{solution.gap:.0e}; the stack of Gram matrices alone is {stack:.0f} MB)",
            f"< {_MOST_MEGABYTES:g} MB",
            solution.converged and megabytes < _MOST_MEGABYTES,
        )
    )
