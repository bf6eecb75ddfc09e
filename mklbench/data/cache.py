"""The cache of downloads: whole files or nothing."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from mklbench.data.settings import CACHE_VARIABLE, cache_directory
from mklbench.errors import DataError

logger = logging.getLogger(__name__)


def keep(content: bytes, path: Path) -> None:
    """Put verified content into the cache, whole or not at all.

    Written beside its final name and then renamed, so that a reader, or a second process that
    writes the same file, sees the old file or the new one and nothing between.

    Raises
    ------
    OSError
        The cache cannot be written.
    """
    if _holds(path, content):  # put there meanwhile: others may be reading it already
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        with partial.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.replace(partial, path)
        except FileNotFoundError:  # as when it was moved, and the answer of a server was lost
            if not _holds(path, content):
                raise
    finally:
        partial.unlink(missing_ok=True)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == content
    except OSError:
        return False


_warned_directories: set[Path] = set()


def keep_or_warn(content: bytes, path: Path) -> None:
    """As `keep`; where that is impossible, log a warning, once for each directory."""
    try:
        keep(content, path)
    except OSError as error:
        if path.parent not in _warned_directories:
            _warned_directories.add(path.parent)
            logger.warning(
                "The download cache %s cannot be written (%s): the file is used without a copy; "
                "set %s to a directory you can write to.",
                path.parent,
                error.strerror or error,
                CACHE_VARIABLE,
            )


_FOLDER = "standard_input"
_KEPT = re.compile(rf".*{re.escape(os.sep + _FOLDER + os.sep)}[0-9a-f]{{64}}", re.DOTALL)


def with_input_kept(
    config: Mapping[str, Any], cache_dir: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """Return a data configuration with the kept file where its path is "-".

    What comes through a pipe is read once and kept under the digest of its content, so that every
    process that works on it, here or on another machine, reads what was piped in.

    Parameters
    ----------
    config : mapping of str to object
        Of a data set, as a plain dict.
    cache_dir : str, os.PathLike[str] or None, default=None
        As for `mklbench.data.load`.

    Raises
    ------
    DataError
        Nothing comes, or the cache cannot be written.
    """
    if config.get("path") != "-":
        return dict(config)
    content = _standard_input()
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
def _standard_input() -> bytes:
    """Read standard input, which can be read once, for all cells of a command."""
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise DataError(
            "data.path=- reads standard input, and nothing is piped into it: pipe a table in, as "
            "in 'cat mine.csv | mklbench run ...', or give the path of a file."
        )
    try:
        content = stream.buffer.read()
    except (OSError, ValueError) as error:  # closed, or of a program that has none
        raise DataError(
            f"data.path=- cannot be read ({error}): give the path of a file."
        ) from error
    if not content:
        raise DataError("data.path=- holds nothing: pipe a table in, or give the path of a file.")
    return content
