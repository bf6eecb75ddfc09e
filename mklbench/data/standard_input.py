"""A table that comes through a pipe, ``data.path=-``: read once, and kept in the cache as a file.

So every process that works on it, here or on another machine, reads what was piped in; and as the
file has the name of its content, the same table twice is one file.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mklbench.data.cache import keep
from mklbench.data.faults import TooLargeError
from mklbench.data.limits import DEFAULT_BYTES
from mklbench.data.settings import CACHE_VARIABLE, cache_directory
from mklbench.data.unpacking import read_within
from mklbench.errors import DataError

_FOLDER = "standard_input"
_KEPT = re.compile(rf".*{re.escape(os.sep + _FOLDER + os.sep)}[0-9a-f]{{64}}", re.DOTALL)


def with_input_kept(
    config: Mapping[str, Any], cache_dir: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """Return a data configuration with the kept file where its path is "-".

    Parameters
    ----------
    config : mapping of str to object
        Of a data set, as a plain dict.
    cache_dir : str, os.PathLike[str] or None, default=None
        As for `mklbench.data.load`.

    Raises
    ------
    DataError
        Nothing comes, or more than it may, or the cache cannot be written.
    """
    if config.get("path") != "-":
        return dict(config)
    limit = config.get("max_bytes")
    content = _content(limit if isinstance(limit, int) and limit > 0 else DEFAULT_BYTES)
    path = cache_directory(cache_dir).absolute() / _FOLDER / hashlib.sha256(content).hexdigest()
    try:
        keep(content, path)
    except OSError as error:
        raise DataError(
            f"data.path=- is kept in {path.parent}, which cannot be written "
            f"({error.strerror or error}): set {CACHE_VARIABLE} to a directory you can write to, "
            "or save the table to a file."
        ) from error
    return {**config, "path": str(path)}


def shown(path: str) -> str:
    """Return what the user has called a path: "-" where it is that of a kept file."""
    return "-" if _KEPT.fullmatch(path) else path


@lru_cache(maxsize=1)
def _content(limit: int) -> bytes:
    """Read standard input, which can be read once, for all cells of a command."""
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise DataError(
            "data.path=- reads standard input, and nothing is piped into it: pipe a table in, as "
            "in 'cat mine.csv | mklbench run ...', or give the path of a file."
        )
    try:
        content = read_within(stream.buffer, limit)
    except TooLargeError as error:
        raise TooLargeError(f"data.path=- {error}.") from None
    except (OSError, ValueError) as error:  # closed, or of a program that has none
        raise DataError(
            f"data.path=- cannot be read ({error}): give the path of a file."
        ) from error
    if not content:
        raise DataError("data.path=- holds nothing: pipe a table in, or give the path of a file.")
    return content
