"""Where an error comes from that a module of the user's own has led to."""

from __future__ import annotations

import os
import site
import sysconfig
import traceback
from functools import cache
from pathlib import Path

_OURS = os.path.dirname(__file__) + os.sep


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
    for frame in reversed(frames):
        path = frame.filename
        if not (path.startswith(("<", _OURS)) or is_installed(path)):
            return f"{os.path.basename(path)}, line {frame.lineno}, in {frame.name}"
    return None
