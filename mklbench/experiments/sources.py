"""Which code a result comes from: the fingerprint of a cell's sources, and code from outside.

A record says by digests which sources its numbers ran through, so that a table can tell which of
them the code at hand has made. They are no part of a cell's key: who edits a docstring, or speeds
something up, must not forget days of results; `VERSION` of an algorithm says that numbers moved.
Code from outside of this package has no such discipline, and its content is part of the key.
"""

from __future__ import annotations

import hashlib
import importlib.util
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import mklbench
from mklbench.experiments.modules import WHOLE, Definition, Module, Reference

_PACKAGE = mklbench.__name__
_DIRECTORY = Path(mklbench.__file__).resolve().parent

# What stands between a data set and a record, whatever the algorithm and the kernel.
_RUNNER: tuple[Reference, ...] = (
    ("mklbench.data.splits", "random_split"),
    ("mklbench.experiments.evaluation", "_run_split"),
    ("mklbench.experiments.evaluation", "run_selection"),
)
# What a number does not run through: it is told by the key (configs, data), or it tells of the
# number (where, when, by which code), or of mistakes.
_APART = (
    "mklbench.config",
    "mklbench.data",
    "mklbench.errors",
    "mklbench.experiments.cell",
    "mklbench.experiments.evaluation._ended",
    "mklbench.experiments.modules",
    "mklbench.experiments.provenance",
    "mklbench.experiments.record",
    "mklbench.experiments.sources",
    "mklbench.experiments.stages",
    "mklbench.interruption",
    "mklbench.resources",
)
_NOT_APART = ("mklbench.data.preprocessing", "mklbench.data.splits")

# Functions beside that of an algorithm that are looked up in its module.
_BESIDE = ("solve_all", "solve_path")

_LENGTH = 10


def fingerprint(config: Mapping[str, Any]) -> dict[str, str]:
    """Return digests of the sources that a cell's numbers run through.

    Parameters
    ----------
    config : mapping of str to object
        Of the cell, with the groups ``algo`` and ``kernel``.

    Returns
    -------
    dict
        ``algorithm`` and ``kernel``, what the two callables use, directly or not, wherever it
        stands; ``runner``, what every cell uses. Of a module only what is really used counts, so
        that a new kernel leaves the sources of the others as they are; and only what computes:
        not docstrings, comments, layout and the wording of errors, nor in which module something
        stands.
    """
    algo, kernel = (tuple(_targets(config[group])) for group in ("algo", "kernel"))
    beside = tuple((module, name) for module, _ in algo for name in _BESIDE if _has(module, name))
    return {
        "algorithm": _digest_of((*algo, *beside)),
        "kernel": _digest_of(kernel),
        "runner": _digest_of(_RUNNER),
    }


def outside(config: Mapping[str, Any]) -> str | None:
    """Return a digest of the code from outside that an algo or kernel config names, if any.

    It is of the whole module of each callable and of all that this imports, directly or not, of
    modules which are neither installed nor ours.
    """
    modules = dict.fromkeys(module for module, _ in _targets(config))
    waiting = [name for name in modules if not _is_ours(name) and not _is_standard(name)]
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        module = None if name in found else _outside_module(name)
        if module is None:
            continue
        found[name] = module.digest
        for origin, imported in module.imported():
            waiting += [n for n in (origin, f"{origin}.{imported}") if _is_users_own(n)]
    return _joined(found.values()) if found else None


@cache
def _digest_of(roots: tuple[Reference, ...]) -> str:
    return _joined({definition.digest for definition in _reached(roots)})


def _joined(digests: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(sorted(digests)).encode()).hexdigest()[:_LENGTH]


def _reached(roots: Iterable[Reference]) -> Iterator[Definition]:
    """Yield the statements that `roots` are made of and whatever these mention, each once."""
    waiting, seen, yielded = list(roots), set[Reference](), set[int]()
    while waiting:
        reference = waiting.pop()
        if reference in seen:
            continue
        seen.add(reference)
        resolved = _resolve(*reference)
        if resolved is None:
            continue
        module, name = resolved
        for definition in module.parts(name):
            if id(definition) in yielded:
                continue
            yielded.add(id(definition))
            yield definition
            for origin, used in definition.references:
                if origin is not None:
                    waiting.append((origin, used))
                elif used in module.definitions:
                    waiting.append((module.name, used))


