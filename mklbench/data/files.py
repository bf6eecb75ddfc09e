"""Files: from a disk, a server or the cache, out of their packing, and into the cache.

What fails is said in a few words. Into the cache go whole files or nothing.
"""

from __future__ import annotations

import contextlib
import gzip
import logging
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from mklbench import resources
from mklbench.errors import DataError, InputError, first_line

logger = logging.getLogger(__name__)

CACHE_VARIABLE = "MKLBENCH_CACHE"
MIRROR_VARIABLE = "MKLBENCH_MIRROR"
TIMEOUT_VARIABLE = "MKLBENCH_TIMEOUT"
# Compressed files are known by their first bytes, so that sonar.data and sonar.data.gz read alike.
_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}


class AbsentError(DataError):
    """A place does not have the file, or it cannot be read: no permission, no network, a stall."""


def read(location: str) -> bytes:
    """The bytes at a path or an http(s) URL.

    Raises
    ------
    AbsentError
        The message is a reason in a few words, without the location.
    InputError
        The time limit of downloads in the environment is not acceptable.
    """
    return _fetch(location) if is_http(location) else read_file(location)


def read_file(path: str) -> bytes:
    """The bytes of a file.

    Raises
    ------
    AbsentError
        The message is a reason in a few words, without the path.
    """
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise AbsentError("does not exist") from None
    except (OSError, ValueError) as error:  # the latter of a path with a zero byte
        raise AbsentError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _fetch(url: str) -> bytes:
    import pooch  # imports requests, which most runs do not need
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    bar = sys.stderr is not None and sys.stderr.isatty()
    downloader = pooch.HTTPDownloader(timeout=download_timeout(), progressbar=bar)
    try:
        with TemporaryDirectory() as directory:
            # What is verified is the content, by who asks for it; not the bytes.
            path = pooch.retrieve(url, None, "download", directory, downloader=downloader)
            return Path(path).read_bytes()
    except requests.HTTPError as error:
        raise AbsentError(f"HTTP status {error.response.status_code}") from error
    except (requests.RequestException, OSError, ValueError) as error:
        lost = isinstance(error, requests.ConnectionError)
        reason = "no connection" if lost else f"cannot be downloaded: {first_line(error)}"
        raise AbsentError(reason) from error


def unpack(content: bytes, place: str) -> bytes:
    """Unpack what gzip or xz packed; anything else is returned as it is.

    Raises
    ------
    DataError
        The content is damaged; the message names the file by `place`.
    """
    for signature, unpacked in _UNPACK.items():
        if content.startswith(signature):
            try:
                return unpacked(content)
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise DataError(f"{place} is a damaged compressed file ({error}).") from error
    return content


def keep(content: bytes, path: Path) -> None:
    """Put verified content into the cache, whole or not at all.

    Raises
    ------
    DataError
        The cache cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        resources.write_atomically(path, content)
    except OSError as error:
        raise DataError(
            f"The download cache {path.parent} cannot be written ({error.strerror or error}): set "
            f"{CACHE_VARIABLE} to a directory you can write to."
        ) from error


def keep_or_warn(content: bytes, path: Path) -> None:
    """As `keep`; where that is impossible, log a warning."""
    try:
        keep(content, path)
    except DataError as error:
        logger.warning("%s The file is used without a copy.", error)


def cache_directory() -> Path:
    """The directory of downloaded files.

    It is the environment variable MKLBENCH_CACHE, else ``datasets/cache`` of the checkout this
    package runs from, else the user's cache directory.
    """
    if stated := os.environ.get(CACHE_VARIABLE):
        return Path(os.path.expanduser(stated))
    checkout = resources.checkout()
    if checkout is not None and (checkout / "datasets").is_dir():
        return checkout / "datasets" / "cache"
    import pooch  # imported here because it costs a twentieth of a second

    return Path(pooch.os_cache("mklbench"))


def mirror_location() -> str | None:
    """The mirror, MKLBENCH_MIRROR, as a directory or a URL without a final slash; None if unset.

    Raises
    ------
    InputError
        It is neither a directory nor an http or https URL.
    """
    if not (stated := os.environ.get(MIRROR_VARIABLE)):
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


def download_timeout() -> float:
    """Seconds to wait for a connection, and for each next byte: 20 unless MKLBENCH_TIMEOUT is set.

    Raises
    ------
    InputError
        It is not a positive number.
    """
    value = os.environ.get(TIMEOUT_VARIABLE, "20")
    with contextlib.suppress(ValueError):
        if 0.0 < float(value) < float("inf"):
            return float(value)
    raise InputError(f"{TIMEOUT_VARIABLE}={value} must be a positive number of seconds.")


def is_http(location: str) -> bool:
    """Whether a place is read over the network."""
    return location.lower().startswith(("http://", "https://"))
