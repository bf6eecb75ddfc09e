"""Public docstrings are numpydoc: every parameter has its name, its type and what it means."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from numpydoc.validate import validate

import mklbench
import mklbench.algorithms
import mklbench.displays
import mklbench.kernels
from mklbench.libsvm import SVM, SVR

# No docstring; a parameter that is missing, unknown, in another order, without a type or without a
# description, or whose colon has no space before it; a result without a description; a section
# that is not known, empty, or out of place; no summary, or one that goes on in a second line.
CHECKS = {
    "GL06", "GL07", "GL08", "PR01", "PR02", "PR03", "PR04", "PR07", "PR10", "RT03", "SS01", "SS06",
}  # fmt: skip

MODULES = ("certify", "multiclass", "solution", "testing")


def public(module: ModuleType) -> Iterator[str]:
    """Yield the names of what a module offers: all that it lists, or defines without underscore."""
    listed = getattr(module, "__all__", None)
    for name in listed or sorted(vars(module)):
        item = getattr(module, name)
        if not (inspect.isclass(item) or inspect.isfunction(item)):
            continue
        if listed or (item.__module__ == module.__name__ and not name.startswith("_")):
            yield from with_methods(f"{module.__name__}.{name}", item)


def with_methods(name: str, item: Any) -> Iterator[str]:
    """Yield the name of a function or class, and those of its methods, inherited ones included.

    Without those that do what a method of the same name of a base class says, and say no more.
    """
    yield name
    for base in item.__mro__ if inspect.isclass(item) else ():
        if base.__module__.split(".")[0] != "mklbench":
            continue
        for method, member in sorted(vars(base).items()):
            function = getattr(member, "__func__", member)  # of a class method
            if method.startswith("_") or not inspect.isfunction(function):
                continue
            if function.__doc__ or not inspect.getdoc(getattr(base, method)):
                yield f"{base.__module__}.{base.__name__}.{method}"


def names() -> list[str]:
    """Return the dotted names of all that is public."""
    found = [*public(mklbench), *public(mklbench.displays), *public(mklbench.kernels)]
    for algorithm in pkgutil.iter_modules(mklbench.algorithms.__path__):
        found.append(f"mklbench.algorithms.{algorithm.name}.solve")
    for name in MODULES:
        found += public(importlib.import_module(f"mklbench.{name}"))
    found.append("mklbench.records")
    for learner in (SVM, SVR):
        found += with_methods(f"{learner.__module__}.{learner.__name__}", learner)
    return sorted(set(found))


@pytest.mark.parametrize("name", names())
def test_docstring_is_numpydoc(name: str) -> None:
    found = [f"{code} {text}" for code, text in validate(name)["errors"] if code in CHECKS]
    assert not found, "\n".join([name, *found])
