"""What the scikit-learn estimators of `mklbench.estimators` share."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from mklbench import memory
from mklbench.contract import check_options
from mklbench.errors import InputError, warn
from mklbench.estimators.checks import check_column_names, check_none_missing, check_same_rows
from mklbench.estimators.reading import Printer, ReadableModel, names_of
from mklbench.estimators.weights import Rows, given_weights, on_all_rows
from mklbench.iterations import watched
from mklbench.kernels import Kernel, KernelList, KernelOperator, resolve
from mklbench.kernels.builders.columns import FittedViews, kernel_list, takes_sparse
from mklbench.kernels.builders.forms import no_kernels
from mklbench.kernels.builders.grams import cross_stack, named_grams, training_stack
from mklbench.kernels.builders.named import takes_matrices
from mklbench.kernels.contract import Shape, builder_of, on_few
from mklbench.kernels.naming import unique
from mklbench.kernels.samples import (
    SampleLayout,
    check_same_names,
    first_named,
    is_mask,
    matrix_of,
    names_of_columns,
    numbers,
    rows_of,
)
from mklbench.prediction import DecisionFunction, LearnedKernel, kernels_in_use
from mklbench.saving import Versioned
from mklbench.solution import Solution
from mklbench.validation import check_finite, columns_called

Array = NDArray[np.float64]
T = TypeVar("T")

_PARAMETERS = "Parameters\n----------"

# An estimator has the parameters of its `solve` and these, which become kernels and a start,
# and factors by class, which with those by sample become factors on C, and what is printed,
NOT_OF_SOLVE = ("kernel", "warm_start", "class_weight", "verbose")
# but for weights to start from (a start with a name, "random", is a parameter like others), factors
# on C by the classes -1 and +1 of one binary problem, and those by sample, which `fit` has.


class TrainingSet(NamedTuple):
    """What an estimator learns from, weights of 0 left out.

    Attributes
    ----------
    samples : object
        As the kernels take them; of kernels that are given, all of them.
    responses : ndarray
        Labels or targets of the samples that count.
    weights : ndarray or None
        What each of these counts, > 0; None where all count the same.
    rows : ndarray of int or None
        Which of the n samples count; None if all do.
    n_samples : int
        n, of all samples.
    """

    samples: Any
    responses: NDArray[Any]
    weights: Array | None
    rows: Rows | None
    n_samples: int


@dataclass_transform(eq_default=False)
def estimator(cls: type[T]) -> type[T]:
    """Make a dataclass of an estimator, or of what several share, and compose its docstring.

    A class explains the parameters that it adds or that mean something else in it. Those of its
    bases, and the defaults of all, are put beside them, so that each is explained once.
    """
    made: Any = dataclass(eq=False, repr=False)(cls)
    summary, own, rest = _parts(made)
    explained = {k: v for base in reversed(made.__mro__[1:]) for k, v in _parts(base)[1].items()}
    explained |= own
    entries = []
    for item in fields(made):
        if item.name in explained:
            kind, text = explained[item.name]
            default = json.dumps(item.default) if isinstance(item.default, str) else item.default
            entries.append(f"{item.name} : {kind}, default={default}\n{text}")
    made._written = cls.__doc__
    made.__doc__ = "\n\n".join([summary, "\n".join([_PARAMETERS, *entries]), *rest])
    return cls


def _parts(cls: type) -> tuple[str, dict[str, tuple[str, str]], list[str]]:
    """Return the summary of a docstring, kind and text of its parameters, and other sections."""
    written = inspect.cleandoc(vars(cls).get("_written", cls.__doc__) or "")
    summary, *sections = re.split(r"\n\n(?=\w+\n-{3,}\n)", written)
    stated = next((part for part in sections if part.startswith(_PARAMETERS)), "")
    entries = re.findall(r"^(\w+) : (.+)\n((?: +.+\n?)+)", stated, flags=re.MULTILINE)
    rest = [part for part in sections if part != stated]
    return summary, {name: (kind, text.rstrip()) for name, kind, text in entries}, rest


class KernelEstimator(Versioned, ReadableModel, BaseEstimator):
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
    kernel_names_ : sequence of str
        A name for each kernel, such as "gaussian 0.5 on age", in the order of `weights_`;
        columns have the names that they have in a DataFrame. `kernel_weights` returns the weights
        under these names.
    support_ : ndarray of int of shape (n_support,)
        Row numbers of the training samples with a coefficient other than 0 in any class.
    objective_ : float or ndarray of shape (k,)
        The objective at the optimum, one a class for more than two classes.
    gap_ : float or ndarray of shape (k,)
        Its certified relative duality gap, or KKT residual (`mklbench.solution.Solution`).
    history_ : list of dict
        An entry an outer iteration, with at least "objective" and "n_svm_calls"; a list
        of such lists, one a class, for more than two classes.
    converged_ : bool
        Whether all problems ended by their stopping rule, and none by a limit.
    n_iter_ : int
        Outer iterations of the longest problem, its start included.
    n_features_in_ : int
        Number of features (rows of X at prediction must have as many).

    Parameters
    ----------
    kernel : str, callable or list
        A bank, see `mklbench.estimators`.
    C : float
        Box constraint.
    tol : float
        Certified relative duality gap at which to stop.
    svm_tol : float
        LIBSVM's stopping tolerance.
    objective_tol : float or None
        Relative change of the objective at which to stop as well; None for never.
    class_weight : ClassWeights
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    kernel: Kernel
    # The module of its algorithm.
    _algorithm: ClassVar[str]
    _views: FittedViews | None
    # Whether one machine learns from a combination of the kernels.
    _combines: ClassVar[bool] = True
    # Of the parameters that `solve` does not check, as scikit-learn declares them.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "warm_start": ["boolean"],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
        "verbose": ["verbose"],
    }

    def _validate_params(self) -> None:
        """Raise a ValueError for a parameter that cannot be accepted, before any work is done."""
        super()._validate_params()
        check_options(self._solver())

    def _validated(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
        """Return samples and responses as scikit-learn checks them, and what each sample counts.

        Kernels that are given are on all samples, and restricted afterwards. Of a list of kernels
        the views are made of the rows that count, and on them.
        """
        check_same_rows(X, "y", y)
        check_same_rows(X, "sample_weight", sample_weight)
        samples, responses, kernels = self._checked(X, y)
        weights, rows = given_weights(sample_weight, len(responses))
        n = len(responses)
        if rows is not None:
            responses = responses[rows]
        if kernels is not None:
            counting = samples if rows is None else rows_of(samples, rows)
            self._views = kernels.fitted(counting, responses)
            samples = self._views.training_views()
        elif rows is not None and not self._takes_matrices and isinstance(samples, np.ndarray):
            samples = samples[rows]
        self._training = samples
        return TrainingSet(samples, responses, weights, rows, n)

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[Any], KernelList | None]:
        """Return samples, stacks of Gram matrices as they are, responses and the list of kernels.

        The last is None where the kernels are no list.
        """
        check_column_names(X)
        check_none_missing(y)
        self._views = None
        # At prediction what was fitted counts: the parameter may be another by then.
        self._takes_matrices = takes_matrices(self.kernel)
        self._takes_rows = callable(self.kernel) and builder_of(self.kernel).takes_rows
        if self._takes_matrices:
            given = named_grams(X)
            self._gram_names = given.kernels
            self._sample_names = first_named([given.rows, given.columns])
            given = given.held_to(given.rows)
            matrices = given.matrices
            if matrices.ndim == 3:
                responses = column_or_1d(y, warn=True)
                stack = training_stack(given, len(responses))
                self.n_features_in_ = stack.shape[2]
                given.check_finite(stack)
                return stack, responses, None
            given.check_finite(matrices)
            return *validate_data(self, matrices, y, dtype=np.float64), None
        kernels = kernel_list(self.kernel, X)
        if kernels is None:
            if self._takes_rows and callable(self.kernel):
                self._rows_of = builder_of(self.kernel).rows_of
            checked = validate_data(self, self._samples(X), y, dtype=np.float64)
            self._layout = SampleLayout(X)
            return *checked, None
        samples, responses = matrix_of(X), column_or_1d(y, warn=True)
        assert_all_finite(responses, input_name="y")
        check_consistent_length(samples, responses)
        validate_data(self, samples, responses, skip_check_array=True)
        return samples, responses, kernels

    def _new_samples(self, X: Any) -> Any:
        """Return new samples as the kernels take them, checked against those of the fit."""
        check_column_names(X)
        if self._views is not None:
            return self._views.views(X)
        if not self._takes_matrices:
            checked = validate_data(self, self._samples(X), dtype=np.float64, reset=False)
            self._layout.ordered(X)
            return checked
        given = named_grams(X)
        check_same_names("X", "kernels", given.kernels, self._gram_names)
        given = given.held_to(self._sample_names, self._gram_names)
        matrices = given.matrices
        if matrices.ndim == 3:
            n_kernels, n = len(self.solutions_[0].weights), self.n_features_in_
            stack = cross_stack(given, n_kernels, n)
            given.check_finite(stack)
            return stack
        given.check_finite(matrices)
        return validate_data(self, matrices, dtype=np.float64, reset=False)[None]

    def _samples(self, X: Any) -> Any:
        """Return `X` if it may be samples; row numbers (n,) as a column."""
        if getattr(X, "ndim", 2) == 3:
            raise InputError(
                f"X has shape {X.shape}, but {type(self).__name__} takes features (n, d): choose "
                "kernel='precomputed' for a stack of Gram matrices."
            )
        if not self._takes_rows:
            if hasattr(X, "iloc") and np.ndim(X) == 2:  # whose columns have names
                with columns_called(names_of_columns(X)):
                    check_finite("X", numbers(X, "X"))
            return X
        rows = X if self._rows_of is None else self._rows_of(X)
        if is_mask(np.asarray(rows).ravel()):
            raise InputError("X is a mask, where row numbers are needed: give np.flatnonzero(X).")
        return np.reshape(rows, (-1, 1)) if np.ndim(rows) == 1 else rows

    def _built(self, samples: Any) -> KernelOperator:
        """Return the kernels on the training samples, if they and their fit have room in memory."""
        from mklbench.optim.fit_memory import fitting  # with all that a fit needs

        builder: Any = self._builder()
        solve = self._solver()
        n_samples, d = np.shape(samples)[-2:]
        few = on_few(builder, samples[:, :2, :2] if np.ndim(samples) == 3 else samples[:2])

        def needs(n: int) -> float:
            return fitting(few, solve, Shape(n, d))

        short = memory.shortage(needs, n_samples)
        if short is not None:
            kernels = "" if few is None else f" with {few.n_kernels} kernels"
            raise InputError(
                f"X has {n_samples} rows: {type(self).__name__}{kernels} needs {short}; about "
                f"{short.fitting} rows fit: pass fewer of them, or choose fewer kernels."
            )
        with self._columns_called():
            operator = builder(samples)
        if not isinstance(operator, KernelOperator):
            raise no_kernels(operator, builder)
        return operator

    def _builder(self) -> Any:
        """Return what makes the kernels: a builder, of a list of kernels its views."""
        if self._views is not None:
            return self._views
        return resolve(self.kernel)

    def _solver(self, factors: Array | None = None) -> Callable[..., Solution]:
        """Return the `solve` of the algorithm with the parameters of the estimator.

        The `factors` (n,) are those of the samples, on C or on their errors.
        """
        weighted = {} if factors is None else {"sample_weight": factors}
        return partial(self._module.solve, **self._hyperparameters(), **weighted)

    @property
    def _module(self) -> ModuleType:
        """The module of the algorithm, imported when first asked for."""
        return importlib.import_module(self._algorithm)

    def _solved(
        self,
        operator: KernelOperator,
        rows: Rows | None,
        solve: Callable[[KernelOperator], list[Solution]],
        n: int,
    ) -> None:
        """Solve on the rows that count, and keep what has been learned of all n."""
        with watched(self._printer()):
            if rows is None or operator.n_samples == len(rows):
                solutions = solve(operator)
            else:
                solutions = [on_all_rows(s, rows, n) for s in solve(operator.take(rows))]
                rows = None
        self._learned(operator, solutions)
        if rows is not None:  # the kernels are on these rows alone
            self.solutions_ = [on_all_rows(solution, rows, n) for solution in solutions]
            self.dual_coef_ = self._stacked([s.dual_coef for s in self.solutions_])

    def _printer(self) -> Printer | None:
        """Return what prints the iterations of a fit, None where nothing is to be printed."""
        if not getattr(self, "verbose", 0):
            return None
        classes = np.asarray(getattr(self, "classes_", ())).tolist()
        problems = [f"class {label!r}" for label in classes] if len(classes) > 2 else []
        return Printer(type(self).__name__, problems)

    def _hyperparameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator that are keywords of `solve`, as it names them."""
        parameters = self.get_params(deep=False)
        return {name: value for name, value in parameters.items() if name not in NOT_OF_SOLVE}

    def _learned(self, operator: KernelOperator, solutions: list[Solution]) -> None:
        """Keep what has been learned; warn if it ended before its stopping rule."""
        self.solutions_ = solutions
        columns = getattr(self, "feature_names_in_", None)
        self.kernel_names_ = names_of(operator, solutions, columns)
        if self._takes_matrices and self._gram_names is not None:
            self.kernel_names_ = unique(self._gram_names)
        self._decide = DecisionFunction.of(operator, solutions)
        again = partial(self._builder(), self._training)
        self._combined = LearnedKernel(again, operator, solutions)
        del self._training
        if self._views is not None:
            self._views = self._views.in_use(kernels_in_use(solutions))
        unfinished = [max(s.gap, s.family_gap or 0.0) for s in solutions if not s.converged]
        if unfinished:
            warn(
                f"{type(self).__name__} ended before its stopping rule was met in "
                f"{len(unfinished)} of {len(solutions)} problems, with a gap of up to "
                f"{max(unfinished):.1e}: {self._remedy()}.",
                ConvergenceWarning,
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
            return f"raise {', '.join(limits)} or tol, or scale the features or kernels alike"
        if "svm_tol" in parameters and parameters.get("learner") != "krr":
            return "lower C, scale the features or the kernels down, or raise svm_tol"
        return "raise lam"

    def _decision(self, X: Any) -> Array:
        """Return the decision values (n_new,), or (n_new, k) of k problems."""
        check_is_fitted(self)
        with self._columns_called():
            return self._decide(self._new_samples(X))

    @available_if(lambda estimator: estimator._combines)
    def combined_kernel(self, X: Any, label: Any = None) -> Array:
        """Return the learned kernel (n_new, n) between samples and the training samples.

        It is what SVC(kernel="precomputed"), KernelPCA and others take: the Gram matrix on the
        training samples, the cross Gram matrix on others. Samples whose weight was 0 are left out,
        but for Gram matrices that are given.

        Parameters
        ----------
        X : array_like of shape (n_new, d)
            Samples, as `predict` takes them.
        label : object, default=None
            The class whose kernel it is, for more than two; their mean if not given.

        Raises
        ------
        InputError
            If there is no such class, or the model was saved before this was called for the first
            time: a saved model has no training samples (`keep_training_samples`).
        """
        check_is_fitted(self)
        machines = self.solutions_
        if label is not None:
            classes = np.asarray(getattr(self, "classes_", ())).tolist()
            if label not in classes:
                raise InputError(f"label={label!r} is not known: choose one of {classes}.")
            machines = [machines[classes.index(label)]] if len(machines) > 1 else machines
        with self._columns_called():
            return self._combined(machines, self._new_samples(X))

    def keep_training_samples(self) -> None:
        """Keep what `combined_kernel` needs of all training samples, also when it is saved."""
        check_is_fitted(self)
        self._combined.kernels()

    def _columns_called(self) -> AbstractContextManager[None]:
        """Let messages call columns as the data frame did, on which all kernels are."""
        names = None if self._views is not None else getattr(self, "feature_names_in_", None)
        kernels = self._gram_names if self._takes_matrices else None
        return columns_called(None if names is None else list(names), kernels)

    @staticmethod
    def _stacked(rows: list[Array]) -> Array:
        return rows[0] if len(rows) == 1 else np.stack(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = takes_matrices(self.kernel)
        tags.input_tags.sparse = takes_sparse(self.kernel)
        return tags
