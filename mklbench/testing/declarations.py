"""What an algorithm declares and refuses: its signature, docstring, options, labels."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from mklbench.contract import check_options
from mklbench.kernels import Bank, Family, KernelBuilder, feature_gaussians, product_gaussians
from mklbench.testing.case import Case, problem
from mklbench.testing.claims import refuses, require

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


def signature(case: Case) -> None:
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


def docstring(case: Case) -> None:
    """The docstring explains every parameter."""
    document = inspect.getdoc(case.algorithm.solve) or ""
    require(document, f"{case.name} has no docstring: say what it solves.")
    for name in inspect.signature(case.algorithm.solve).parameters:
        require(
            name in document or "those of `" in document,
            f"the docstring of {case.name} does not explain {name}.",
        )


def refused_options(case: Case) -> None:
    """What an option cannot be is refused in a sentence, and first of all where that is said."""
    X, y = problem(10)
    operator = case.build(X)
    for name, value in _wrong_options(case):
        asked = partial(case.solve, **{name: value})
        what = f"{case.name} with {name}={value!r}"
        refuses(what, partial(asked, operator, y), names=name)
        if case.algorithm.options_first and name != "start":
            refuses(f"{what}, before it is given kernels,", partial(check_options, asked), name)


def _wrong_options(case: Case) -> Iterator[tuple[str, Any]]:
    # Of a second stage's machines each has options that the others do not look at.
    others = {"lam", "epsilon"} if "learner" in case.algorithm.options else set[str]()
    for name in case.algorithm.options:
        if name not in case.lenient | others:
            yield from ((name, value) for value in (*_WRONG.get(name, ()), _NONSENSE))


def refused_labels(case: Case) -> None:
    """Labels that it cannot learn from are refused in a sentence."""
    X, y = problem(10)
    wrong: dict[str, Any] = {"one label too few": y[1:]}
    if not case.is_regression:
        numbers = np.arange(10)
        wrong |= {"one class": np.ones(10), "labels 0 and 1": numbers % 2, "real targets": X[:, 0]}
        wrong |= {"three labels": numbers % 3 - 1}
    for what, labels in wrong.items():
        refuses(f"{case.name} with {what}", partial(case.solve, case.build(X), labels), names="y ")


def refused_kernels(case: Case) -> None:
    """A bank or a family that it does not take is refused in a sentence."""
    X, y = problem(10)
    others: dict[type, KernelBuilder] = {Bank: product_gaussians, Family: feature_gaussians}
    other = others.get(case.algorithm.takes)
    if other is not None:
        operator = other(X)
        what = f"{case.name}, which takes a {case.algorithm.takes.__name__}, with another operator"
        refuses(what, partial(case.solve, operator, y), names=type(operator).__name__)
