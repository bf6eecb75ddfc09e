"""What a test relies on being there, for the type checker too."""

from __future__ import annotations

from typing import TypeVar

_Value = TypeVar("_Value")


def present(value: _Value | None) -> _Value:
    """Return `value`, which is not None."""
    assert value is not None
    return value
