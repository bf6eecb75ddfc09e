"""What an algorithm declares: one `Algorithm`, read from its module once and checked.

An algorithm is a module with a function ``solve(operator, y, C=..., *, ...)``. The annotation of
its first parameter says which kernels it takes: `Bank`, `Family`, or `KernelOperator` for either.
Beside `solve` the module may say

- ``VERSION``, a whole number, part of what identifies a recorded result: it is raised when a change
  can move the numbers that are returned.
- ``NEW_OPTIONS``, names of options that came after results had been recorded: left at None or at
  their default they are no part of what identifies one, so that the records keep their names. Where
  the default is not what the records were made with, it is a mapping, from the names to the values
  that mean it: at that value, and no other, an option is no part of what identifies a result.
- ``FORMER_OPTIONS``, a mapping from the names of options that are gone to the values that recorded
  results were made with: these are part of what identifies a result still.
- ``REGRESSION = True``: it takes real targets as well as labels -1 and +1.
- ``EXACT = True``: it solves exactly the problem of SimpleMKL, kernel weights on the simplex with
  the hinge loss. Its ``solve(bank, y, C, tol=..., max_iter=...)`` takes `tol`, the relative duality
  gap to stop at, and `max_iter`, a limit on its iterations, and returns a `Solution` whose history
  holds for every iteration ``objective``, J at its weights, ``gap``, the relative gap at that point
  by `mklbench.certify`, and ``n_svm_calls``, the SVM problems solved so far.
- ``SIGNED = True``: kernel weights may be negative.
- ``CONVEX = False``: it descends on a function that is not convex, and may end in another local
  minimum where the last digits differ, as on another processor.
- ``IS_SVM = False``: it has an option C, but `dual_coef` is not that of an SVM on the kernel at
  `weights`.
- ``OPTIONS_FIRST = True``: it checks its options and labels before it looks at the kernels, as all
  algorithms of this package do, so that a wrong option is refused before there are any.
- ``PATH_OPTION``, the name of an option such as the ridge "lam", and ``solve_path(operator, y,
  values, ...)`` with the other keywords of `solve`: the solutions for several values of that
  option, where these cost less together.
- ``MATRICES``, how many matrices (n, n) are held beside the kernels, LIBSVM's buffer counting as
  two; and ``COMBINES_ONCE = True`` where kernels are combined at one set of weights alone.

A solver that has the parameter ``start``, left None, may be given weights (M,) from which it sets
out, or the kernels of a family with their weights. It promises that the result depends on these no
more than on its tolerance, as with convex problems, or no more than on where else it might set out,
as with searches in a family.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np

from mklbench.errors import InputError, KindError, warn
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.continuous import Family
from mklbench.kernels.contract import unbound
from mklbench.solution import Solution

Solver = Callable[..., Solution]
Parameters = dict[str, inspect.Parameter]
_Function = TypeVar("_Function", bound=Callable[..., Any])

# Options of IKL by their names up to 0.2.0, which the keys of results keep.
FORMER_NAMES = {
    "explore": "n_global_ascents",
    "slide": "n_joint_steps",
    "look": "n_round_ascents",
    "multiply": "n_product_starts",
}

# LIBSVM's buffer, the Gram matrix at some weights and at others, and a temporary; where kernels are
# combined once, the buffer and a Gram matrix.
DEFAULT_MATRICES, _COMBINED_ONCE = 5.0, 3.0


@dataclass(frozen=True)
class Algorithm:
    """The declarations of an algorithm.

    Attributes
    ----------
    solve : callable
        The function, without options bound.
    takes : KernelOperator
        Type
        `Bank`, `Family` or, for either, `KernelOperator`.
    options : tuple of str
        Names of its parameters after the operator and y.
    version, former_options, regression, exact, signed, convex, is_svm, options_first, path_option,
    solve_path, matrices, combines_once
        As above; `exact` and the path are those of the module's `solve` alone.
    takes_start : bool
        Whether it has the parameter ``start``, left None.
    new_options : mapping of str to object
        The new options, and the value of each that means what was recorded without it.
    """

    solve: Callable[..., Any]
    takes: type[KernelOperator]
    options: tuple[str, ...]
    takes_start: bool
    version: int = 1
    new_options: Mapping[str, Any] = field(default_factory=dict)
    former_options: Mapping[str, Any] = field(default_factory=dict)
    regression: bool = False
    exact: bool = False
    signed: bool = False
    convex: bool = True
    is_svm: bool = True
    options_first: bool = False
    path_option: str | None = None
    solve_path: Callable[..., list[Solution]] | None = None
    matrices: float = DEFAULT_MATRICES
    combines_once: bool = False

    def default(self, option: str) -> Any:
        """Return the default of an option of `solve`, None where it has none.

        Parameters
        ----------
        option : str
            Its name.
        """
        return _default(_parameters(self.solve).get(option))


def algorithm_of(solve: Callable[..., Any]) -> Algorithm:
    """Return the declarations of an algorithm, whether its options are bound or not.

    Raises
    ------
    InputError
        If its module declares what cannot be, or `solve` is not called with an operator and y.
    """
    return _read(unbound(solve)[0])


def takes_former_names(function: _Function) -> _Function:
    """Let a function take the options of IKL by their former names, with a DeprecationWarning."""

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        for former in FORMER_NAMES.keys() & options.keys():
            name = FORMER_NAMES[former]
            warn(f"{former} is called {name} now: write {name}=.", DeprecationWarning)
            options[name] = options.pop(former)
        return function(*args, **options)

    return cast(_Function, called)


def check_options(solve: Callable[..., Any]) -> None:
    """Raise an InputError for an option of an algorithm that it refuses whatever the kernels.

    Building a bank may take seconds and gigabytes, and a wrong C should not wait for it. An
    algorithm that checks its options first refuses them where it is called without kernels, too.

    Parameters
    ----------
    solve : callable
        ``solve`` of a module with its options bound, called (operator, y). That of a module that
        does not say ``OPTIONS_FIRST = True`` is not called: its options are checked when it runs.
    """
    if not algorithm_of(solve).options_first:
        return
    try:
        solve(None, np.array([-1.0, 1.0, -1.0, 1.0]))
    except KindError:  # no option is wrong: there are no kernels
        return
    except InputError:
        raise
    except Exception:  # it looks at the kernels, which are checked when it runs
        return


# What a module may declare: for every function of it, and for `solve` alone.
_OF_MODULE = (
    "VERSION", "NEW_OPTIONS", "FORMER_OPTIONS", "REGRESSION", "SIGNED", "CONVEX", "IS_SVM",
    "OPTIONS_FIRST", "MATRICES", "COMBINES_ONCE",
)  # fmt: skip
_OF_SOLVE = ("EXACT", "PATH_OPTION", "solve_path")


@cache
def _read(function: Callable[..., Any]) -> Algorithm:
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    names = vars(module) if module is not None else {}
    known = _OF_MODULE + (_OF_SOLVE if names.get("solve") is function else ())
    declared = {name: names[name] for name in known if name in names}
    if declared.get("COMBINES_ONCE"):
        declared.setdefault("MATRICES", _COMBINED_ONCE)
    parameters = _parameters(function)
    _check(function, declared, parameters)
    ours = getattr(function, "__module__", "").startswith("mklbench.algorithms.")
    start = parameters.get("start")
    new = declared.pop("NEW_OPTIONS", ())  # with their old values, or by name
    if not isinstance(new, Mapping):
        new = {name: _default(parameters.get(name)) for name in new}
    return Algorithm(
        function,
        _taken(function, parameters),
        tuple(name for name, p in parameters.items() if p.kind is not p.VAR_KEYWORD)[2:],
        takes_start=start is not None and start.default is None,
        options_first=declared.pop("OPTIONS_FIRST", ours),
        new_options=dict(new),
        **{name.lower(): value for name, value in declared.items()},
    )


def _default(parameter: inspect.Parameter | None) -> Any:
    has_none = parameter is None or parameter.default is parameter.empty
    return None if has_none else parameter.default  # type: ignore[union-attr]


@cache
def _parameters(function: Any) -> Parameters:
    """Return what a function is called with."""
    return dict(inspect.signature(function).parameters)


def _check(function: Any, declared: Mapping[str, Any], parameters: Parameters) -> None:
    """Check that a path is in an option, with its function."""
    option = declared.get("PATH_OPTION")
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    has_option = option in parameters or takes_any
    if option is not None and not (has_option and "solve_path" in declared):
        raise InputError(
            f"{function.__module__}.PATH_OPTION={option!r} is not accepted: it must be an option "
            "of solve, with a function solve_path beside it."
        )


def _taken(function: Any, parameters: Parameters) -> type[KernelOperator]:
    """Return what the annotation of the first parameter says, either if it says nothing."""
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # names known to a type checker alone
        return KernelOperator
    hint = hints.get(next(iter(parameters), ""))
    kinds = (kind for kind in (Bank, Family) if inspect.isclass(hint) and issubclass(hint, kind))
    return next(kinds, KernelOperator)


def named(function: Any) -> str:
    """Return what messages call a function: "mine.solve"."""
    return f"{function.__module__}.{getattr(function, '__name__', type(function).__name__)}"
