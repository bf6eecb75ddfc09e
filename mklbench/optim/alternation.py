"""SVMs and closed-form weights in turn, for any convex penalty of the weights.

At fixed weights the best functions are those of an SVM, f_m = d_m K_m a. At fixed functions the
best weights are known in closed form (`Penalty.best_weights`). Neither ever increases the primal
value, and the dual value of each SVM bounds it from below (Kloft et al. 2011, Algorithm 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.optim.svm_value import Objective, settled
from mklbench.penalties.base import Penalty
from mklbench.solution import Solution

Array = NDArray[np.float64]

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
) -> Solution:
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
        point = objective.accurate(used, _SVM_TOL * accuracy)
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
