"""MKL on the set "separate" of Gehler & Nowozin 2008, on splice: peak memory, and one pass."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Split, first_split
from benchmarks.processes import Send, limited, peak_megabytes
from benchmarks.timing import Result, alternate
from mklbench.algorithms import mkl
from mklbench.errors import DataError
from mklbench.kernels import Gaussian, separate
from mklbench.kernels.builders.named import GEHLER_WIDTHS

Array = NDArray[np.float64]

_C, _TOL = 1.0, 1e-3
_LIMIT_SECONDS = 300.0
_MOST_MEGABYTES = 500.0
_LEAST_RATIO = 50.0
# Dense Gram matrices at once, and how often they are read.
_STACKED, _REPEATS = 52, 5


def run() -> list[Result]:
    """Return the peak of a process that solves the problem, and the time of all quadratic forms."""
    try:
        split = first_split("splice")
    except DataError:
        return []
    return [
        *limited(learn, split, seconds=_LIMIT_SECONDS),
        *limited(price, split, seconds=_LIMIT_SECONDS),
    ]


def dense_kernels(X: Array) -> Iterator[Array]:
    """Yield the Gram matrices (n, n) of ``separate(X)``, in its order."""
    for x in (X, *X.T[:, :, None]):
        for width in GEHLER_WIDTHS:
            yield Gaussian(width**-2)(x, x)


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


def price(send: Send, split: Split) -> None:
    """Send the time of all a' K_m a beside that of the dense stack, at the alpha of the optimum.

    The whole stack does not fit into the memory of many machines, so that of the first kernels is
    read, and its time taken in proportion to their number. The bank is so much faster because a
    feature of splice has four values: its kernels have rank four.
    """
    bank = separate(split.X)
    a = mkl.solve(bank, split.y, _C, tol=_TOL).dual_coef
    stack = np.array(list(islice(dense_kernels(split.X), _STACKED)))
    share = bank.n_kernels / len(stack)

    def dense() -> Array:
        return (stack.reshape(-1, len(a)) @ a).reshape(len(stack), -1) @ a

    def operator() -> Array:
        return bank.quadratic_forms(a)

    np.testing.assert_allclose(operator()[: len(stack)], dense(), rtol=1e-6)
    fast, slow, ratio = alternate(operator, dense, repeats=_REPEATS)
    send(
        Result(
            f"quadratic forms of MKL separate / dense stack, n = {len(a)}, M = {bank.n_kernels}",
            f"1/{share / ratio:.0f} ({fast * 1e3:.1f} ms / {slow * share * 1e3:.0f} ms, that of "
            f"{len(stack)} kernels times {share:.1f})",
            f"<= 1/{_LEAST_RATIO:g}",
            share / ratio >= _LEAST_RATIO,
        )
    )
