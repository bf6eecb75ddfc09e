"""Tables and sentences as wide as the terminal, broken between words only."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

_GAP = 2
# By which tabulate makes a column wider than its heading.
_PADDING = 2
# What a column that may be narrowed keeps.
_LEAST = 12


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
    return textwrap.fill(
        text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def table(
    headings: Sequence[str],
    body: Sequence[Sequence[str]],
    width: int | None,
    *,
    wraps: Sequence[str] = (),
    spared: Sequence[str] = (),
    numbers: bool = False,
) -> str:
    """Return a table that has room, and below it which columns had none.

    Parameters
    ----------
    headings : sequence of str
        Of the columns.
    body : sequence of sequence of str
        The lines.
    width : int or None
        How wide it may be; None for any width.
    wraps : sequence of str, default=()
        Columns whose entries may have several lines.
    spared : sequence of str, default=()
        Columns that are left out if there is no room, the first of them first.
    numbers : bool, default=False
        Whether columns of numbers are aligned as such.
    """
    from tabulate import tabulate

    columns = {name: [line[j] for line in body] for j, name in enumerate(headings)}
    wide = {name: max(len(name) + _PADDING, *map(len, of)) for name, of in columns.items()}
    least = dict(wide)
    for name in wraps:
        words = (len(word) for entry in columns.get(name, ()) for word in entry.split())
        least[name] = min(wide.get(name, 0), max(len(name) + _PADDING, _LEAST, *words))
    room = sum(wide.values()) if width is None else width - _GAP * (len(columns) - 1)
    left_out = []
    for name in spared:
        if name in columns and sum(least[one] for one in columns) > room:
            left_out.append(name)
            del columns[name]
            room += _GAP
    while sum(wide[name] for name in columns) > room:
        spare = [name for name in columns if wide[name] > least[name]]
        if not spare:
            break
        wide[max(spare, key=lambda name: wide[name])] -= 1
    shown = [
        [name, *(wrapped(entry, wide[name]) for entry in of)] if name in wraps else [name, *of]
        for name, of in columns.items()
    ]
    heads, *lines = zip(*shown, strict=True)
    missing = sorted(left_out, key=list(headings).index)
    note = (
        f"\nNo room for {', '.join(missing)}: COLUMNS=200 makes the table wider." if missing else ""
    )
    return tabulate(lines, heads, disable_numparse=not numbers) + note
