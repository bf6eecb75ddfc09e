"""Parts of a YAML file, read with one-sentence messages for what is wrong in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from mklbench.errors import InputError, unknown


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


class Section:
    """A mapping of the YAML that knows where it stands and which of its keys were asked for."""

    def __init__(self, content: object, where: str) -> None:
        if not isinstance(content, Mapping):
            raise InputError(f"{where}: expected a mapping, found {content!r}.")
        self._content = dict(content)
        self._asked: list[str] = []
        self.where = where

    def get(self, key: str, default: Any = None) -> Any:
        self._asked.append(key)
        return self._content.get(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.get(key, default)
        if value is None or isinstance(value, Mapping | list):
            raise InputError(f"{self.where}: {key}={value!r} must be a text.")
        return " ".join(str(value).split())

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        value = self.get(key, list(default))
        if not isinstance(value, list) or any(isinstance(v, Mapping | list) for v in value):
            raise InputError(f"{self.where}: {key}={value!r} must be a list of texts.")
        return tuple(" ".join(str(item).split()) for item in value)

    def number(self, key: str, default: float | None = None) -> float:
        value = self.get(key, default)
        if not is_number(value) or value < 0:
            raise InputError(f"{self.where}: {key}={value!r} must be a number, 0 or more.")
        return float(value)

    def count(self, key: str, default: int | None = None) -> int:
        value = self.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{self.where}: {key}={value!r} must be a whole number, 1 or more.")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return the truth value of a key."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise InputError(f"{self.where}: {key}={value!r} must be true or false.")
        return value

    def section(self, key: str) -> Section:
        return Section(self.get(key, {}), f"{self.where}: {key}")

    def sections(self, key: str) -> list[Section]:
        value = self.get(key, [])
        if not isinstance(value, list):
            raise InputError(f"{self.where}: {key}={value!r} must be a list of mappings.")
        return [Section(item, f"{self.where}: {key}[{i}]") for i, item in enumerate(value)]

    def names(self) -> list[str]:
        """Return all keys and count them as asked for."""
        self._asked.extend(self._content)
        return list(self._content)

    def finish(self) -> None:
        """Refuse keys that nobody asked for: they are misspelt or out of place."""
        for key in self._content:
            if key not in self._asked:
                raise unknown(f"{self.where}: key", key, self._asked)
