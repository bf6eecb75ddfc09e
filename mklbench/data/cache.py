"""Where the cache and the mirror are, how long to wait, and writing: whole files or nothing."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from pathlib import Path

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
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        with partial.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


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
        It is neither a directory nor an http or https URL.
    """
    stated = os.fspath(mirror) if mirror else os.environ.get(MIRROR_VARIABLE, "")
    if not stated:
        return None
    if is_http(stated):
        return stated.rstrip("/")
    directory = os.path.expanduser(stated)
    if not os.path.isdir(directory):
        raise InputError(
            f"{MIRROR_VARIABLE}={stated} is neither a directory nor an http or https URL: correct "
            "it or unset it."
        )
    return directory


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
