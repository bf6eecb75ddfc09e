"""ALIGNF on the set "separate" of Gehler & Nowozin 2008, on splice: the matrix Q from factors."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Split, first_split
from benchmarks.processes import Send, limited, peak_megabytes
from benchmarks.separate import dense_kernels
from benchmarks.timing import Result, alternate
from mklbench.algorithms import alignf
from mklbench.errors import DataError
from mklbench.kernels import separate
from mklbench.kernels.gram_matrices import centre

Array = NDArray[np.float64]

_LIMIT_SECONDS = 300.0
_LEAST_RATIO = 20.0
# Centred Gram matrices at once, and how often they are multiplied.
_STACKED, _REPEATS = 52, 3


def run() -> list[Result]:
    """Return the time of all centred inner products, and what ALIGNF takes beyond them."""
    try:
        split = first_split("splice")
    except DataError:
        return []
    return [*limited(compare, split, seconds=_LIMIT_SECONDS)]


def compare(send: Send, split: Split) -> None:
    """Send the time of Q beside that of the dense stack, and the peak memory of ALIGNF.

    The whole stack does not fit into the memory of many machines, so that of the first kernels is
    multiplied with itself, once its matrices are centred, and its time taken in proportion to the
    square of their number.
    """
    bank = separate(split.X)
    solution = alignf.solve(bank, split.y)
    megabytes = peak_megabytes()
    stack = np.array([centre(K).ravel() for K in islice(dense_kernels(split.X), _STACKED)])
    share = (bank.n_kernels / len(stack)) ** 2

    def dense() -> Array:
        return stack @ stack.T

    def operator() -> Array:
        return bank.inner_products(centred=True)

    first = slice(0, len(stack))
    norms = np.sqrt(operator().diagonal()[first])
    ours, theirs = operator()[first, first], dense()
    np.testing.assert_allclose(
        ours / np.outer(norms, norms), theirs / np.outer(norms, norms), atol=1e-6
    )
    fast, slow, ratio = alternate(operator, dense, repeats=_REPEATS)
    n = bank.n_samples
    send(
        Result(
            f"centred inner products of separate / dense stack, n = {n}, M = {bank.n_kernels}",
            f"1/{share / ratio:.0f} ({fast * 1e3:.0f} ms / {slow * share:.1f} s, that of "
            f"{len(stack)} kernels times {share:.0f})",
            f"<= 1/{_LEAST_RATIO:g}",
            share / ratio >= _LEAST_RATIO,
        )
    )
    send(
        Result(
            f"peak memory of ALIGNF separate, n = {n}, M = {bank.n_kernels}",
            f"{megabytes:.0f} MB ({np.count_nonzero(solution.weights)} kernels used, gap "
            f"{solution.gap:.0e}; the stack alone is {bank.n_kernels * n**2 * 8 / 1e6:.0f} MB)",
            "",
            None,
        )
    )
