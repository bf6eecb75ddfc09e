"""How the values of a data configuration are read, and what is said of wrong ones.

Every rule takes a value and its place, and raises an `InputError` that names both.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from mklbench.data.preprocessing import ScalingName
from mklbench.errors import InputError, unknown
from mklbench.reader import Rule, Where, flag, value

LARGEST = 2**63 - 1

ColumnReference = str | int

# What is asked for where a mapping is needed, by its key.
_MAPPINGS = {
    "splits": "be a mapping with n_train, n_test, ....",
    "expected": "be a mapping with n_samples, digest, ....",
    "official": "be a mapping with mirror, url, ....",
    "classes": "map each label to its count.",
    "label_names": "map labels of the file to labels.",
}


def text(found: Any, where: Where) -> str:
    """Read a text."""
    if found is None:
        raise InputError(f"{where} is not set, and it is needed.")
    if not isinstance(found, str):
        shown = str(found).replace("'", "").replace(", ", ",")
        raise InputError(
            f"{where}={shown} must be text: quote what would be read as something else, as in "
            f"'{where}=\"{shown}\"'."
        )
    return found


def optional_text(found: Any, where: Where) -> str | None:
    """Text or None; a number counts as its text, so that ``data.positive=1`` needs no quotes."""
    if found is None or isinstance(found, str):
        return found
    if isinstance(found, numbers.Real) and not isinstance(found, bool):
        return str(found)
    raise InputError(f"{where}={found!r} must be text or null.")


def texts(found: Any, where: Where) -> tuple[str, ...]:
    """Read a list of texts."""
    entries = where.items(found)
    for entry in entries:
        if not isinstance(entry, str):
            raise InputError(f"{where} holds {entry!r}, which is not text.")
    return tuple(entries)


def column(found: Any, where: Where) -> ColumnReference:
    """Read a reference to a column: its name, or its number from 1."""
    if isinstance(found, bool) or not isinstance(found, str | int) or found in ("", 0):
        raise InputError(f"{where}={found!r} is not a column: give its name or its number, from 1.")
    return found


def columns(found: Any, where: Where) -> Any:
    """Read "onehot", or references to columns, or None."""
    if found is None or found == "onehot":
        return found
    if isinstance(found, str | int):
        return (column(found, where),)
    return tuple(column(item, where) for item in where.items(found))


def set_name(found: Any, where: Where) -> str:
    """Read the name of a set, which is also that of directories."""
    name = text(found, where)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise InputError(
            f"{where}={name!r} must start with a letter or digit and go on with letters, digits, "
            f"'_', '-' or '.'."
        )
    return name


def delimiter(found: Any, where: Where) -> str:
    """Read a delimiter; a tab may be written as elsewhere, for no shell takes it easily."""
    stated = text(found, where)
    stated = "\t" if stated in ("\\t", "tab") else stated
    if stated not in ("whitespace", "auto") and (len(stated) != 1 or stated in '"\r\n'):
        raise InputError(
            f"{where}={stated!r} must be one character, not a quote, or "
            f"'whitespace', or 'auto': what the shell or Hydra would take for its own is quoted "
            f"twice, as in '{where}=\";\"'."
        )
    return stated


def scaling(found: Any, where: Where) -> Any:
    """Read the name of a scaling."""
    return value(ScalingName, text(found, where), where)


def header(found: Any, where: Where) -> Any:
    """Read whether there is a header."""
    if isinstance(found, bool) or found == "auto":
        return found
    raise InputError(f"{where}={found!r} must be true, false or auto.")


@dataclass(frozen=True)
class Whole:
    """The rule of a whole number from `least` to `most`."""

    least: int
    most: int = LARGEST

    def __call__(self, found: Any, where: Where) -> int:
        whole = isinstance(found, numbers.Integral) and not isinstance(found, bool)
        if not whole or found < self.least:
            raise InputError(f"{where}={found!r} must be a whole number of at least {self.least}.")
        if int(found) > self.most:
            raise InputError(f"{where}={found} must be a whole number of at most {self.most}.")
        return int(found)


FromZero = Annotated[int, Whole(0)]
FromOne = Annotated[int, Whole(1)]
Label = Annotated[str, lambda found, where: str(found)]  # a number is one, too


@dataclass(frozen=True)
class DataWhere(Where):
    """A place in a data configuration, named by its last key as in an override."""

    rules: ClassVar[Mapping[Any, Rule]] = {
        str: text,
        bool: flag,
        str | None: optional_text,
        tuple[str, ...]: texts,
        ColumnReference: column,
    }

    def __str__(self) -> str:
        return "data" if len(self.parts) == 1 else f"data.{self.parts[-1]}"

    def item(self, number: int) -> DataWhere:
        """Return the same place: the items of a list are not counted."""
        return self

    def mapping(self, found: object) -> Mapping[Any, Any]:
        """Return `found` if it is a mapping, and refuse it if not."""
        if isinstance(found, Mapping):
            return found
        if len(self.parts) == 1:
            raise InputError(f"data must be a mapping of options, not {type(found).__name__}.")
        if self.parts[-1] in _MAPPINGS:
            raise InputError(f"{'.'.join(self.parts)}={found!r} must {_MAPPINGS[self.parts[-1]]}")
        raise InputError(f"{self} holds {found!r} where it needs name and distance of a view.")

    def items(self, found: object) -> Sequence[Any]:
        """Return `found` if it is a list, an empty one for None, and refuse all else."""
        if found is None:
            return ()
        if isinstance(found, str) or not isinstance(found, Sequence):
            raise InputError(f"{self}={found!r} must be a list, as in {self}=[a,b].")
        return found

    def unknown_key(self, key: object, found: object, accepted: Iterable[str]) -> InputError:
        """Build the error for a key that is no option here."""
        return unknown(f"{'.'.join(self.parts)} option", key, accepted)

    def unknown_value(self, found: object, accepted: Iterable[str]) -> InputError:
        """Build the error for a value that is none of the accepted ones."""
        return unknown(".".join(self.parts), found, accepted)


DATA = DataWhere(("data",))
