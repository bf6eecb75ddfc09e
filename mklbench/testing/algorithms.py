"""What holds for every algorithm, whatever it solves: what it declares, returns and ignores.

Each check is a function of a `_Case`, an algorithm with one kind of kernels.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklbench import multiclass
from mklbench.contract import Algorithm, Solver, algorithm_of, check_options
from mklbench.kernels import (
    Bank,
    Family,
    KernelBuilder,
    KernelOperator,
    feature_gaussians,
    product_gaussians,
    training_outputs,
)
from mklbench.solution import Solution
from mklbench.testing.claims import Array, agree, refuses, require

# Lower and upper bounds on the optimum from Gram matrices (M, n, n), labels, C and a solution.
Bounds = Callable[[Array, Array, float, Solution], tuple[float, float]]

# C of the problems here: some coefficients are at it.
_BOX = 2.0


def _problem(n: int = 40) -> tuple[Array, Array]:
    """Return features (n, 4) and noisy labels that depend on two of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    score = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 - 0.8 + 0.4 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


@dataclass(frozen=True)
class _Case:
    """An algorithm with one kind of kernels.

    Attributes
    ----------
    solve : Solver
        With its options bound.
    algorithm : Algorithm
        What it declares.
    build : KernelBuilder
        Of the kernels.
    lenient, bounds : frozenset of str or Bounds or None
        As in `check_algorithm`.
    """

    solve: Solver
    algorithm: Algorithm
    build: KernelBuilder
    lenient: frozenset[str]
    bounds: Bounds | None

    @property
    def name(self) -> str:
        function = self.algorithm.solve
        return f"{function.__module__}.{function.__name__}"

    def __call__(self, X: Array, y: Array, **options: Any) -> Solution:
        """Solve on new kernels, C being that of the problems unless it is among the options."""
        if "C" in self.algorithm.options:
            options = {"C": _BOX, **options}
        return self.solve(self.build(X), y, **options)

    def precise(self, tol: float = 1e-8) -> dict[str, float]:
        """Return the options that make the solution as accurate."""
        name = next((n for n in ("svm_tol", "tol") if n in self.algorithm.options), None)
        return {} if name is None else {name: tol}

    @property
    def is_regression(self) -> bool:
        """Whether it takes real targets, of those with a learner with the one at hand."""
        learner = inspect.signature(self.solve).parameters.get("learner")
        return self.algorithm.regression and (learner is None or learner.default != "svm")

    @property
    def is_svm(self) -> bool:
        """Whether the coefficients are those of an SVM for classes."""
        return "C" in self.algorithm.options and not self.is_regression


def _dense_outputs(operator: KernelOperator, machine: Solution) -> Array:
    """Return K a (n,) of one machine on the training samples, from its dense Gram matrix."""
    if machine.thetas is not None:
        assert isinstance(operator, Family)
        return training_outputs(operator, machine.weights, machine.thetas, machine.dual_coef)
    return operator.gram(machine.weights) ** machine.degree @ machine.dual_coef


def check_algorithm(
    solve: Solver | str,
    *,
    kernels: KernelBuilder | None = None,
    bounds: Bounds | None = None,
    lenient: Collection[str] = (),
    config_dir: Path | str | None = None,
) -> None:
    """Check what holds for every algorithm (`mklbench.contract`).

    The problems have 40 samples of 4 features and labels -1 and +1; with ``REGRESSION = True``
    there is one with real targets as well.

    Parameters
    ----------
    solve : callable or str
        ``solve`` of a module, options bound or not, or the name of its config ``algo/NAME.yaml``,
        which binds the options and chooses the kernels.
    kernels : callable, optional
        Builder of the kernels, from features to a bank or a family. If not given, Gaussians on
        single features, products of Gaussians in a box, or both, as the annotation of the first
        parameter of `solve` says.
    bounds : callable, optional
        For convex problems: ``bounds(grams, y, C, solution)`` returns a lower and an upper bound on
        the optimum, from dense Gram matrices (M, n, n). Of ``EXACT = True`` they are known.
    lenient : collection of str, default=()
        Options that need not refuse what they cannot be used with.
    config_dir : Path, str or None, default=None
        The directory of your own configs, where `solve` is a name.

    Raises
    ------
    AssertionError
        In one sentence, for the first thing that does not hold.
    """
    if isinstance(solve, str):
        solve, kernels = _of_config(solve, kernels, config_dir)
    for build in [kernels] if kernels else _builders(algorithm_of(solve)):
        case = _Case(solve, algorithm_of(solve), build, frozenset(lenient), bounds)
        for check in _CHECKS:
            check(case)


