"""What the scikit-learn estimators of `mklbench.estimators` share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from mklbench import memory, multiclass
from mklbench.errors import InputError
from mklbench.kernels import KernelBuilder, KernelOperator, resolve
from mklbench.kernels.contract import memory_of
from mklbench.kernels.memory import Shape
from mklbench.optim.fit_memory import fitting
from mklbench.optim.option_check import check_options
from mklbench.solution import Solution
from mklbench.validation import check_finite, check_targets, real_array

Array = NDArray[np.float64]

# An estimator has the parameters of its `solve` and these, which become kernels and a start,
NOT_OF_SOLVE = ("kernel", "warm_start")
# but for these: weights to start from (a start with a name, "random", is a parameter like others),
# and factors on C, which are by the classes -1 and +1 of one binary problem.
NOT_OF_ESTIMATORS = ("start", "class_weight")


class KernelEstimator(BaseEstimator):
    """What classifiers and regressors share: kernels from the training samples, and solutions.

    A subclass names its algorithm, a module whose `solve` takes the parameters of the estimator as
    keywords, apart from ``kernel`` and ``warm_start``; the latter is for a `solve` that has the
    keyword ``start``.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        Kernel weights, or (k, M), one row a class, for more than two classes; with
        kernels found in a family, a list of (M_c,), one array a class, for more than two.
    thetas_ : ndarray of shape (M, p)
        Parameters of the kernels found in a family, or a list, as `weights_`; None for
        banks and for one kernel of a family.
    dual_coef_ : ndarray of shape (n,)
        The coefficients of the training samples, or (k, n).
    intercept_ : ndarray of shape (1,) or (k,)
        Intercepts.
    solutions_ : list of Solution
        The `mklbench.solution.Solution` of each problem, with its objective, certified
        gap, number of SVM calls and history.
    n_iter_ : int
        Outer iterations of the longest problem, its start included.
    n_features_in_ : int
        Number of features (rows of X at prediction must have as many).
    """

    kernel: str | KernelBuilder
    _algorithm: ModuleType

    def _validated(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[Any]]:
        """Return samples and responses as scikit-learn checks them, or stacks of Gram matrices."""
        if self.kernel == "precomputed":
            X = matrices = self._gram_matrices(X)
            if matrices.ndim == 3:
                self.n_features_in_ = matrices.shape[2]
                return matrices, column_or_1d(y, warn=True)
        return validate_data(self, X, y, dtype=np.float64)

    def _built(self, samples: Array, n_problems: int = 1) -> KernelOperator:
        """Return the kernels on the training samples, if they and their fit have room in memory."""
        builder, solve = resolve(self.kernel), self._solver()
        shape = Shape.of(samples)

        def needs(n: int) -> float:
            return fitting(builder, solve, shape.with_samples(n), n_problems)

        short = memory.shortage(needs, shape.n)
        if short is not None:
            n_kernels = memory_of(builder, shape).n_kernels
            kernels = "" if n_kernels is None else f" with {n_kernels} kernels"
            raise InputError(
                f"X has {shape.n} rows: {type(self).__name__}{kernels} needs {short}; about "
                f"{short.fitting} rows fit: pass fewer of them, or choose fewer kernels."
            )
        return builder(samples)

    def _solver(self) -> Callable[..., Solution]:
        """Return the `solve` of the algorithm with the parameters of the estimator."""
        parameters = self.get_params(deep=False)
        hyperparameters = {
            name: value for name, value in parameters.items() if name not in NOT_OF_SOLVE
        }
        return partial(self._algorithm.solve, **hyperparameters)

    def _learned(self, operator: KernelOperator, solutions: list[Solution]) -> None:
        """Keep what has been learned; warn if it ended before its stopping rule."""
        self.solutions_, self._operator = solutions, operator
        unfinished = [solution.gap for solution in solutions if not solution.converged]
        if unfinished:
            warnings.warn(
                f"{type(self).__name__} ended before its stopping rule was met in "
                f"{len(unfinished)} of {len(solutions)} problems, with a gap of up to "
                f"{max(unfinished):.1e}: {self._remedy()}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.n_iter_ = 1 + max(solution.n_iter for solution in solutions)
        found = [s.thetas for s in solutions if s.thetas is not None]
        weights = [solution.weights for solution in solutions]
        # The binary problems find different numbers of kernels.
        self.weights_ = weights if len(found) > 1 else self._stacked(weights)
        self.thetas_ = found if len(found) > 1 else found[0] if found else None
        self.dual_coef_ = self._stacked([solution.dual_coef for solution in solutions])
        self.intercept_ = np.array([solution.intercept for solution in solutions])

    def _remedy(self) -> str:
        """Return what to do about a fit that ended before its stopping rule."""
        parameters = self.get_params(deep=False)
        if "max_iter" in parameters:
            limits = [name for name in ("max_iter", "max_evals") if name in parameters]
            return f"raise {', '.join(limits)} or tol"
        if "svm_tol" in parameters and parameters.get("learner") != "krr":
            return "lower C, scale the features or the kernels down, or raise svm_tol"
        return "raise lam"

    def _decision(self, X: ArrayLike) -> Array:
        """Return the decision values (n_new,), or (n_new, k) of k problems."""
        check_is_fitted(self)
        if self.kernel == "precomputed":
            samples = self._gram_matrices(X)
            if samples.ndim < 3:
                samples = validate_data(self, samples, dtype=np.float64, reset=False)[None]
        else:
            samples = validate_data(self, X, dtype=np.float64, reset=False)
        return multiclass.decision_function(self._operator, self.solutions_, samples)

    @staticmethod
    def _gram_matrices(X: ArrayLike) -> Array:
        """Return what ought to be Gram matrices, refused in one sentence if it is no numbers."""
        matrices = real_array("X", X)
        if matrices.ndim >= 2:
            check_finite("X", matrices)
        return matrices

    @staticmethod
    def _stacked(rows: list[Array]) -> Array:
        return rows[0] if len(rows) == 1 else np.stack(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class KernelLearner(ClassifierMixin, KernelEstimator):
    """A classifier, by one-versus-rest for more than two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The class labels; the others are in `KernelEstimator`. `dual_coef_` are
        alpha_i * y_i.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the kernel and the classifier.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Training samples (or Gram matrices, see `mklbench.estimators`).
        y : array_like of shape (n,)
            Class labels, at least two different ones.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        samples, labels = self._validated(X, y)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                f"y has one class only ({classes.tolist()[0]!r}): a classifier needs at least two."
            )
        check_options(self._solver())
        operator = self._built(samples, len(classes) if len(classes) > 2 else 1)
        starts = self._starts(classes, operator.n_kernels)
        solutions = multiclass.fit(self._solver(), operator, codes, len(classes), starts=starts)
        self.classes_ = classes
        self._learned(operator, solutions)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the decision values (n_new,), or (n_new, k) for more than two classes.

        Parameters
        ----------
        X : array_like of shape (n_new, d)
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return self._decision(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted class labels (n_new,).

        Parameters
        ----------
        X : array_like of shape (n_new, d)
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        decision = self.decision_function(X)
        return self.classes_[multiclass.predict(decision)]

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


class KernelRegressor(RegressorMixin, KernelEstimator):
    """A regression of one real target; its attributes are those of `KernelEstimator`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the kernel and the regression.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Training samples (or Gram matrices, see `mklbench.estimators`).
        y : array_like of shape (n,)
            Real targets.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        samples, targets = self._validated(X, y)
        check_options(self._solver())
        operator = self._built(samples)
        self._learned(operator, [self._solver()(operator, check_targets(targets))])
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the predicted targets (n_new,).

        Parameters
        ----------
        X : array_like of shape (n_new, d)
            New samples (or cross Gram matrices, see `mklbench.estimators`).
        """
        return self._decision(X)
