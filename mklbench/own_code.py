"""Where an error comes from that a module of the user's own has led to."""

from __future__ import annotations

import os
import re
import sysconfig
import traceback

# What is installed or belongs to Python is not the user's.
_OTHERS = (
    os.path.dirname(__file__) + os.sep,
    *(os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")),
)
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
# Frames of the user's that are shown.
_SHOWN = 3
_HEAD = "Traceback (most recent call last):\n"


def is_own(path: str) -> bool:
    """Tell whether a file holds code of the user's."""
    return not (path.startswith(("<", *_OTHERS)) or _INSTALLED.search(path))


def place(error: BaseException) -> str | None:
    """Return where code of the user's was when an error came up, None if nowhere.

    Such as "mine.py, line 12, in solve".
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename)]
    if not own:
        return None
    return f"{os.path.basename(own[-1].filename)}, line {own[-1].lineno}, in {own[-1].name}"


def last_lines(text: str) -> str:
    """Return of a traceback the last lines of code of the user's, and the error; "" if none is.

    Parameters
    ----------
    text : str
        As `traceback.format_exc` gives it.
    """
    last = text.rpartition(_HEAD)[2]
    _, *frames = re.split(r"^(?=  File \")", last, flags=re.MULTILINE)
    if not frames:
        return ""
    *lines, error = re.split(r"^(?=\S)", frames[-1], maxsplit=1, flags=re.MULTILINE)
    frames[-1] = "".join(lines)
    own = [frame for frame in frames if is_own(frame.split('"')[1])]
    return "".join([*own[-_SHOWN:], error]).rstrip("\n") if own else ""
