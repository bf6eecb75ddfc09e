"""What a search for kernel weights falls back on where it could not close the gap.

Two things keep it from that. Where samples are equal and their labels are not, the SVM has many
solutions: the one at the best weights may prove little, while an alpha seen before, with the same
decision function, proves nearly all. And where C is huge, LIBSVM is asked for less than it can do,
as rounding is overestimated. So the best weights and the best alpha that were seen, not always
together, are certified as a pair, and so are plain SVMs at these weights and at equal ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels.base import Bank
from mklbench.optim.inner_svm import InnerSVM, Trained

Array = NDArray[np.float64]

# LIBSVM's tolerance in plain SVMs: that of `mklbench.algorithms.uniform`.
_PLAIN_TOL = 1e-3


class Seen:
    """The best weights and the best alpha that a search on a bank has come across.

    Parameters
    ----------
    bank : Bank
        The kernels.
    svm : InnerSVM
        The SVM of the bank and the labels.
    """

    def __init__(self, bank: Bank, svm: InnerSVM) -> None:
        self._bank = bank
        self._svm = svm
        self._weights = bank.uniform_weights()
        self._upper = np.inf
        self._dual_coef: Array | None = None
        self._lower = -np.inf

    def note(self, weights: Array, upper: float) -> None:
        """Note weights (M,) on the simplex and an upper bound on the optimum there."""
        if upper < self._upper:
            self._weights, self._upper = weights, upper

    def note_alpha(self, dual_coef: Array, lower: float) -> None:
        """Note alpha o y (n,) and the lower bound on the optimum that it proves."""
        if lower > self._lower:
            self._dual_coef, self._lower = dual_coef, lower

    def best(self, tol: float, most_calls: int) -> Trained | None:
        """Return the best certified candidate, or the first one with a gap of at most `tol`.

        The SVMs solved, `svm.calls`, do not get more than `most_calls`. None if there is nothing
        to certify.
        """
        best = None
        for candidate in self._candidates(most_calls):
            if best is None or candidate.gap < best.gap:
                best = candidate
            if best.gap <= tol:
                break
        return best

    def _candidates(self, most_calls: int) -> Iterator[Trained]:
        if self._dual_coef is not None:
            yield self._pair(self._weights, self._dual_coef)
        for weights in (self._weights, self._bank.uniform_weights()):
            if self._svm.calls < most_calls:
                trained = self._svm.plain(weights, _PLAIN_TOL)
                yield self._certified(weights, trained.dual_coef, trained.intercept)

    def _pair(self, weights: Array, dual_coef: Array) -> Trained:
        self._svm.combine(weights)
        outputs = self._svm.gram @ dual_coef
        intercept = self._svm.dual.best_intercept(outputs)
        return self._certified(weights, dual_coef, intercept)

    def _certified(self, weights: Array, dual_coef: Array, intercept: float) -> Trained:
        """Return a candidate at weights whose Gram matrix is at hand."""
        forms = self._bank.quadratic_forms(dual_coef)
        return self._svm.certified(weights, dual_coef, intercept, forms)
