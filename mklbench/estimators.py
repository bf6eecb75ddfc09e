"""Scikit-learn estimators around the algorithms: ``SimpleMKL(C=10).fit(X, y)``.

Each class validates as scikit-learn does, builds its bank or family from the training samples,
calls the ``solve`` of its algorithm once a binary problem, and predicts. More than two classes are
handled by one-versus-rest on one shared bank.

The parameter ``kernel`` is a name ("gaussian", "feature_gaussians", "simplemkl", "product",
"precomputed"), or any callable that takes training samples and returns a bank or a family, such as
``functools.partial(mklbench.kernels.feature_gaussians, gammas=[0.1, 1.0])``. Own Gram matrices go
in two ways:

- ``kernel="precomputed"``: `X` is one Gram matrix (n, n), or a stack (M, n, n); at prediction it is
  the cross Gram matrix (n_new, n), or the stack (M, n_new, n).
- ``kernel=mklbench.kernels.Precomputed(K)`` with K (M, N, N) on a whole data set: `X` is a column
  of row numbers into K, so that scikit-learn's splitters and searches work as they do on features.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from mklbench import one_vs_rest
from mklbench.algorithms import gmkl, mkl, qnpkl, simplemkl, svm, uniform
from mklbench.errors import InputError
from mklbench.kernels import KernelBuilder, KernelOperator, resolve
from mklbench.solution import Solution

Array = NDArray[np.float64]

# The parameters of estimators that are no hyperparameters of their `solve`.
_NOT_OF_SOLVE = ("kernel", "warm_start")


class KernelLearner(ClassifierMixin, BaseEstimator):
    """What the estimators share; a subclass names its algorithm and that one's hyperparameters.

    A parameter ``warm_start`` is for algorithms whose `solve` has the parameter ``start``.

    Attributes
    ----------
    classes_ : (k,) the class labels.
    weights_ : (M,) kernel weights, or (k, M), one row a class, for more than two classes.
    dual_coef_ : (n,) alpha_i * y_i, or (k, n).
    intercept_ : (1,) or (k,) intercepts.
    solutions_ : the `mklbench.solution.Solution` of each binary problem, with its objective,
        certified gap, number of SVM calls and history.
    n_iter_ : outer iterations of the longest binary problem, its start included.
    n_features_in_ : number of features (rows of X at prediction must have as many).
    """

    kernel: str | KernelBuilder
    _algorithm: ModuleType

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the kernel and the classifier.

        Parameters
        ----------
        X : (n, d) training samples (or Gram matrices, see the module's docstring).
        y : (n,) class labels, at least two different ones.

        Raises
        ------
        ValueError
            If the data or a hyperparameter cannot be accepted; the message names it.
        """
        if self._takes_stack(X):
            samples, labels = np.asarray(X, dtype=np.float64), column_or_1d(y, warn=True)
            self.n_features_in_ = samples.shape[2]
        else:
            samples, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                f"y has one class only ({classes[0]!r}): a classifier needs at least two."
            )
        operator = resolve(self.kernel)(samples)
        starts = self._starts(classes, operator.n_kernels)
        self.solutions_ = one_vs_rest.fit(self._solve, operator, codes, len(classes), starts=starts)
        self.classes_, self._operator = classes, operator
        unfinished = sum(not solution.converged for solution in self.solutions_)
        if unfinished:
            warnings.warn(
                f"{type(self).__name__} stopped at its iteration limit in {unfinished} of "
                f"{len(self.solutions_)} binary problems: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.n_iter_ = 1 + max(solution.n_iter for solution in self.solutions_)
        self.weights_ = self._stacked([solution.weights for solution in self.solutions_])
        self.dual_coef_ = self._stacked([solution.dual_coef for solution in self.solutions_])
        self.intercept_ = np.array([solution.intercept for solution in self.solutions_])
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the decision values (n_new,), or (n_new, k) for more than two classes."""
        check_is_fitted(self)
        if self._takes_stack(X):
            samples = np.asarray(X, dtype=np.float64)
        else:
            samples = validate_data(self, X, dtype=np.float64, reset=False)
            if self.kernel == "precomputed":
                samples = samples[None]
        return one_vs_rest.decision_function(self._operator, self.solutions_, samples)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted class labels (n_new,)."""
        decision = self.decision_function(X)
        return self.classes_[one_vs_rest.predict(decision)]

    def _solve(self, operator: KernelOperator, y: Array, **start: Array) -> Solution:
        """Solve one binary problem with labels in {-1, +1}."""
        parameters = self.get_params(deep=False)
        hyperparameters = {
            name: value for name, value in parameters.items() if name not in _NOT_OF_SOLVE
        }
        return self._algorithm.solve(operator, y, **hyperparameters, **start)

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

    def _takes_stack(self, X: ArrayLike) -> bool:
        return self.kernel == "precomputed" and np.ndim(X) == 3

    @staticmethod
    def _stacked(rows: list[Array]) -> Array:
        return rows[0] if len(rows) == 1 else np.stack(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class KernelSVC(KernelLearner):
    """Support vector machine at fixed kernel weights (`mklbench.algorithms.svm`).

    Parameters
    ----------
    kernel : name or callable, see the module's docstring.
    C : box constraint.
    weights : (M,) kernel weights >= 0; 1/M each if None.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = svm

    def __init__(
        self,
        kernel: str | KernelBuilder = "gaussian",
        C: float = 1.0,
        weights: ArrayLike | None = None,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.weights = weights
        self.svm_tol = svm_tol


class UniformMKL(KernelLearner):
    """The uniform combination of kernels (`mklbench.algorithms.uniform`).

    Parameters
    ----------
    kernel : name or callable, see the module's docstring.
    C : box constraint.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = uniform

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.svm_tol = svm_tol


class MKL(KernelLearner):
    """Sparse convex combination of kernels by the default exact solver (`mklbench.algorithms.mkl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    max_iter : at most so many SVM calls.
    warm_start : whether `fit` starts at the weights of the fit before, if that had the same
        classes; kernels behind those it had start at 0, and with fewer kernels it starts from
        nothing. The result is the same to within `tol`, but found sooner on a path of C or with a
        kernel more each time.
    """

    _algorithm = mkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start


class SimpleMKL(KernelLearner):
    """Sparse convex combination of kernels (`mklbench.algorithms.simplemkl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    max_iter : at most so many descent directions.
    line_search_tol : a line search ends where the slope of the objective has shrunk to this.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = simplemkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-2,
        max_iter: int = 500,
        line_search_tol: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.line_search_tol = line_search_tol
        self.svm_tol = svm_tol


class GMKL(KernelLearner):
    """Regularised sum or product of kernels (`mklbench.algorithms.gmkl`).

    Parameters
    ----------
    kernel : name or callable of a family (product) or a bank (sum), see the module's docstring.
    C : box constraint.
    regulariser : "l1" or "l2".
    strength : factor on the regulariser; None for that of the authors' code.
    random_state : seed of the starting weights; None starts at 1/M.
    tol : certified gap or KKT residual at which to stop.
    max_iter : at most so many gradient steps.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = gmkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "product",
        C: float = 10.0,
        regulariser: str = "l1",
        strength: float | None = None,
        random_state: int | None = 0,
        tol: float = 1e-3,
        max_iter: int = 40,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.regulariser = regulariser
        self.strength = strength
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter
        self.svm_tol = svm_tol


class QNPKL(KernelLearner):
    """Product of Gaussians by quasi-Newton descent (`mklbench.algorithms.qnpkl`).

    Standardise the features first: the published constants are made for that scale.

    Parameters
    ----------
    kernel : name or callable of a family, see the module's docstring.
    C : box constraint.
    variant : "paper" or "jkernelmachines".
    tol : threshold on the relative decrease of the objective and on the step size.
    initial_rate : first diagonal entry of the inverse Hessian.
    initial_step : first step size along a direction.
    max_iter : at most so many directions.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = qnpkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "product",
        C: float = 1.0,
        variant: str = "paper",
        tol: float = 1e-7,
        initial_rate: float = 0.1,
        initial_step: float = 1.0,
        max_iter: int = 1000,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.variant = variant
        self.tol = tol
        self.initial_rate = initial_rate
        self.initial_step = initial_step
        self.max_iter = max_iter
        self.svm_tol = svm_tol
