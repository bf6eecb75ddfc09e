"""Files of a store and of results: how they are read and checked, and whether they can be written.

Every object in JSON carries the checksum of its content: the SHA-256 of the content without it,
written as JSON with sorted keys, without spaces and in ASCII. So it does not depend on how a file
is laid out, and a single bit that flips in one either changes nothing that is read from it or is
found.
"""

from __future__ import annotations

import errno
import hashlib
import json
import stat
import tempfile
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mklbench.errors import InputError, reason, refused

SCHEMA = 2


class DamagedError(ValueError):
    """Content that cannot be trusted; says why in a few words."""


class DamagedRecordWarning(UserWarning):
    """A file of a store, or a line of exported records, is damaged and counts as missing."""


def with_checksum(content: Mapping[str, Any]) -> str:
    """Return an object as one line of JSON, with its checksum."""
    whole = {**content, "schema": SCHEMA}
    whole.pop("checksum", None)
    return json.dumps(whole | {"checksum": checksum(whole)}, allow_nan=False) + "\n"


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of an object that has no checksum yet."""
    # ASCII, as a file name in a message may hold bytes that are no text.
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def verified(data: bytes, *, is_checked: bool = False) -> dict[str, Any]:
    """Return the object that `with_checksum` has written, without its checksum.

    With `is_checked` the checksum is not compared: that of the whole file was.

    Raises
    ------
    DamagedError
        If it is cut short, is no such object, or does not match its checksum.
    """
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON or bad UTF-8
        raise DamagedError("it is empty" if not data.strip() else "it is no JSON") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise DamagedError("it does not have a schema that this version knows")
    stated = content.pop("checksum", None)
    if not (is_checked or stated == checksum(content)):
        raise DamagedError("its checksum does not match its content")
    return content


def read_verified(path: Path) -> dict[str, Any] | None:
    """Return the object in a file; None if there is no such file.

    Raises
    ------
    DamagedError
        If there is something else, or what there is cannot be read or trusted.
    """
    try:
        return verified(read_regular(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedError(f"it cannot be read ({reason(error)})") from error


@cache
def warn_damaged(path: Path, why: str) -> None:
    """Name a damaged file, once a process."""
    message = f"{path} is damaged and counts as missing: {why}."
    warnings.warn(message, DamagedRecordWarning, stacklevel=2)


def read_regular(path: Path) -> bytes:
    """Read a regular file, and nothing else: a FIFO or a device might never end.

    Raises
    ------
    OSError
        If there is none, it cannot be read, or is of another kind.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path.read_bytes()


def check_writable_file(option: str, path: Path | str) -> None:
    """Raise InputError unless a file can be created or replaced at `path`; change nothing."""
    target = Path(path)
    with refused(f"{option}={path} cannot be written"):
        if target.exists() and not target.is_file():
            raise InputError(f"{option}={path} is no regular file: give the name of a file.")
        _probe(target.parent)


def check_directory(option: str, path: Path | str, *, writable: bool = False) -> None:
    """Raise InputError unless `path` is a directory, or can become one.

    If it is to be `writable`, unless files can be made below it as well.
    """
    with refused(f"{option}={path} cannot be written"):
        existing = Path(path).absolute()
        while not existing.exists():
            existing = existing.parent
        if not existing.is_dir():
            raise InputError(f"{option}={path} is no directory: give the name of one.")
        if writable:
            _probe(existing)


def _probe(directory: Path) -> None:
    with tempfile.TemporaryFile(dir=directory, buffering=0) as probe:
        probe.write(b"\n")  # an empty file may find room where no other does