def _of_config(
    name: str, kernels: KernelBuilder | None, config_dir: Path | str | None
) -> tuple[Solver, KernelBuilder]:
    from mklbench import config as configs

    config = configs.run_config(configs.compose([f"algo={name}"], config_dir))
    return configs.algorithm(config.algo), kernels or configs.kernel(config.kernel)


def _builders(algorithm: Algorithm) -> list[KernelBuilder]:
    """Return builders of the kernels that an algorithm says it takes."""
    family: KernelBuilder = partial(product_gaussians, gamma_max=30.0)
    by_kind: dict[type, list[KernelBuilder]] = {Bank: [feature_gaussians], Family: [family]}
    return by_kind.get(algorithm.takes, [feature_gaussians, family])


# Values of common options that nothing can be done with.
_WRONG: Mapping[str, tuple[Any, ...]] = {
    "C": (0.0, -1.0, math.nan, math.inf),
    "tol": (0.0, -1.0, math.nan),
    "svm_tol": (0.0, -1.0, math.nan),
    "max_iter": (0,),
    "class_weight": ({0: 2.0},),
}
# No number, choice or list that an option might be.
_NONSENSE = "nonsense"


def _signature(case: _Case) -> None:
    """The kernels, y and C come first; every other option has a name and a default."""
    parameters = list(inspect.signature(case.algorithm.solve).parameters.values())
    require(
        parameters[1].name == "y",
        f"{case.name} calls its second parameter {parameters[1].name}: the labels are called y.",
    )
    for parameter in parameters[2:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        require(
            parameter.default is not parameter.empty,
            f"{case.name} has no default for its option {parameter.name}: give one.",
        )
    for parameter in parameters[3:]:
        require(
            parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD),
            f"{case.name} takes its option {parameter.name} by position: put * before it.",
        )


def _docstring(case: _Case) -> None:
    """The docstring explains every parameter."""
    document = inspect.getdoc(case.algorithm.solve) or ""
    require(document, f"{case.name} has no docstring: say what it solves.")
    for name in inspect.signature(case.algorithm.solve).parameters:
        require(
            name in document or "those of `" in document,
            f"the docstring of {case.name} does not explain {name}.",
        )


def _refused_options(case: _Case) -> None:
    """What an option cannot be is refused in a sentence, and first of all where that is said."""
    X, y = _problem(10)
    operator = case.build(X)
    for name, value in _wrong_options(case):
        asked = partial(case.solve, **{name: value})
        what = f"{case.name} with {name}={value!r}"
        refuses(what, partial(asked, operator, y), names=name)
        if case.algorithm.options_first and name != "start":
            refuses(f"{what}, before it is given kernels,", partial(check_options, asked), name)


def _wrong_options(case: _Case) -> Iterator[tuple[str, Any]]:
    # Of a second stage's machines each has options that the others do not look at.
    others = {"lam", "epsilon"} if "learner" in case.algorithm.options else set[str]()
    for name in case.algorithm.options:
        if name not in case.lenient | others:
            yield from ((name, value) for value in (*_WRONG.get(name, ()), _NONSENSE))


def _refused_labels(case: _Case) -> None:
    """Labels that it cannot learn from are refused in a sentence."""
    X, y = _problem(10)
    wrong: dict[str, Any] = {"one label too few": y[1:]}
    if not case.is_regression:
        numbers = np.arange(10)
        wrong |= {"one class": np.ones(10), "labels 0 and 1": numbers % 2, "real targets": X[:, 0]}
        wrong |= {"three labels": numbers % 3 - 1}
    for what, labels in wrong.items():
        refuses(f"{case.name} with {what}", partial(case.solve, case.build(X), labels), names="y ")


