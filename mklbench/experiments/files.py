"""Files of a store and of results: how they are read, and whether they can be written."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mklbench.errors import InputError


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Read a regular file, and nothing else: a FIFO or a device might never end.

    Raises
    ------
    OSError
        If there is none, it cannot be read, is of another kind or larger.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"{status.st_size} bytes are too many")
        return b"".join(iter(lambda: os.read(descriptor, status.st_size + 1), b""))
    finally:
        os.close(descriptor)


def check_writable_file(option: str, path: Path | str) -> None:
    """Raise InputError unless a file can be created or replaced at `path`; change nothing."""
    target = Path(path)
    with _refused(option, path):
        if target.exists() and not target.is_file():
            kind = "a directory" if target.is_dir() else "no regular file"
            raise InputError(f"{option}={path} is {kind}: give the name of a file.")
        _probe(target.parent)


def check_directory(option: str, path: Path | str) -> None:
    """Raise InputError if there is something at `path` that is no directory."""
    with _refused(option, path):
        if Path(path).exists() and not Path(path).is_dir():
            raise InputError(f"{option}={path} is no directory: give the name of one.")


def check_writable_directory(option: str, path: Path | str) -> None:
    """Raise InputError unless files can be made below `path` (which may be absent)."""
    with _refused(option, path):
        existing = Path(path).absolute()
        while not existing.exists():
            existing = existing.parent
        _probe(existing)


@contextlib.contextmanager
def _refused(option: str, path: Path | str) -> Iterator[None]:
    """Turn what the system says of a name, such as that it is too long, into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{option}={path} cannot be written: {reason(error)}.") from error


def _probe(directory: Path) -> None:
    with tempfile.TemporaryFile(dir=directory, buffering=0) as probe:
        probe.write(b"\n")  # an empty file may find room where no other does


def stamp(path: Path) -> int | None:
    """Return what changes when a file is replaced, its time; None if there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def reason(error: OSError) -> str:
    """Return what the system says of an error, in lower case and without file names."""
    return (error.strerror or type(error).__name__).lower()
