"""Estimators that learn from labels, and from real targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from mklbench import multiclass
from mklbench.errors import InputError
from mklbench.estimators.base import Array, KernelEstimator, estimator
from mklbench.estimators.checks import check_classes
from mklbench.estimators.weights import ClassWeights, factors
from mklbench.kernels import GramStack, Kernel, KernelOperator
from mklbench.solution import Solution
from mklbench.validation import check_targets


class KernelLearner(ClassifierMixin, KernelEstimator):
    """A classifier, by one-versus-rest for more than two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The class labels; the others are in `KernelEstimator`. `dual_coef_` are
        alpha_i * y_i.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike | GramStack, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the kernel and the classifier.

        Parameters
        ----------
        X : array_like of shape (n, d) or GramStack
            Training samples (or Gram matrices, see `mklbench.estimators`).
        y : array_like of shape (n,)
            Class labels, at least two different ones.
        sample_weight : array_like of shape (n,) or None, default=None
            Factors on C by sample, >= 0; 0 leaves a sample out. Of ridge regressions they are
            factors on the squared errors.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        samples, labels, weights, rows, n = self._validated(X, y, sample_weight)
        check_classes(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            among = "" if rows is None else " where sample_weight is not 0"
            raise InputError(
                f"y has one class only ({classes.tolist()[0]!r}){among}: a classifier needs at "
                "least two."
            )
        solve = self._solver(factors(getattr(self, "class_weight", None), labels, weights))
        operator = self._built(samples)
        counting = operator
        if rows is not None and operator.n_samples != len(rows):
            counting = operator.take(rows)
        solve = self._tuned(solve, counting, codes, len(classes))
        starts = self._starts(classes, operator.n_kernels)
        self.classes_ = classes
        self._solved(
            operator,
            rows,
            lambda kernels: multiclass.fit(solve, kernels, codes, len(classes), starts=starts),
            n,
        )
        return self

    def decision_function(self, X: ArrayLike | GramStack) -> Array:
        """Return the decision values (n_new,), or (n_new, k) for more than two classes.

        Parameters
        ----------
        X : array_like of shape (n_new, d) or GramStack
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return self._decision(X)

    def predict(self, X: ArrayLike | GramStack) -> NDArray[Any]:
        """Return the predicted class labels (n_new,).

        Parameters
        ----------
        X : array_like of shape (n_new, d) or GramStack
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        decision = self.decision_function(X)
        return self.classes_[multiclass.predict(decision)]

    def _tuned(
        self,
        solve: Callable[..., Solution],
        kernels: KernelOperator,
        codes: NDArray[np.intp],
        n_classes: int,
    ) -> Callable[..., Solution]:
        """Return `solve` with the options that a subclass chooses on the samples that count."""
        return solve

    def _starts(self, classes: NDArray[Any], n_kernels: int) -> list[Array] | None:
        """Return the weights (M,) to start each binary problem from; None to start from nothing.

        They are those of the fit before, with 0 for kernels that it did not have.
        """
        if not (getattr(self, "warm_start", False) and hasattr(self, "solutions_")):
            return None
        before = [solution.weights for solution in self.solutions_]
        n_new = n_kernels - len(before[0])
        if n_new < 0 or not np.array_equal(classes, self.classes_):
            return None
        return [np.pad(weights, (0, n_new)) for weights in before]


@estimator
class SVMLearner(KernelLearner):
    """A classifier whose machine is an SVM, with the parameters that all of these have."""

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0


class KernelRegressor(RegressorMixin, KernelEstimator):
    """A regression of one real target; its attributes are those of `KernelEstimator`."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike | GramStack, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the kernel and the regression.

        Parameters
        ----------
        X : array_like of shape (n, d) or GramStack
            Training samples (or Gram matrices, see `mklbench.estimators`).
        y : array_like of shape (n,)
            Real targets.
        sample_weight : array_like of shape (n,) or None, default=None
            Factors on C, or on the squared errors, by sample, >= 0; 0 leaves a sample out.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        samples, responses, weights, rows, n = self._validated(X, y, sample_weight)
        targets, solve = check_targets(responses), self._solver(factors(None, responses, weights))
        operator = self._built(samples)
        self._solved(operator, rows, lambda kernels: [solve(kernels, targets)], n)
        return self

    def predict(self, X: ArrayLike | GramStack) -> Array:
        """Return the predicted targets (n_new,).

        Parameters
        ----------
        X : array_like of shape (n_new, d) or GramStack
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return self._decision(X)


class TakesMethod(KernelEstimator):
    """For estimators with the parameter `method`."""

    @property
    def method_(self) -> str:
        """The method that was taken: "libsvm" or "joint"."""
        check_is_fitted(self)
        return "libsvm" if self.solutions_[0].expansion is None else "joint"
