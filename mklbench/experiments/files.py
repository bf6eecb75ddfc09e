"""Files that are whole or absent: written beside their place, synced, and moved into it."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from pathlib import Path

from mklbench.errors import InputError

# A writer that was killed leaves its temporary file; after this many seconds nobody needs it.
_ABANDONED_AFTER = 24 * 3600


def write_atomically(path: Path | str, content: str | bytes, *, keep: bool = False) -> None:
    """Write a file (text as UTF-8) so that a reader, or a power cut, sees the old one or the new.

    With `keep` a file that is there, even one that another process has just written, stays.

    Raises
    ------
    OSError : if it cannot be written; the old content is then untouched.
    """
    target = Path(path).resolve()  # through a symbolic link, not in place of it
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.tmp")
    data = content.encode() if isinstance(content, str) else content
    try:
        with open(temporary, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if keep:
            _keep_or_move(temporary, target)
        else:
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(target.parent)


def _keep_or_move(temporary: Path, target: Path) -> None:
    """Move a file to where there is none, else delete it."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        os.replace(temporary, target)
        return
    temporary.unlink()


def check_writable_file(option: str, path: Path | str) -> None:
    """Raise InputError unless a file can be created or replaced at `path`; change nothing."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{option}={path} is a directory: give the name of a file.")
    if not target.parent.is_dir():
        raise InputError(
            f"{option}={path} cannot be written: the directory {target.parent} does not exist."
        )
    _probe(option, path, target.resolve().parent)


def check_writable_directory(option: str, path: Path | str) -> None:
    """Raise InputError unless files can be made below `path` (which may be absent)."""
    existing = Path(path).absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"{option}={path} cannot be used: {existing} is not a directory.")
    _probe(option, path, existing)


def remove_abandoned(directory: Path) -> None:
    """Delete the temporary files that writers killed long ago left in `directory`."""
    oldest = time.time() - _ABANDONED_AFTER
    for temporary in directory.glob(".*.tmp"):
        with contextlib.suppress(OSError):  # another process may be tidying up as well
            if temporary.stat().st_mtime < oldest:
                temporary.unlink()


def reason(error: OSError) -> str:
    """Return what the system says of an error, in lower case and without file names."""
    return (error.strerror or type(error).__name__).lower()


def _probe(option: str, path: Path | str, directory: Path) -> None:
    probe = directory / f".mklbench-{uuid.uuid4().hex[:12]}.tmp"
    try:
        with open(probe, "x", encoding="utf-8"):
            pass
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"{option}={path} cannot be written: {reason(error)} in {directory}."
        ) from error


def _sync_directory(directory: Path) -> None:
    """Make a rename durable, where the file system lets a directory be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
