"""SVMs and closed-form weights in turn, for any convex penalty of the weights.

At fixed weights the best functions are those of an SVM, f_m = d_m K_m a. At fixed functions the
best weights are known in closed form (`Penalty.best_weights`). Neither ever increases the primal
value, and the dual value of each SVM bounds it from below (Kloft et al. 2011, Algorithm 1).

Searches on one bank may run side by side, so that it is read once for all of them. A pass over
dense Gram matrices is bound by memory. Where the binary problems of a classification are solved one
after the other each pass serves one of them; here each serves all.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.kernels.base import Bank
from mklbench.optim.svm_value import Objective, settled
from mklbench.penalties.base import Penalty
from mklbench.solution import Solution

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


# The SVM is as accurate as this share of the gap that was certified last, or of the tolerance.
_SVM_TOL = 0.1
# A weight counts as 0 in combinations when it is this small beside the largest.
_NEGLIGIBLE = 1e-8
# Exact SVMs hardly ever lead to a gap that is so many times the smallest so far.
_ASTRAY = 2.0


def alternate(
    objective: Objective,
    penalty: Penalty,
    weights: Array,
    tol: float,
    objective_tol: float | None,
    max_iter: int,
    history: iterations.History | None = None,
    patient: bool = True,
) -> Search[Solution]:
    """Alternate from weights (M,) until a certified relative gap is at most `tol`.

    Where `objective_tol` is not None, it ends as well where the objective of an iterate differs
    from that of the one before by less than this share of it; or after `max_iter` changes of the
    weights. The solution is that of the iterate with the smallest gap. It goes on with the
    `history` of a search that it is a step of. Unless it is to be `patient` it ends where LIBSVM
    has been made as accurate as it can be, or is so inaccurate that the gap grows: each SVM takes
    long then, and gains little.
    """
    machine = objective.machine
    best, smallest_gap, accuracy = None, np.inf, 1.0
    history = iterations.begin() if history is None else history
    before = len(history)
    while True:
        used = np.where(weights < _NEGLIGIBLE * weights.max(), 0.0, weights)
        K = yield used
        point = objective.accurate(used, _SVM_TOL * accuracy, K)
        gap = objective.bounds(point, penalty).relative_gap
        price = penalty.of_weights(used)
        total = point.objective + price
        iterations.note(history, used, objective=total, gap=gap, n_svm_calls=machine.calls)
        if best is None or gap < smallest_gap:
            best, smallest_gap = point, gap
        ended = len(history) > before + 1 and settled(
            history[-2]["objective"], history[-1]["objective"], objective_tol
        )
        if gap <= tol or ended or len(history) > before + max_iter:
            break
        if not patient and (objective.is_tightest or gap > _ASTRAY * smallest_gap):
            break
        weights = penalty.best_weights(weights * np.sqrt(np.maximum(point.forms, 0.0)))
        accuracy = max(tol, min(gap, 1.0))
    return objective.solution(
        best,
        gap=smallest_gap,
        converged=smallest_gap <= tol or ended,
        history=history,
        objective=best.objective + penalty.of_weights(best.weights),
    )
