"""Searches on one bank that run side by side, so that it is read once for all of them.

A pass over dense Gram matrices is bound by memory. Where the binary problems of a classification
are solved one after the other each pass serves one of them; here each serves all.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.base import Bank

Array = NDArray[np.float64]
Result = TypeVar("Result")

# Yields kernel weights (M,) and is sent their Gram matrix (n, n), which is its own until it yields
# again.
Search = Generator[Array, Array, Result]

# The buffer of an SVM takes 16 n^2 bytes (`mklbench.libsvm`), and each search has one: those that
# run at once have so many bytes together.
_BUFFERS = 2**29


def run(bank: Bank, searches: Iterable[Search[Result]]) -> list[Result]:
    """Run searches to their ends, one step of each in turn, and return what they return.

    Where their SVMs would take too much memory, `searches` are drawn and run some at a time.
    """
    at_once = _at_once(bank.n_samples)
    waiting = iter(searches)
    results: list[Result] = []
    while some := list(islice(waiting, at_once)):
        results += _together(bank, some)
    return results


def _at_once(n_samples: int) -> int:
    return max(1, _BUFFERS // (16 * n_samples**2))


def _together(bank: Bank, searches: Sequence[Search[Result]]) -> list[Result]:
    results: dict[int, Result] = {}
    wanted = {number: next(search) for number, search in enumerate(searches)}
    K = np.empty((bank.n_samples, bank.n_samples))
    while wanted:
        numbers = list(wanted)
        combinations = bank.combinations(np.array(list(wanted.values())), K)
        for number, gram in zip(numbers, combinations, strict=True):
            try:
                wanted[number] = searches[number].send(gram)
            except StopIteration as ended:
                results[number] = ended.value
                del wanted[number]
    return [results[number] for number in range(len(searches))]