def _refused_kernels(case: _Case) -> None:
    """A bank or a family that it does not take is refused in a sentence."""
    X, y = _problem(10)
    others: dict[type, KernelBuilder] = {Bank: product_gaussians, Family: feature_gaussians}
    other = others.get(case.algorithm.takes)
    if other is not None:
        operator = other(X)
        what = f"{case.name}, which takes a {case.algorithm.takes.__name__}, with another operator"
        refuses(what, partial(case.solve, operator, y), names=type(operator).__name__)


def _determinism(case: _Case) -> None:
    """A second call returns the same numbers, and changes nothing that it is given."""
    X, y = _problem()
    X_before, y_before = X.copy(), y.copy()
    first, second = case(X, y), case(X, y)
    for name in ("weights", "dual_coef"):
        require(
            np.array_equal(getattr(first, name), getattr(second, name)),
            f"{case.name} returns other {name} when it is called again: fix its random numbers.",
        )
    require(
        np.array_equal(X, X_before) and np.array_equal(y, y_before),
        f"{case.name} changes the samples or the labels that it is given.",
    )


def _order_of_the_samples(case: _Case) -> None:
    """The samples may come in any order."""
    if "folds" in case.algorithm.options:  # the order decides which samples are held out together
        return
    X, y = _problem()
    order = np.random.default_rng(0).permutation(len(y))
    there = case(X, y, **case.precise())
    _same(case, case(X[order], y[order], **case.precise()), there, order, 1.0, "in another order")


def _label_flip(case: _Case) -> None:
    """Which class is the positive one decides no more than signs."""
    X, y = _problem()
    there, every = case(X, y, **case.precise()), np.arange(len(y))
    _same(case, case(X, -y, **case.precise()), there, every, -1.0, "with the signs of y turned")


def _same(case: _Case, now: Solution, there: Solution, order: Any, sign: float, how: str) -> None:
    change = abs(now.objective - there.objective) / abs(there.objective)
    require(
        change <= 2e-3,
        f"{case.name} returns another objective for the samples {how}: it changes by {change:.2g}, "
        "and 2e-3 of it is accepted.",
    )
    if now.thetas is not None:  # a search in a family may end at other kernels as good
        return
    agree(
        f"dual_coef of {case.name} for the samples {how}", now.dual_coef,
        sign * there.dual_coef[order], 0.02 * float(np.abs(there.dual_coef).max()), "what it was",
    )  # fmt: skip


def _start(case: _Case) -> None:
    """From the start of its own weights it returns the same objective."""
    X, y = _problem()
    if not multiclass.takes_start(case.solve) or not isinstance(case.build(X), Bank):
        return
    cold = case(X, y, **case.precise())
    warm = case(X, y, start=cold.weights, **case.precise())
    change = abs(warm.objective - cold.objective) / abs(cold.objective)
    require(
        change <= 1e-5,
        f"{case.name} returns another objective from the start of its own weights: it changes by "
        f"{change:.2g}, and 1e-5 of it is accepted.",
    )


def _together(case: _Case) -> None:
    """What is solved side by side or along a path is what `solve` returns one by one."""
    X, y = _problem()
    operator, algorithm = case.build(X), case.algorithm
    if algorithm.solve_all is not None:
        labels = [y, -y, np.roll(y, 3)]
        one_by_one = [algorithm.solve(operator, each) for each in labels]
        _check_alike(case, "solve_all", algorithm.solve_all(operator, labels), one_by_one)
    if algorithm.path_option is not None and algorithm.solve_path is not None:
        option = algorithm.path_option
        default = inspect.signature(algorithm.solve).parameters[option].default
        values = [default or 1, 2 * (default or 1)]
        one_by_one = [algorithm.solve(operator, y, **{option: value}) for value in values]
        _check_alike(case, "solve_path", algorithm.solve_path(operator, y, values), one_by_one)


