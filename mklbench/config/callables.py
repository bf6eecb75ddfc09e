"""The callables that a config names, and their options checked by their signatures."""

from __future__ import annotations

import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from mklbench.contract import Algorithm, algorithm_of
from mklbench.errors import InputError, first_line, hint, place_in_own_code
from mklbench.kernels.contract import builder_of

# Keys of a YAML that are no options of its callable.
LABELS = ("name", "title")
# What an experiment calls each with: operator and y, X, jobs and timeout.
_N_SUPPLIED = {"algo": 2, "kernel": 1, "executor": 2}
_PLAIN = (float, int, bool, str, types.NoneType)


def algorithm(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return ``solve`` of an algo config with its hyperparameters bound: call it (operator, y)."""
    return partial(target("algo", config), **arguments(config))


def kernel(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the builder of a kernel config with its parameters bound: call it with X_train."""
    if config.get("_partial_") is False:
        return _made("kernel", config)
    return partial(target("kernel", config), **arguments(config))


def executor(config: Mapping[str, Any], jobs: int, timeout: float | None) -> Any:
    """Return the executor that a config describes, for so many jobs and seconds a run.

    Raises
    ------
    InputError
        If it cannot be made, or does not have one of its options.
    """
    check_arguments("executor", config, arguments(config))
    return _made("executor", config, jobs, timeout)


def declared(config: Mapping[str, Any]) -> Algorithm:
    """Return what the algorithm of an algo config declares."""
    return algorithm_of(target("algo", config))


def path_algorithm(config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return ``solve_path`` beside the callable of an algo config that has a path in an option.

    Called with (operator, y, values) it returns the solutions for several values of that option at
    once; the other hyperparameters are bound.
    """
    algorithm = declared(config)
    assert algorithm.solve_path is not None
    others = {name: v for name, v in arguments(config).items() if name != algorithm.path_option}
    return partial(algorithm.solve_path, **others)


def kernel_versions(config: Mapping[str, Any]) -> dict[str, int]:
    """Return by name the versions above 1 of the builders that a kernel config names.

    These are its callable and, where a kernel is made from another, its ``base``.
    """
    from mklbench.kernels.builders.named import BUILDERS

    named = [target("kernel", config), BUILDERS.get(str(config.get("base")))]
    builders = [builder_of(builder) for builder in named if builder is not None]
    return {builder.name: builder.version for builder in builders if builder.version > 1}


def target(group: str, config: Mapping[str, Any]) -> Callable[..., Any]:
    """Import the callable that a config names.

    Raises
    ------
    InputError
        If it has no ``_target_`` or that cannot be imported.
    """
    path = config.get("_target_")
    module, _, name = str(path).rpartition(".")
    if not isinstance(path, str) or not module:
        raise InputError(
            f"{group}._target_={path} cannot be used: give the dotted name of a function, as in "
            "package.module.solve."
        )
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # importing a user's module can raise anything
        why, where = _root_cause(error), place_in_own_code(error)
        if where is not None:
            why = f"{type(error).__name__}: {why} ({where})"
        raise InputError(f"{group}._target_={path} cannot be used: {why}.") from error
    if not callable(found):
        raise InputError(f"{group}._target_={path} cannot be used: it is not callable.")
    return found


def arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments that a config passes on."""
    return {
        key: value
        for key, value in config.items()
        if key not in LABELS and not (key.startswith("_") and key.endswith("_"))
    }


def check_arguments(group: str, config: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise InputError for the first of `given` that the callable of a config does not take."""
    called = target(group, config)
    accepted = _options(called, 0 if config.get("_partial_") is False else _N_SUPPLIED[group])
    if accepted is None:
        return
    for name, value in given.items():
        if name not in accepted:
            near = hint(name, accepted, f"{group}.")
            raise InputError(f"{group}.{name}={value} is not known: {near}.")
        if not _fits(value, accepted[name]):
            kind = accepted[name]
            kind = kind.__name__ if kind in _PLAIN else re.sub(r"\b[a-z]\w*\.", "", str(kind))
            raise InputError(f"{group}.{name}={value} is not accepted: it must be of type {kind}.")


@lru_cache(maxsize=256)
def _options(called: Callable[..., Any], supplied: int) -> dict[str, Any] | None:
    """Return the options behind what is supplied, and their types; None if it takes any option."""
    parameters = list(inspect.signature(called).parameters.values())
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    try:
        hints = typing.get_type_hints(called.__init__ if inspect.isclass(called) else called)
    except (NameError, TypeError, AttributeError):  # a name that type checkers alone know
        hints = {}
    return {
        parameter.name: hints.get(parameter.name, Any)
        for parameter in parameters[supplied:]
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value suits a plain type; what has another is left to the callable."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, kind) for kind in inner)
    if hint in _PLAIN:
        is_one = isinstance(value, int | float if hint is float else hint)
        return is_one and (hint is bool or not isinstance(value, bool))
    if origin is Sequence:
        return isinstance(value, list) and all(_fits(item, inner[0]) for item in value)
    return hint != Mapping[str, Any] or isinstance(value, dict)


def _root_cause(error: BaseException) -> str:
    """Return the first line of what an error was raised from, without a full stop."""
    while error.__cause__ is not None:
        error = error.__cause__
    return first_line(error)


def _made(group: str, config: Mapping[str, Any], *given: object) -> Any:
    """Return what the callable of a config makes with its options."""
    called = target(group, config)
    try:
        return called(*given, **arguments(config))
    except InputError:
        raise
    except Exception as error:
        name = config.get("name")
        raise InputError(f"{group}={name} cannot be used: {_root_cause(error)}.") from error
