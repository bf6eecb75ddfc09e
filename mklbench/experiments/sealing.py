"""JSON that tells when it was damaged: every object carries the checksum of its content.

The checksum is the SHA-256 of the content without it, written as JSON with sorted keys, without
spaces and in ASCII. So it does not depend on how a file is laid out, and a single bit that flips
in one either changes nothing that is read from it or is found. What was written before there were
checksums (schema 1) is still read.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from mklbench.experiments.files import read_regular, reason

SCHEMA = 2
_WITHOUT_CHECKSUM = 1

# No record comes near: 2000 weights of 100 classes take 5 MB.
_MOST_BYTES = 64 * 2**20


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} has no place in a record")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise DamagedError(f"it holds {text[:20]}, which is beyond the range of doubles")
    return value


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


# Made once: to make them takes a tenth of reading a record.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
# Python reads 1e400 as infinity, which JSON cannot have. To look at every number takes longer.
_CAREFUL = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)
_MAY_BE_TOO_LARGE = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{300}")
# ASCII, as a file name in a message may hold bytes that are no text.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_BEFORE_CHECKSUM = ',"checksum":"'


class DamagedError(ValueError):
    """Content that cannot be trusted; says why in a few words."""


class DamagedRecordWarning(UserWarning):
    """A file of a store, or a line of exported records, is damaged and counts as missing."""


def sealed(content: Mapping[str, Any], indent: int | None = None) -> str:
    """Return an object as one line of JSON, or several with an indent, with its checksum."""
    whole = {**content, "schema": SCHEMA}
    whole.pop("checksum", None)
    return json.dumps(whole | {"checksum": checksum(whole)}, indent=indent, allow_nan=False) + "\n"


def sealed_canonically(content: Mapping[str, Any]) -> str:
    """Return an object as `sealed` does, laid out as its checksum is taken.

    It is read in half the time, as nothing has to be written again to be checked.
    """
    whole = {**content, "schema": SCHEMA}
    whole.pop("checksum", None)
    canonical = _CANONICAL.encode(whole)
    return f'{canonical[:-1]}{_BEFORE_CHECKSUM}{_digest(canonical.encode("ascii"))}"}}\n'


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of an object that has no checksum yet."""
    return _digest(_CANONICAL.encode(content).encode("ascii"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_as_sealed(data: bytes) -> bool:
    """Tell whether a line is, byte for byte, what `sealed_canonically` has written."""
    content, _, stated = data.rpartition(_BEFORE_CHECKSUM.encode("ascii"))
    return stated.rstrip() == f'{_digest(content + b"}")}"}}'.encode("ascii")


def opened(data: bytes, *, is_checked: bool = False) -> dict[str, Any]:
    """Return the object that `sealed` has written, without its checksum.

    With `is_checked` neither the checksum is compared nor every number looked at: that of the
    whole file was compared.

    Raises
    ------
    DamagedError
        If it is cut short, is no such object, or does not match its checksum.
    """
    try:
        is_careful = not is_checked and _MAY_BE_TOO_LARGE.search(data)
        decoder = _CAREFUL if is_careful else _DECODER
        content = decoder.decode(data.decode("utf-8"))
    except DamagedError:
        raise
    except (ValueError, RecursionError) as error:  # ValueError: bad JSON or bad UTF-8
        raise DamagedError("it is empty" if not data.strip() else "it is no JSON") from error
    if not isinstance(content, dict):
        raise DamagedError("it is no JSON object")
    stated = content.pop("checksum", None)
    schema = content.get("schema")
    if schema == SCHEMA:
        if not (is_checked or _is_as_sealed(data) or stated == checksum(content)):
            raise DamagedError("its checksum does not match its content")
    elif schema != _WITHOUT_CHECKSUM or stated is not None:
        raise DamagedError("it does not have a schema that this version knows")
    return content | {"schema": SCHEMA}


def read_sealed(path: Path) -> dict[str, Any] | None:
    """Return the object in a file; None if there is no such file.

    Raises
    ------
    DamagedError
        If there is something else, or what there is cannot be read or trusted.
    """
    try:
        data = read_regular(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedError(f"it cannot be read ({reason(error)})") from error
    return opened(data)


_named: set[tuple[str, str, int]] = set()


def warn_damaged(path: Path, why: str) -> None:
    """Name a damaged file, once a process for each state in which it was seen."""
    try:
        written = path.stat().st_mtime_ns
    except OSError:
        written = 0
    state = (str(path), why, written)
    if state not in _named:
        _named.add(state)
        message = f"{path} is damaged and counts as missing: {why}."
        warnings.warn(message, DamagedRecordWarning, stacklevel=2)
