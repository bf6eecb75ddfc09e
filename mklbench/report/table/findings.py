"""Sentences on what a table shows, with marks in place of numbers, which are looked up.

A mark is ``{measured ROW COLUMN PROTOCOL METRIC}`` or ``{published ROW COLUMN METRIC}``, a mean;
``{count match}``, and so for close, differs, judged, claims and held (the claims that hold), a
number of the table; ``{rank COLUMN}``, a mean rank over its rows; or ``{better COLUMN}`` and
``{worse COLUMN}``, the rows on which it is much better or worse than the table's baseline. A name
with a space stands in quotes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator

from mklbench.errors import InputError

COUNTS = ("match", "close", "differs", "judged", "claims", "held")

# The names that follow the first word of a mark.
_PARTS = {
    "measured": ("row", "column", "protocol", "metric"),
    "published": ("row", "column", "metric"),
    "rank": ("column",),
    "better": ("column",),
    "worse": ("column",),
    "count": ("count",),
}
_MARK = re.compile(r"\{([^{}]*)\}")


def check_marks(text: str, where: str) -> None:
    """Raise InputError for a mark that is none of those above."""
    for found in _MARK.finditer(text):
        kind, *names = _words(found[1]) or [""]
        if kind not in _PARTS or len(names) != len(_PARTS[kind]):
            known = ", ".join(f"{{{' '.join([word, *parts])}}}" for word, parts in _PARTS.items())
            raise InputError(f"{where}: {found[0]} in a finding must be one of {known}.")
        if kind == "count" and names[0] not in COUNTS:
            raise InputError(f"{where}: {found[0]} in a finding must count {', '.join(COUNTS)}.")


def names_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of a table that the marks of a sentence use: of what, and the name."""
    for found in _MARK.finditer(text):
        kind, *names = _words(found[1])
        if kind != "count":
            yield from zip(_PARTS[kind], names, strict=True)


def _words(mark: str) -> list[str]:
    """Split a mark at its spaces, but for those in quotes."""
    try:
        return shlex.split(mark)
    except ValueError:  # a quote without its other
        return []


def filled(text: str, value: Callable[[str, tuple[str, ...]], str]) -> str:
    """Return a sentence with what `value` gives for the kind and the names of each mark."""

    def of(found: re.Match[str]) -> str:
        kind, *names = _words(found[1])
        return value(kind, tuple(names))

    return _MARK.sub(of, text)
