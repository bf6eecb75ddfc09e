"""One file from a disk or a server, and out of its packing; a failure in a few words."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import lzma
import sys
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mklbench.data.cache import is_http
from mklbench.errors import DataError, first_line

# Compressed files are known by their first bytes, so that sonar.data and sonar.data.gz read alike.
_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"BZh": bz2.decompress,
}
_ABSENT = (404, 410)


class AbsentError(DataError):
    """A place does not have the file."""


class UnreadableError(DataError):
    """A place may have the file, but it cannot be read: no permission, no network, a stall."""


def read(location: str, timeout: float) -> bytes:
    """The bytes at a path or an http(s) URL.

    Parameters
    ----------
    location : str
        Path or URL.
    timeout : float
        Seconds to wait for a connection, and for each next byte.

    Raises
    ------
    AbsentError, UnreadableError
        The message is a reason in a few words, without the location.
    """
    return _fetch(location, timeout) if is_http(location) else read_file(location)


def read_file(path: str) -> bytes:
    """The bytes of a regular file.

    Raises
    ------
    AbsentError, UnreadableError
        The message is a reason in a few words, without the path.
    """
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe may hang, or never end
            kind = "a directory" if Path(path).is_dir() else "a pipe or a device"
            raise UnreadableError(f"is {kind} and not a regular file")
        return Path(path).read_bytes()
    except DataError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise AbsentError("not there") from None
    except (OSError, ValueError) as error:  # the latter of a path with a zero byte
        raise UnreadableError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error


def _fetch(url: str, timeout: float) -> bytes:
    import pooch  # imports requests, which most runs do not need
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    bar = sys.stderr is not None and sys.stderr.isatty()
    downloader = pooch.HTTPDownloader(timeout=timeout, progressbar=bar)
    try:
        with TemporaryDirectory() as directory:
            # What is verified is the content, by who asks for it; not the bytes.
            path = pooch.retrieve(url, None, "download", directory, downloader=downloader)
            return Path(path).read_bytes()
    except requests.HTTPError as error:
        status = error.response.status_code
        kind = AbsentError if status in _ABSENT else UnreadableError
        raise kind(f"HTTP status {status}") from error
    except (requests.RequestException, OSError, ValueError) as error:
        lost = isinstance(error, requests.ConnectionError)
        reason = "no connection" if lost else f"cannot be downloaded: {first_line(error)}"
        raise UnreadableError(reason) from error


def unpack(content: bytes, place: str) -> bytes:
    """Unpack what gzip, xz or bzip2 packed; anything else is returned as it is.

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


def untar(content: bytes, endings: tuple[str, ...], place: str) -> dict[str, bytes]:
    """The files of a tar archive, packed or not, whose names end so, sorted by name.

    Raises
    ------
    DataError, tarfile.TarError, and others of damaged archives
        It is no such archive.
    """
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(unpack(content, place)), mode="r:") as archive:
        for member in archive:
            if member.isfile() and member.name.lower().endswith(endings):
                stream: Any = archive.extractfile(member)
                found[member.name] = stream.read()
    return dict(sorted(found.items()))
