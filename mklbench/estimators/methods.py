"""Estimators that choose between Gram matrices and factors: which a fit took, how exact it is."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from mklbench.estimators.base import KernelEstimator
from mklbench.kernels import KernelOperator
from mklbench.solution import Approximation, Solution


class TakesMethod(KernelEstimator):
    """For estimators with the parameter `method`."""

    @property
    def method_(self) -> str:
        """The method that was taken: "libsvm" or "joint"."""
        check_is_fitted(self)
        return "libsvm" if self.solutions_[0].expansion is None else "joint"

    @property
    def approximation_(self) -> Approximation | None:
        """What landmarks mean for the gap, the worst of all classes; None where it is exact."""
        check_is_fitted(self)
        found = [s.approximation for s in self.solutions_ if s.approximation is not None]
        return max(found, key=lambda each: each.effect_on_objective, default=None)

    def _learned(self, operator: KernelOperator, solutions: list[Solution]) -> None:
        super()._learned(operator, solutions)
        if self.verbose and self.approximation_ is not None:
            print(f"[{type(self).__name__}] {self.approximation_}", flush=True)
