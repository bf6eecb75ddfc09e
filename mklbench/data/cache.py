"""Where the cache and the mirror are, how long to wait, and writing: whole files or nothing."""

from __future__ import annotations

import contextlib
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
from urllib.parse import urlparse
from urllib.request import url2pathname

from mklbench.errors import DataError, InputError

logger = logging.getLogger(__name__)

CACHE_VARIABLE = "MKLBENCH_CACHE"
MIRROR_VARIABLE = "MKLBENCH_MIRROR"
TIMEOUT_VARIABLE = "MKLBENCH_TIMEOUT"
DEFAULT_TIMEOUT = 20.0
# A week; timers of the operating system take no more than some hundred.
_MOST_SECONDS = 604_800.0


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


def cache_directory(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The directory of downloaded files.

    It is `cache_dir`, else the environment variable MKLBENCH_CACHE, else ``datasets/cache`` of the
    checkout this package runs from, else the user's cache directory.
    """
    stated = cache_dir or os.environ.get(CACHE_VARIABLE)
    if stated:
        return Path(os.path.expanduser(stated))
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / "datasets").is_dir():
        return checkout / "datasets" / "cache"
    import pooch  # imported here because it costs a twentieth of a second

    return Path(pooch.os_cache("mklbench"))


def mirror_location(mirror: str | os.PathLike[str] | None = None) -> str | None:
    """The mirror as a directory path or an http(s) URL without a final slash; None if unset.

    It is `mirror`, else the environment variable MKLBENCH_MIRROR.

    Raises
    ------
    InputError
        The directory does not exist, or the URL is of another kind than http, https or file.
    """
    stated = os.fspath(mirror) if mirror else os.environ.get(MIRROR_VARIABLE, "")
    if not stated:
        return None
    if is_http(stated):
        if not _host(stated):
            raise InputError(f"{MIRROR_VARIABLE}={stated} names no host: correct it or unset it.")
        return stated.rstrip("/")
    directory = stated
    if "://" in stated:
        if not stated.lower().startswith("file://") or _host(stated) not in ("", "localhost"):
            raise InputError(
                f"{MIRROR_VARIABLE}={stated} must be a directory, an http or https URL, or a file "
                f"URL of this machine such as file:///data."
            )
        directory = url2pathname(urlparse(stated).path)
    directory = os.path.expanduser(directory)
    if not os.path.isdir(directory):  # nor is a name that is empty or too long
        raise InputError(f"{MIRROR_VARIABLE}={stated} is not a directory: correct it or unset it.")
    return directory


def _host(url: str) -> str | None:
    """The host of a URL, empty if it has none; None if it cannot be read as a URL."""
    try:
        return urlparse(url).hostname or ""
    except ValueError:
        return None


def download_timeout(timeout: float | None = None) -> float:
    """Seconds to wait for a connection, and for each next byte: 20 unless MKLBENCH_TIMEOUT is set.

    Raises
    ------
    InputError
        It is not a positive number.
    """
    value = timeout if timeout is not None else os.environ.get(TIMEOUT_VARIABLE, DEFAULT_TIMEOUT)
    with contextlib.suppress(ValueError):
        if 0.0 < float(value) <= _MOST_SECONDS:
            return float(value)
    raise InputError(
        f"{TIMEOUT_VARIABLE}={value} must be a positive number of seconds, at most "
        f"{_MOST_SECONDS:g}."
    )


def is_http(location: str) -> bool:
    """Whether a place is read over the network."""
    return location.lower().startswith(("http://", "https://"))
