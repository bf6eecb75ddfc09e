"""Values of a plain data configuration, each checked as it is read.

Every function raises an `InputError` that names the key and its value.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mklbench.data.schema import ColumnReference
from mklbench.errors import InputError, unknown

LARGEST = 2**63 - 1


def refuse_unknown(where: str, config: Mapping[str, Any], accepted: set[str]) -> None:
    """Raise InputError, with the nearest names, for a key that is not accepted."""
    for key in config:
        if key not in accepted:
            raise unknown(f"{where} option", key, accepted)


def name(config: Mapping[str, Any]) -> str:
    """The name, which is also that of directories."""
    name = text(config, "name")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise InputError(
            f"data.name={name!r} must start with a letter or digit and go on with letters, digits, "
            f"'_', '-' or '.'."
        )
    return name


def text(config: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """Return the text of a key, or the default; without one the key is needed."""
    value = config.get(key, default)
    if value is None:
        raise InputError(f"data.{key} is not set, and it is needed.")
    if not isinstance(value, str):
        shown = str(value).replace("'", "").replace(", ", ",")
        raise InputError(
            f"data.{key}={shown} must be text: quote what would be read as something else, as in "
            f"'data.{key}=\"{shown}\"'."
        )
    return value


def optional_text(config: Mapping[str, Any], key: str) -> str | None:
    """Text or None; a number counts as its text, so that ``data.positive=1`` needs no quotes."""
    value = config.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"data.{key}={value!r} must be text or null.")


def integer(
    config: Mapping[str, Any], key: str, default: int | None, *, least: int, most: int = LARGEST
) -> int:
    """Return the whole number of a key, or the default."""
    value = config.get(key, default)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InputError(f"data.{key}={value!r} must be a whole number of at least {least}.")
    if int(value) > most:
        raise InputError(f"data.{key}={value} must be a whole number of at most {most}.")
    return int(value)


def optional_integer(config: Mapping[str, Any], key: str, *, least: int) -> int | None:
    """Return the whole number of a key, or None."""
    return None if config.get(key) is None else integer(config, key, None, least=least)


def flag(config: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return the truth value of a key, or the default."""
    value = config.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"data.{key}={value!r} must be true or false.")
    return value


def sequence(config: Mapping[str, Any], key: str) -> Sequence[Any]:
    """Return the list of a key; an empty one if it is absent."""
    value = config.get(key)
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(f"data.{key}={value!r} must be a list, as in data.{key}=[a,b].")
    return value


def texts(config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the list of texts of a key."""
    values = sequence(config, key)
    for value in values:
        if not isinstance(value, str):
            raise InputError(f"data.{key} holds {value!r}, which is not text.")
    return tuple(values)


def column(value: Any, key: str) -> ColumnReference:
    """Return a reference to a column: its name, or its number from 1."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value in ("", 0):
        raise InputError(
            f"data.{key}={value!r} is not a column: give its name or its number, from 1."
        )
    return value
