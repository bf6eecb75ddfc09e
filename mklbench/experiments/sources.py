"""Code of a user's own, whose content is part of a run's key.

An algorithm or a kernel of ours says by its `VERSION` that its numbers have moved. Code from
outside has no such discipline.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import mklbench
from mklbench.own_code import is_installed

_LENGTH = 10
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# What modules were when they were imported: what is edited later is not what runs. With the spec,
# which is another one if a module is imported again.
_IMPORTED: dict[str, tuple[ModuleSpec, bytes]] = {}


def outside(config: Mapping[str, Any]) -> str | None:
    """Return a digest of the code from outside that an algo or kernel config names, if any.

    It is of the whole module of each callable and of all that this imports, directly or not, of
    modules which are neither installed nor ours. Comments, docstrings and layout do not count.
    """
    waiting, found = [name for name in _modules(config) if not _is_known(name)], {}
    while waiting:
        name = waiting.pop()
        content = None if name in found else _content(name)
        if content is None:
            continue
        tree = _tree(content)
        found[name] = hashlib.sha256(content if tree is None else ast.dump(tree).encode())
        if tree is not None:
            waiting += [other for other in _imports(tree, name) if not _is_known(other)]
    if not found:
        return None
    digests = sorted(digest.hexdigest() for digest in found.values())
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[:_LENGTH]


def _modules(node: Any) -> Iterator[str]:
    """Yield the modules of the callables that a config names by ``_target_``, at any depth."""
    if isinstance(node, Mapping):
        target = node.get("_target_")
        if isinstance(target, str):
            yield target.rpartition(".")[0]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _modules(item)


def _tree(content: bytes) -> ast.Module | None:
    """Return the syntax tree of a module without its docstrings; None of a compiled one."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _imports(tree: ast.Module, name: str) -> Iterator[str]:
    """Yield the modules that a module may import anywhere, inside of functions as well."""
    spec = _spec(name)
    is_package = spec is not None and spec.submodule_search_locations is not None
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                origin = ".".join([*parents, *filter(None, [node.module])])
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def _content(name: str) -> bytes | None:
    spec = _spec(name)
    if spec is None or not spec.has_location or not spec.origin or not Path(spec.origin).is_file():
        return None
    known = _IMPORTED.get(name)
    if known is None or known[0] is not spec:
        _IMPORTED[name] = spec, Path(spec.origin).read_bytes()
    return _IMPORTED[name][1]


def _spec(name: str) -> ModuleSpec | None:
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # its parent is no package, or not there
        return None


@cache
def _is_known(name: str) -> bool:
    """Tell whether a module is ours, of the standard library or installed."""
    top = name.partition(".")[0]
    if not top or top == mklbench.__name__ or top in sys.stdlib_module_names:
        return True
    spec = _spec(top)
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location else [*(spec.submodule_search_locations or ())]
    return any(is_installed(place) for place in places if place)