def _check_alike(case: _Case, name: str, together: list[Solution], alone: list[Solution]) -> None:
    now, before = ([solution.objective for solution in each] for each in (together, alone))
    scale = 1e-6 * max(map(abs, before))
    agree(f"the objectives of {name} beside {case.name}", now, before, scale, "those of solve")


def _form(case: _Case) -> None:
    """It is a `Solution` with the shapes, the history and the counts of one."""
    X, y = _problem()
    solution, n_kernels = case(X, y), case.build(X).n_kernels
    require(isinstance(solution, Solution), f"{case.name} must return a Solution.")
    _check_shapes(case, solution, n_kernels, len(y))
    calls = [entry.get("n_svm_calls", -1.0) for entry in solution.history]
    require(calls, f"{case.name} returns an empty history: add an entry for each iteration.")
    require(
        calls == sorted(calls) and calls[0] >= 0 and calls[-1] <= solution.n_svm_calls,
        f"the history of {case.name} has n_svm_calls={calls}: they must be there, never fall, and "
        f"end at most at those of the solution, {solution.n_svm_calls}.",
    )
    values = [entry.get("objective", math.nan) for entry in solution.history]
    require(
        np.isfinite(values).all(), f"the history of {case.name} lacks a finite objective: {values}."
    )
    require(
        solution.converged in (True, False),
        f"{case.name} returns converged={solution.converged!r}: it must be True or False.",
    )
    require(
        solution.n_iter >= 1 and solution.svm_seconds >= 0.0,
        f"{case.name} returns n_iter={solution.n_iter} and svm_seconds={solution.svm_seconds}: at "
        "least one iteration and no negative time are expected.",
    )


def _check_shapes(case: _Case, solution: Solution, n_kernels: int, n: int) -> None:
    thetas = solution.thetas
    wanted = (n_kernels,) if thetas is None else (len(thetas),)
    require(
        solution.weights.shape == wanted,
        f"{case.name} returns weights of shape {solution.weights.shape}, and {wanted} is expected.",
    )
    require(
        (case.algorithm.signed or (solution.weights >= 0).all()) and solution.weights.any(),
        f"{case.name} returns weights that are negative or all 0: {solution.weights}.",
    )
    require(
        solution.dual_coef.shape == (n,),
        f"{case.name} returns dual_coef of shape {solution.dual_coef.shape}, and ({n},) is "
        "expected.",
    )
    require(
        solution.gap >= -1e-12, f"{case.name} returns gap={solution.gap}: a gap is never negative."
    )


def _dual_feasibility(case: _Case) -> None:
    """The coefficients of an SVM are in their box, and their sum is 0."""
    if not case.is_svm:
        return
    X, y = _problem()
    solution = case(X, y)
    alpha = y * solution.dual_coef
    require(
        (alpha >= -1e-12 * _BOX).all() and (alpha <= _BOX * (1 + 1e-12)).all(),
        f"{case.name} returns y * dual_coef from {alpha.min():.3g} to {alpha.max():.3g}, outside "
        f"of the box from 0 to C={_BOX}.",
    )
    total = float(solution.dual_coef.sum())
    require(
        abs(total) <= 1e-9 * _BOX * len(y),
        f"{case.name} returns dual_coef with the sum {total:.3g}: that of an SVM is 0.",
    )
    if "class_weight" in case.algorithm.options:
        _class_weights(case, X, y)


def _class_weights(case: _Case, X: Array, y: Array) -> None:
    size = np.abs(case(X, y, class_weight={1: 0.1}).dual_coef)
    require(
        size[y > 0].max() <= 0.1 * _BOX * (1 + 1e-12) < size[y < 0].max(),
        f"{case.name} with class_weight={{1: 0.1}} returns coefficients of up to "
        f"{size[y > 0].max():.3g} for the class +1 and {size[y < 0].max():.3g} for -1: C times the "
        "factor of the class bounds them.",
    )


