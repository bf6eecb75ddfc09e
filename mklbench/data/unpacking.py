"""Unpacking within a limit of bytes: a small file can unpack to more than any memory holds.

What counts is what really comes out, piece by piece; what a file says of itself is not believed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from typing import IO, Any

from mklbench.data.faults import DamagedError, TooLargeError
from mklbench.data.limits import beyond
from mklbench.errors import DataError

_PIECE = 2**20
# Compressed files are known by their first bytes, so that sonar.data and sonar.data.gz read alike.
_OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}
_FAULTS = (OSError, EOFError, lzma.LZMAError, zlib.error)


def inflate(content: bytes, limit: int) -> bytes:
    """Unpack what gzip, xz or bzip2 packed; anything else is returned as it is.

    Raises
    ------
    TooLargeError
        More than `limit` bytes come out.
    DamagedError
        The content is damaged; the message is the reason alone.
    """
    for signature, opened in _OPENERS.items():
        if content.startswith(signature):
            try:
                with opened(io.BytesIO(content)) as stream:
                    return read_within(stream, limit)
            except _FAULTS as error:
                raise DamagedError(str(error)) from error
    return content


def unpack(content: bytes, place: str, limit: int) -> bytes:
    """As `inflate`, with messages that name the file.

    Parameters
    ----------
    content : bytes
        The bytes of a file.
    place : str
        The file's name in messages.
    limit : int
        Bytes that may come out.

    Raises
    ------
    DataError
        The compressed content is damaged, or too large.
    """
    try:
        return inflate(content, limit)
    except TooLargeError:
        raise too_large(place, limit) from None
    except DamagedError as error:
        raise DataError(f"{place} is a damaged compressed file ({error}).") from error


def too_large(place: str, limit: int) -> TooLargeError:
    """Build the error for a file that unpacks to too much."""
    return TooLargeError(f"{place} unpacks to more than {beyond(limit)}.")


def unzip(content: bytes, place: str, limit: int) -> dict[str, bytes]:
    """The members of a zip archive as NumPy writes it, which together have at most `limit` bytes.

    Raises
    ------
    TooLargeError
        They have more.
    DataError, zipfile.BadZipFile, and others of damaged archives
        It is no such archive.
    """
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            # The other methods cannot be unpacked piece by piece.
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError(f"{place} holds {member.filename}, packed in a way NumPy does not.")
            with archive.open(member) as stream:
                found[member.filename] = _within(stream, limit, place, found.values())
    return found


def untar(content: bytes, endings: tuple[str, ...], place: str, limit: int) -> dict[str, bytes]:
    """The files of a tar archive, packed or not, whose names end so, sorted by name.

    Raises
    ------
    TooLargeError
        The archive, or these files together, have more than `limit` bytes.
    DataError, tarfile.TarError, and others of damaged archives
        It is no such archive.
    """
    found: dict[str, bytes] = {}
    # Not "r": that would unpack a second time, without a limit.
    with tarfile.open(fileobj=io.BytesIO(unpack(content, place, limit)), mode="r:") as archive:
        position = -1
        for member in archive:
            if member.offset <= position:  # a negative size, which would lead round for ever
                raise tarfile.ReadError("its members overlap")
            position = member.offset
            if member.isfile() and member.name.lower().endswith(endings):
                stream = archive.extractfile(member)
                assert stream is not None  # as it is for a file
                found[member.name] = _within(stream, limit, place, found.values())
    return dict(sorted(found.items()))


def _within(stream: IO[bytes], limit: int, place: str, others: Iterable[bytes]) -> bytes:
    try:
        return read_within(stream, limit - sum(map(len, others)))
    except TooLargeError:
        raise too_large(place, limit) from None


def read_within(stream: IO[bytes], limit: int) -> bytes:
    """Everything a stream holds, read piece by piece.

    Raises
    ------
    TooLargeError
        It holds more than `limit` bytes.
    """
    content = bytearray()
    while piece := stream.read(_PIECE):
        content += piece
        if len(content) > limit:
            raise TooLargeError(f"holds more than {beyond(limit)}")
    return bytes(content)
