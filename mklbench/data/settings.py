"""Where the cache and the mirror are and how long to wait: arguments, else the environment."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from mklbench.errors import InputError

CACHE_VARIABLE = "MKLBENCH_CACHE"
MIRROR_VARIABLE = "MKLBENCH_MIRROR"
TIMEOUT_VARIABLE = "MKLBENCH_TIMEOUT"
DEFAULT_TIMEOUT = 20.0
# A week; timers of the operating system take no more than some hundred.
_MOST_SECONDS = 604_800.0


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