def _machine_fits_its_kernel(case: _Case) -> None:
    """The KKT conditions of the SVM hold at the kernel of the returned weights."""
    if not case.is_svm:
        return
    X, y = _problem()
    operator, solution = case.build(X), case(X, y, **case.precise(1e-6))
    for machine in solution.members or (solution,):
        margins = y * (_dense_outputs(operator, machine) + machine.intercept)
        alpha = y * machine.dual_coef
        low, high = alpha <= 1e-9, alpha >= _BOX * (1 - 1e-9)
        violation = np.where(low, 1.0 - margins, np.where(high, margins - 1.0, abs(margins - 1.0)))
        require(
            violation.max() <= 1e-3,
            f"{case.name} returns coefficients that are not the SVM's at the kernel of its weights:"
            f" the KKT conditions are violated by {violation.max():.2g}, and 1e-3 is accepted.",
        )


def _prediction(case: _Case) -> None:
    """The decision function is that of the coefficients, by dense Gram matrices."""
    X, y = _problem()
    _check_prediction(case, X, y)
    if case.is_regression:
        _check_prediction(case, X, X[:, 0] + np.sin(X[:, 1]))


def _check_prediction(case: _Case, X: Array, y: Array) -> None:
    operator, solution = case.build(X), case(X, y)
    machines = solution.members or (solution,)
    values = np.array([_dense_outputs(operator, m) + m.intercept for m in machines])
    dense = multiclass.vote(values) if solution.vote else values.mean(axis=0)
    at_training = multiclass.decision_function(operator, [solution], X)
    agree(
        f"the decision function of {case.name}", at_training, dense,
        1e-7 * max(1.0, float(np.abs(dense).max())), "sum_i dual_coef_i K(x_i, .) + intercept",
    )  # fmt: skip


def _gap(case: _Case) -> None:
    """The gap bounds how far the objective is above the optimum, by dense Gram matrices."""
    X, y = _problem()
    operator = case.build(X)
    bounds = case.bounds or (_simplex_bounds if case.algorithm.exact else None)
    if bounds is None or not isinstance(operator, Bank):
        return
    grams = np.array([operator.combine(unit) for unit in np.eye(operator.n_kernels)])
    solution = case(X, y)
    lower, upper = bounds(grams, y, _BOX, solution)
    objective = solution.objective
    rounding = 1e-7 * abs(objective)
    require(
        lower <= objective + rounding and objective <= upper + rounding,
        f"{case.name} returns objective={objective:.8g}, outside of its bounds {lower:.8g} and "
        f"{upper:.8g} by the dense Gram matrices.",
    )
    share = (objective - lower) / abs(objective)
    require(
        share <= solution.gap + 1e-7,
        f"{case.name} returns gap={solution.gap:.3g}, but its objective may be {share:.3g} above "
        "the optimum by the dense Gram matrices.",
    )
    tol = inspect.signature(case.solve).parameters.get("tol")
    if solution.converged and tol is not None and isinstance(tol.default, float):
        require(
            solution.gap <= tol.default,
            f"{case.name} says that it has converged, and its gap {solution.gap:.3g} is above "
            f"tol={tol.default}.",
        )


def _simplex_bounds(grams: Array, y: Array, C: float, solution: Solution) -> tuple[float, float]:
    """Return the bounds of weights on the simplex with the hinge loss, at a solution."""
    a = solution.dual_coef
    forms = np.einsum("i,mij,j->m", a, grams, a)
    K = np.tensordot(solution.weights, grams, axes=1)
    slacks = np.maximum(0.0, 1.0 - y * (K @ a + solution.intercept))
    require(
        abs(solution.weights.sum() - 1.0) <= 1e-9,
        f"weights on the simplex have the sum 1, and these {solution.weights.sum()}.",
    )
    return float(np.abs(a).sum() - 0.5 * forms.max()), float(0.5 * a @ K @ a + C * slacks.sum())


_CHECKS = (
    _signature,
    _docstring,
    _form,
    _dual_feasibility,
    _machine_fits_its_kernel,
    _prediction,
    _determinism,
    _order_of_the_samples,
    _label_flip,
    _gap,
    _refused_options,
    _refused_labels,
    _refused_kernels,
    _start,
    _together,
)
