"""Reading configs: from a plain mapping to a dataclass, by the type hints of its fields.

pydantic, msgspec and cattrs read the same hints, but what they say of a wrong value is their own:
no remedy, no nearest names and, but for pydantic, not even the value. To get this program's
sentences from them takes as many own converters and sentences as stand here and beside the
schemas, and saves the walk alone, which is `read` and `value`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from mklbench.errors import InputError, check_known

T = TypeVar("T")


@dataclass(frozen=True)
class Where:
    """The place of a value in a config, which every sentence names.

    Each package that reads configs has its own subclass: how it writes a place, and by which rule
    it reads a type.

    Attributes
    ----------
    parts : tuple of str
        The keys that lead to it, the first of them the name of the whole.
    rules : mapping of type hint to Rule
        How a type is read, where it is not by its structure.
    """

    parts: tuple[str, ...]
    rules: ClassVar[Mapping[Any, Rule]] = {}

    def __truediv__(self, key: object) -> Self:
        return type(self)((*self.parts, str(key)))

    def item(self, number: int) -> Self:
        """Return the place of one item of a list."""
        return type(self)((*self.parts[:-1], f"{self.parts[-1]}[{number}]"))

    def mapping(self, found: object) -> Mapping[Any, Any]:
        """Return `found` if it is a mapping, and refuse it if not."""
        if not isinstance(found, Mapping):
            raise InputError(f"{self}: expected a mapping, found {found!r}.")
        return found

    def items(self, found: object) -> Sequence[Any]:
        """Return `found` if it is a list, and refuse it if not."""
        if not isinstance(found, list):
            raise InputError(f"{self}={found!r} must be a list.")
        return found


Rule = Callable[[Any, Any], Any]  # of a value and its `Where`


@dataclass(frozen=True)
class Made:
    """How a field is made that no key of its own name holds.

    Attributes
    ----------
    by : callable or None
        Called with the mapping, its place and the fields before. None keeps the default of the
        field: it is no option.
    keys : tuple of str
        The keys that it reads.
    """

    by: Callable[[Mapping[Any, Any], Any, Mapping[str, Any]], Any] | None = None
    keys: tuple[str, ...] = ()


def read(
    kind: type[T],
    found: object,
    where: Where,
    *,
    defaults: Mapping[str, Any] | None = None,
    made: Mapping[str, Made] | None = None,
) -> T:
    """Read a dataclass from a plain mapping.

    The rule of a single field stands in its hint, as ``Annotated[type, rule]``. A key that is left
    out takes its default, and one that has none is read as None.

    Parameters
    ----------
    kind : type
        The dataclass.
    found : mapping
        What the config has at this place.
    where : Where
        The place.
    defaults : mapping of str, optional
        Values of fields whose keys are left out, in place of their own defaults.
    made : mapping of str to Made, optional
        The fields that are not read from a key of their own name.

    Returns
    -------
    kind
        An instance, its fields read in their order.

    Raises
    ------
    InputError
        For what is no mapping, an unknown key or a value that cannot be accepted.
    """
    mapping, defaults, made = where.mapping(found), defaults or {}, made or {}
    schema: Any = kind
    keys = _keys(schema, made)
    check_known(f"{where}: key", mapping, keys)
    done: dict[str, Any] = {}
    hints = _hints(schema)
    for item in fields(schema):
        making = made.get(item.name)
        if making is not None and making.by is not None:
            done[item.name] = making.by(mapping, where, done)
        elif making is None and item.name in mapping:
            done[item.name] = value(hints[item.name], mapping[item.name], where / item.name)
        elif item.name in defaults:
            done[item.name] = defaults[item.name]
        elif item.default is MISSING and item.default_factory is MISSING:
            done[item.name] = value(hints[item.name], None, where / item.name)
    return kind(**done)


def value(hint: Any, found: Any, where: Where) -> Any:
    """Read one value by its type hint.

    Raises
    ------
    InputError
        If it cannot be accepted.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return arguments[1](found, where)
    if hint in where.rules:
        return where.rules[hint](found, where)
    if hint is Any:
        return found
    if origin in (Union, types.UnionType) and types.NoneType in arguments:
        (inner,) = (kind for kind in arguments if kind is not types.NoneType)
        return None if found is None else value(inner, found, where)
    if origin is Literal:
        check_known(str(where), [found], arguments)
        return found
    if origin is tuple:
        return tuple(
            value(arguments[0], item, where.item(number))
            for number, item in enumerate(where.items(found))
        )
    if origin is not None:  # of the hints in use, a mapping
        inside = where.mapping(found).items()
        return {str(key): value(arguments[1], item, where / key) for key, item in inside}
    return read(hint, found, where)


def flag(found: Any, where: Where) -> bool:
    """Read a truth value."""
    if not isinstance(found, bool):
        raise InputError(f"{where}={found!r} must be true or false.")
    return found


def _keys(kind: type, made: Mapping[str, Made]) -> tuple[str, ...]:
    """Return the keys that a mapping read as a dataclass may have."""
    names = (item.name for item in fields(kind))
    return tuple(key for name in names for key in (made[name].keys if name in made else (name,)))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)