def _resolve(origin: str, name: str) -> tuple[Module, str] | None:
    """Return the module that defines what is called `name` in `origin`; None if it is apart."""
    if not _counts(origin) and not _counts(f"{origin}.{name}"):
        return None
    module = _module(origin)
    if module is None:  # `origin` may be a class in a module
        parent, _, last = origin.rpartition(".")
        return _resolve(parent, last) if parent else None
    if not _is_ours(origin):
        return module, WHOLE
    if name == WHOLE or name in module.definitions:
        return (module, name) if _counts(f"{origin}.{name}") else None
    if name in module.imports:
        return _resolve(*module.imports[name])
    if (below := _module(f"{origin}.{name}")) is not None:
        return below, WHOLE
    return module, WHOLE  # it is bound in some other way


def _counts(dotted: str) -> bool:
    """Tell whether a number may run through a module, or a name in it."""
    if not _is_ours(dotted):
        return _is_users_own(dotted)
    return _is_below(dotted, _NOT_APART) or not _is_below(dotted, _APART)


def _is_below(dotted: str, parents: Iterable[str]) -> bool:
    return any(dotted == parent or dotted.startswith(f"{parent}.") for parent in parents)


def _is_ours(name: str) -> bool:
    return _is_below(name, [_PACKAGE])


def _has(module: str, name: str) -> bool:
    found = _module(module)
    return found is not None and name in found.definitions


def _targets(node: Any) -> Iterator[Reference]:
    """Yield the callables that a config names by ``_target_``, at any depth."""
    if isinstance(node, Mapping):
        target = node.get("_target_")
        if isinstance(target, str):
            module, _, name = target.rpartition(".")
            yield module, name
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _targets(item)


def _module(name: str) -> Module | None:
    return _our_module(name) if _is_ours(name) else _outside_module(name)


@cache
def _our_module(name: str) -> Module | None:
    place = _DIRECTORY.joinpath(*name.split(".")[1:])
    is_package = place.is_dir()
    path = place / "__init__.py" if is_package else place.with_suffix(".py")
    if not path.is_file():
        return None
    return Module(name, _text(path), is_package=is_package)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# Modules from outside by name, each as it was when it was imported: what is edited later is not
# what runs. With the spec, which is another one if it is imported again.
_IMPORTED: dict[str, tuple[ModuleSpec, Module | None]] = {}


def _outside_module(name: str) -> Module | None:
    spec = _spec(name)
    if spec is None:
        return None
    known = _IMPORTED.get(name)
    if known is None or known[0] is not spec:
        _IMPORTED[name] = spec, _read(name, spec)
    return _IMPORTED[name][1]


def _spec(name: str) -> ModuleSpec | None:
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # its parent is no package, or not there
        return None


def _read(name: str, spec: ModuleSpec) -> Module | None:
    path = Path(spec.origin) if spec.has_location and spec.origin else None
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    try:
        source = importlib.util.decode_source(content)
        return Module(name, source, is_package=spec.submodule_search_locations is not None)
    except (SyntaxError, ValueError):  # a compiled extension
        return Module(name, f"content = {hashlib.sha256(content).hexdigest()!r}")


def _is_users_own(name: str) -> bool:
    """Tell whether a module is neither ours nor installed; for names in a module as well."""
    top = name.partition(".")[0]
    if not top or top == _PACKAGE or top in sys.stdlib_module_names:
        return False
    spec = _spec(top)
    if spec is None:
        return False
    if spec.has_location and spec.origin:
        return not _is_installed(spec.origin)
    places = list(spec.submodule_search_locations or ())  # of a package without __init__.py
    return bool(places) and not _is_installed(places[0])


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


@cache
def _is_installed(place: str) -> bool:
    """Tell whether a file is of an installed package or of the standard library."""
    paths = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {*site.getsitepackages(), site.getusersitepackages()}
    resolved = Path(place).resolve()
    return any(resolved.is_relative_to(Path(path).resolve()) for path in paths)
