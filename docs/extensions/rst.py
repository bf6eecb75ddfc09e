"""The few forms of reStructuredText that the written pages consist of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NO_BREAK = "\u00a0"


def heading(text: str, mark: str) -> list[str]:
    """Return the lines of a heading."""
    return [text, mark * len(text), ""]


def literal(lines: Iterable[str], language: str) -> list[str]:
    """Return the lines of a block of code."""
    return [f".. code-block:: {language}", "", *(f"   {line}".rstrip() for line in lines), ""]


def table(rows: Iterable[Sequence[str]], title: str = "") -> list[str]:
    """Return the lines of a table, the first row being its header."""
    lines = [f".. list-table:: {title}".rstrip(), "   :header-rows: 1", ""]
    for cells in rows:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(cells)]
    return [*lines, ""]


def listing(names: Iterable[str]) -> list[str]:
    """Return the lines of a table of contents that is not shown."""
    return [".. toctree::", "   :hidden:", "", *(f"   {name}" for name in names), ""]
