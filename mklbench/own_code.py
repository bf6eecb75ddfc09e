"""Where an error comes from that a module of the user's own has led to."""

from __future__ import annotations

import os
import re
import site
import sysconfig
import traceback
from functools import cache
from pathlib import Path

_OURS = os.path.dirname(__file__) + os.sep
# Frames of the user's that are shown.
_SHOWN = 3
_HEAD = "Traceback (most recent call last):\n"


def is_own(path: str) -> bool:
    """Tell whether a file holds code of the user's."""
    return not (path.startswith(("<", _OURS)) or is_installed(path))


@cache
def is_installed(path: str) -> bool:
    """Tell whether a file or folder is of an installed package or of the standard library."""
    places = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    places |= {*site.getsitepackages(), site.getusersitepackages()}
    resolved = Path(path).resolve()
    return any(resolved.is_relative_to(Path(place).resolve()) for place in places)


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
