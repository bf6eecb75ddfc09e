"""Python modules as text: what each defines, what it takes from others, digests of both.

Nothing is imported here. A digest is of the syntax tree, without docstrings, comments, layout and
the wording of what is raised: what is left is what computes. It is the same under every Python.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# The name that stands for everything a module defines.
WHOLE = "*"

# Where a name is defined: a module, and a name in it or `WHOLE`.
Reference = tuple[str, str]

_IMPORTS = (ast.Import, ast.ImportFrom)
# The statements whose bodies may begin with a docstring.
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Definition:
    """A statement on the top level of a module.

    Attributes
    ----------
    node : stmt
        Its syntax tree.
    package : str
        What relative imports in it start from.
    known : mapping of str to Reference
        What names mean that the module imports.
    """

    node: ast.stmt
    package: str
    known: Mapping[str, Reference]

    @cached_property
    def digest(self) -> str:
        """Digest of the syntax tree; neither the module nor the place in it changes it."""
        return _digest([self.node])

    @cached_property
    def imports(self) -> dict[str, Reference]:
        """What the statement itself imports: that of a function, when it is called."""
        return _imported_by(self._mentioned[1], self.package)

    @cached_property
    def references(self) -> frozenset[tuple[str | None, str]]:
        """What the statement mentions: (module, name), with None for the module it is in.

        Of modules that are imported these are the attributes that are used.
        """
        known = {**self.known, **self.imports}
        return frozenset(
            _meaning(known[chain[0]], chain[1:]) if chain[0] in known else (None, chain[0])
            for chain in self._mentioned[0]
        )

    @cached_property
    def _mentioned(self) -> tuple[set[tuple[str, ...]], list[ast.AST]]:
        return _mentions(self.node)


class Module:
    """One module, from its source.

    Parameters
    ----------
    name : str
        Dotted name.
    source : str
        Its text.
    is_package : bool, default=False
        Whether it is the ``__init__`` of a package.

    Attributes
    ----------
    name : str
        As given.
    imports : dict of str to Reference
        Name -> what it is imported from, on the top level.
    definitions : dict of str to list of Definition
        Name -> the statements that bind it.
    always : list of Definition
        The other statements: whoever uses any part of the module has run them.

    Raises
    ------
    SyntaxError
        If the text is no Python.
    """

    def __init__(self, name: str, source: str, *, is_package: bool = False) -> None:
        self.name = name
        self.imports: dict[str, Reference] = {}
        self.definitions: dict[str, list[Definition]] = {}
        self.always: list[Definition] = []
        self._body = _without_docstring(ast.parse(source).body)
        package = name if is_package else name.rpartition(".")[0]
        for statement in self._body:
            self._add(statement, package)

    def _add(self, statement: ast.stmt, package: str) -> None:
        if _is_for_type_checkers(statement):
            return
        if not isinstance(statement, _DOCUMENTED):  # what these import is theirs
            self.imports |= _imported_by(_mentions(statement)[1], package)
        names = _bound(statement)
        if isinstance(statement, _IMPORTS) or names == ["__all__"]:
            return
        definition = Definition(statement, package, self.imports)
        for name in names:
            self.definitions.setdefault(name, []).append(definition)
        if not names:
            self.always.append(definition)

    @cached_property
    def digest(self) -> str:
        """Digest of the whole module."""
        return _digest(self._body)

    def parts(self, name: str) -> list[Definition]:
        """Return the statements behind a name of the module, or behind all of them."""
        if name == WHOLE:
            return [part for parts in self.definitions.values() for part in parts] + self.always
        return [*self.definitions[name], *self.always]

    def imported(self) -> Iterator[Reference]:
        """Yield whatever is imported anywhere in the module, inside of functions as well."""
        yield from self.imports.values()
        for part in self.parts(WHOLE):
            yield from part.imports.values()


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    documented = isinstance(first, ast.Expr) and _is_text(first.value)
    return body[1:] if documented else body


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_for_type_checkers(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If):
        return False
    test = _dotted(statement.test)
    return test is not None and test[-1] == "TYPE_CHECKING"


def _bound(statement: ast.stmt) -> list[str]:
    """Return the names that a statement on the top level binds once and for all."""
    if isinstance(statement, _DOCUMENTED):
        return [statement.name]
    targets: Iterable[ast.expr] = ()
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    nodes = [node for target in targets for node in ast.walk(target)]
    if not all(
        isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context)) for node in nodes
    ):
        return []  # an assignment to an attribute or an item changes something else
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _mentions(statement: ast.AST) -> tuple[set[tuple[str, ...]], list[ast.AST]]:
    """Return the names in a statement with the attributes asked of them, and its imports."""
    chains: set[tuple[str, ...]] = set()
    imports: list[ast.AST] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            chains.add((node.id,))
        elif isinstance(node, _IMPORTS):
            imports.append(node)
        elif isinstance(node, ast.Attribute) and (chain := _dotted(node)) is not None:
            chains.add(tuple(chain))
        else:
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    waiting += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    waiting.append(value)
    return chains, imports


def _meaning(origin: Reference, attributes: tuple[str, ...]) -> Reference:
    """Return what the attributes of something imported are."""
    if not attributes:
        return origin
    module, name = origin
    return ".".join([module, *([] if name == WHOLE else [name]), *attributes[:-1]]), attributes[-1]


def _imported_by(nodes: Iterable[ast.AST], package: str) -> dict[str, Reference]:
    """Return what import statements bind."""
    found: dict[str, Reference] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:  # `import a.b` binds a, `import a.b as c` binds a.b
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = (whole, WHOLE)
        elif isinstance(node, ast.ImportFrom):
            origin = _absolute(node, package)
            for alias in node.names:
                found[alias.asname or alias.name] = (origin, alias.name)
    return found


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the dotted name of the module that is imported from."""
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    base = ".".join(parents[: len(parents) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


def _dotted(node: ast.expr) -> list[str] | None:
    """Return the names of a chain a.b.c, or None if it does not begin with a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def _digest(nodes: list[ast.stmt]) -> str:
    text: list[str] = []
    for node in nodes:
        _write(node, text, raised=False)
    return hashlib.sha256("".join(text).encode("utf-8", "surrogatepass")).hexdigest()


def _write(node: Any, text: list[str], *, raised: bool) -> None:
    """Write a syntax tree without what computes nothing; empty fields differ between Pythons."""
    if isinstance(node, list):
        for item in node:
            _write(item, text, raised=raised)
        return
    if isinstance(node, ast.Constant) and node.value == "":  # some Pythons end a format with it
        return
    if not isinstance(node, ast.AST):
        text.append(repr(node))
        return
    if raised and (isinstance(node, ast.JoinedStr) or _is_text(node)):
        text.append("wording")
        return
    raised = raised or isinstance(node, ast.Raise)
    text.append(type(node).__name__ + "(")
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in ("kind", "type_comment"):
            continue
        if name == "body" and isinstance(node, _DOCUMENTED):
            value = _without_docstring(value)
        text.append(name + "=")
        _write(value, text, raised=raised)
    text.append(")")
