"""Tables and sentences as wide as the terminal, broken between words only."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence

_GAP = 2
# By which tabulate makes a column wider than its heading.
_PADDING = 2


def width(default: int = 0) -> int | None:
    """Return how many characters a line may have; None where there is no terminal.

    Parameters
    ----------
    default : int, default=0
        What it is where there is none; 0 for no limit.
    """
    return shutil.get_terminal_size((default, 0)).columns or None


def wrapped(text: str, width: int | None, indent: int = 0) -> str:
    """Return a text in lines of this width, all but the first indented.

    Parameters
    ----------
    text : str
        The text.
    width : int or None
        Of the lines; None for one line.
    indent : int, default=0
        Blanks before the lines.
    """
    if width is None or len(text) <= width:
        return text
    return "\n".join(_lines(text, width, indent))


def table(
    headings: Sequence[str],
    body: Sequence[Sequence[str]],
    width: int | None,
    *,
    wraps: Mapping[str, int] | None = None,
    spared: Sequence[str] = (),
    numbers: bool = False,
) -> tuple[str, list[str]]:
    """Return a table that has room, and the headings of columns for which there was none.

    Parameters
    ----------
    headings : sequence of str
        Of the columns.
    body : sequence of sequence of str
        The lines.
    width : int or None
        How wide it may be; None for any width.
    wraps : mapping of str to int or None, default=None
        Columns whose cells may have several lines, and how wide they are at least.
    spared : sequence of str, default=()
        Columns that are left out if there is no room, the first of them first.
    numbers : bool, default=False
        Whether columns of numbers are aligned as such.
    """
    from tabulate import tabulate

    wraps = wraps or {}
    columns = {name: [line[j] for line in body] for j, name in enumerate(headings)}
    natural = {name: max(len(name) + _PADDING, *map(len, cells)) for name, cells in columns.items()}
    least = {
        name: max(len(name) + _PADDING, wraps[name], *map(_longest_word, cells))
        for name, cells in columns.items()
        if name in wraps
    }
    least = natural | {name: min(size, natural[name]) for name, size in least.items()}
    left_out = []
    for name in spared:
        too_wide = width is not None and _total(least[one] for one in columns) > width
        if name in columns and too_wide:
            left_out.append(name)
            del columns[name]
    wide = {name: natural[name] for name in columns}
    while width is not None and _total(wide.values()) > width:
        spare = {name: size for name, size in wide.items() if size > least[name]}
        if not spare:
            break
        wide[max(spare, key=lambda name: spare[name])] -= 1
    shown = [
        [name, *("\n".join(_lines(cell, wide[name])) if name in wraps else cell for cell in cells)]
        for name, cells in columns.items()
    ]
    heads, *lines = zip(*shown, strict=True)
    return tabulate(lines, heads, disable_numparse=not numbers), left_out


def _lines(text: str, width: int, indent: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _total(widths: Iterable[int]) -> int:
    return sum(size + _GAP for size in widths) - _GAP
