"""The keyword arguments of an algo or kernel config, checked against the callable's signature."""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from mklbench import own_code
from mklbench.errors import InputError, hint

# Keys of an algo or kernel YAML that are not keyword arguments of its callable.
LABELS = ("name", "title")


def target(group: str, config: Mapping[str, Any]) -> Callable[..., Any]:
    """Import the callable that an algo or kernel config names.

    Raises
    ------
    InputError
        If it has no ``_target_`` or that cannot be imported.
    """
    path = config.get("_target_")
    if not path:
        raise InputError(f"The config of {group} has no _target_: name its callable.")
    module, _, name = str(path).rpartition(".")
    if not isinstance(path, str) or not module:
        raise InputError(
            f"{group}._target_={path} cannot be used: give the dotted name of a function, as in "
            "package.module.solve."
        )
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # importing a user's module can raise anything
        why, where = root_cause(error), own_code.place(error)
        if where is not None and isinstance(error, Exception):
            why = f"{type(error).__name__}: {why} ({where})"
        raise InputError(f"{group}._target_={path} cannot be used: {why}.") from error
    if not callable(found):
        raise InputError(f"{group}._target_={path} cannot be used: it is not callable.")
    return found


def arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments an algo or kernel config passes on."""
    return {
        key: value
        for key, value in config.items()
        if key not in LABELS and not (key.startswith("_") and key.endswith("_"))
    }


def keywords(group: str, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the keyword arguments the callable of a config takes, with their types.

    The leading arguments (operator and y of an algorithm, X of a kernel, jobs and timeout of an
    executor) come from the experiment, unless the target is a class whose instances are the
    callables (``_partial_: false``). None means that the callable takes any keyword.
    """
    called = target(group, config)
    supplied = (
        0 if config.get("_partial_") is False else {"algo": 2, "kernel": 1, "executor": 2}[group]
    )
    try:
        # Only functions surely have a hash.
        read = _keywords if inspect.isfunction(called) else _keywords.__wrapped__
        return read(called, supplied)
    except (TypeError, ValueError) as error:  # of classes and functions written in C
        raise InputError(
            f"{group}._target_={config['_target_']} cannot be used: it does not say what arguments "
            "it takes; write a function that calls it."
        ) from error


@lru_cache(maxsize=256)
def _keywords(called: Callable[..., Any], supplied: int) -> dict[str, Any] | None:
    """Return the types of the keyword arguments behind those that are supplied; kept, as slow."""
    parameters = list(inspect.signature(called).parameters.values())
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    hints = _hints(called)
    return {
        parameter.name: hints.get(parameter.name, Any)
        for parameter in parameters[supplied:]
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def check_arguments(group: str, config: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise InputError for the first of `given` that the callable of a config does not take."""
    accepted = keywords(group, config)
    if accepted is None:
        return
    for name, value in given.items():
        if name not in accepted:
            near = hint(name, accepted, f"{group}.")
            raise InputError(f"{group}.{name}={value} is not known: {near}.")
        if not _fits(value, accepted[name]):
            kind = _named(accepted[name])
            raise InputError(f"{group}.{name}={value} is not accepted: it must be of type {kind}.")


def _hints(called: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters; none where a name is known to type checkers alone."""
    try:
        return typing.get_type_hints(called.__init__ if inspect.isclass(called) else called)
    except (NameError, TypeError, AttributeError):
        return {}


_PLAIN = (float, int, bool, str, types.NoneType)


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value suits a plain type; what has another is left to the callable."""
    kinds = typing.get_args(hint) if _is_union(hint) else (hint,)
    return not all(map(_is_known, kinds)) or any(_is_of(value, kind) for kind in kinds)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _is_known(kind: Any) -> bool:
    listed = typing.get_args(kind) if typing.get_origin(kind) is collections.abc.Sequence else ()
    return kind in _PLAIN or kind == Mapping[str, Any] or (len(listed) == 1 and listed[0] in _PLAIN)


def _is_of(value: Any, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in _PLAIN:
        return isinstance(value, kind)
    if kind == Mapping[str, Any]:
        return isinstance(value, dict)
    return isinstance(value, list) and all(_is_of(v, typing.get_args(kind)[0]) for v in value)


def _named(hint: Any) -> str:
    """Return a type as it is written, without the modules that its parts come from."""
    text = hint.__name__ if hint in _PLAIN else str(hint)
    return re.sub(r"\b(?:\w+\.)+", "", text)


def root_cause(error: BaseException) -> str:
    """Return the first line of what an error was raised from, without a full stop."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, SystemExit):
        return "its module ends the program when it is imported"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
