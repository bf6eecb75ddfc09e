"""JSON that tells when it was damaged: every object carries the checksum of its content.

The checksum is the SHA-256 of the content without it, written as JSON with sorted keys, without
spaces and in ASCII. So it does not depend on how a file is laid out, and a single bit that flips
in one either changes nothing that is read from it or is found.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mklbench.experiments.files import read_regular, reason

SCHEMA = 2

# No record comes near: 2000 weights of 100 classes take 5 MB.
_MOST_BYTES = 64 * 2**20


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
        return verified(read_regular(path, _MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedError(f"it cannot be read ({reason(error)})") from error


@cache
def warn_damaged(path: Path, why: str) -> None:
    """Name a damaged file, once a process."""
    message = f"{path} is damaged and counts as missing: {why}."
    warnings.warn(message, DamagedRecordWarning, stacklevel=2)
