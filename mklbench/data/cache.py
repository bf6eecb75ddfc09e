"""Where the cache and the mirror are, how long to wait, and writing: whole files or nothing."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from mklbench.errors import InputError

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
