"""How the values in the YAML of a paper table are read, and what is said of wrong ones.

Every rule takes a value and its place, and raises an `InputError` that names both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar

from mklbench.errors import InputError
from mklbench.reader import Rule, Where, flag, read, value
from mklbench.report.table.paper_table import Claim, Figure, known
from mklbench.report.table.verdict import Published

# A number as a paper prints it, in bold between pairs of asterisks.
_PRINTED = re.compile(r"(?P<bold>\*\*)?(?P<mean>\d+(?:\.(?P<digits>\d+))?)(?(bold)\*\*)")


def text(found: Any, where: Where) -> str:
    """Read a text; whatever is no list and no mapping is one."""
    if found is None or isinstance(found, Mapping | list):
        raise InputError(f"{where}={found!r} must be a text.")
    return " ".join(str(found).split())


def texts(found: Any, where: Where) -> tuple[str, ...]:
    """Read a list of texts."""
    if not isinstance(found, list) or any(isinstance(item, Mapping | list) for item in found):
        raise InputError(f"{where}={found!r} must be a list of texts.")
    return tuple(" ".join(str(item).split()) for item in found)


def number(found: Any, where: Where) -> float:
    """Read a finite number that is not negative."""
    if not _is_number(found) or found < 0:
        raise InputError(f"{where}={found!r} must be a number, 0 or more.")
    return float(found)


def numbers(found: Any, where: Where) -> tuple[float, ...]:
    """Read a list of one or more numbers, whole ones as such."""
    if not isinstance(found, list) or not found or not all(map(_is_number, found)):
        raise InputError(f"{where}={found!r} must be a list of numbers.")
    return tuple(found)


def count(found: Any, where: Where) -> int:
    """Read a whole number of at least 1."""
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise InputError(f"{where}={found!r} must be a whole number, 1 or more.")
    return found


def published(found: Any, where: Where) -> dict[tuple[str, str, str], Published]:
    """Read ``row: {column: {metric: [mean, std] or [mean]}}``."""
    tree = value(Mapping[str, Mapping[str, Mapping[str, Published]]], found, where)
    return {
        (row, column, metric): number
        for row, of_row in tree.items()
        for column, of_column in of_row.items()
        for metric, number in of_column.items()
    }


def published_number(found: Any, where: Where) -> Published:
    """Read ``[mean, std]`` or ``[mean]``; a mean in quotes keeps its digits, and may be bold.

    So ``["34.40"]`` is printed with its last digit, and ``["**86.6**", 3.4]`` in bold.
    """
    fits = isinstance(found, list) and len(found) in (1, 2)
    printed = _PRINTED.fullmatch(found[0]) if fits and isinstance(found[0], str) else None
    values = [float(printed["mean"]), *found[1:]] if printed else found
    if not fits or not all(map(_is_number, values)):
        raise InputError(f"{where}={found!r} must be [mean] or [mean, std].")
    mean, std = float(values[0]), float(values[1]) if len(values) == 2 else None
    if printed is None:
        return Published(mean, std)
    return Published(mean, std, len(printed["digits"] or ""), printed["bold"] is not None)


def figure(found: Any, where: Where) -> Figure:
    """Read a figure of its kind."""
    mapping = where.mapping(found)
    name, kind = (value(str, mapping.get(key), where / key) for key in ("name", "kind"))
    known(f"{where.parts[0]}: kind of figure {name}", kind, Figure.kinds)
    return read(Figure.kinds[kind], mapping, where)


def claim(found: Any, where: Where) -> Claim:
    """Read a claim of its kind."""
    mapping = where.mapping(found)
    if (mapping.get("at_most") is None) == (mapping.get("at_least") is None):
        raise InputError(f"{where}: give either at_most or at_least, and not both.")
    kind = value(str, mapping.get("kind"), where / "kind")
    known(f"{where.parts[0]}: kind of a claim", kind, Claim.kinds)
    return read(Claim.kinds[kind], mapping, where)


def _is_number(found: object) -> bool:
    """Tell whether a value is a finite number, which true and false are not."""
    return isinstance(found, int | float) and not isinstance(found, bool) and isfinite(found)


class TableWhere(Where):
    """A place in the YAML of a table, named by its file and the keys that lead to it."""

    rules: ClassVar[Mapping[Any, Rule]] = {
        str: text,
        float: number,
        int: count,
        bool: flag,
        Published: published_number,
        Figure: figure,
        Claim: claim,
        tuple[str, ...]: texts,
        tuple[float, ...]: numbers,
        Mapping[tuple[str, str, str], Published]: published,
        # An empty one is as good as none.
        str | None: lambda found, where: text(found, where) or None,
        tuple[str, ...] | None: lambda found, where: texts(found, where) or None,
        Mapping[str, tuple[str, ...]] | None: lambda found, where: (
            value(Mapping[str, tuple[str, ...]], found, where) or None
        ),
    }

    def __str__(self) -> str:
        return ": ".join(self.parts)
