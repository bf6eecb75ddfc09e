"""Cases of `pytest.mark.parametrize` of which `make test` runs some, and `make test-all` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def rest_slow(values: Iterable[Any], *quick: Any) -> list[Any]:
    """Return the values, or tuples of several, as cases that are slow but for those named."""
    return [value if value in quick else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    several = value if isinstance(value, tuple) else (value,)
    return pytest.param(*several, marks=pytest.mark.slow)
