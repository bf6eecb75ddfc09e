"""Writing to the cache of downloads: whole files or nothing."""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path

from mklbench.data.settings import CACHE_VARIABLE

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
