"""Where the file of a data set is: embedded, cache, mirror, upstream, in this order.

The bytes that are found are handed to a caller's `accept`, which parses and verifies them. Only
what is accepted is used or enters the cache, so a stalled, truncated or altered file is passed over
for the next place and never kept. All that was tried goes into the message when no place has the
data.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar
from urllib.parse import quote, urlparse
from urllib.request import url2pathname

from mklbench.data.schema import FileConfig, Layout, Source
from mklbench.errors import DataError, InputError

logger = logging.getLogger(__name__)

CACHE_VARIABLE = "MKLBENCH_CACHE"
MIRROR_VARIABLE = "MKLBENCH_MIRROR"
TIMEOUT_VARIABLE = "MKLBENCH_TIMEOUT"
DEFAULT_TIMEOUT = 20.0

PlaceKind = Literal["embedded", "path", "cache", "mirror", "upstream"]
Accepted = TypeVar("Accepted")


class AbsentError(DataError):
    """A place does not have the file."""


class UnreadableError(DataError):
    """A place may have the file, but it cannot be read: no permission, no network, a stall."""


@dataclass(frozen=True)
class Place:
    """One concrete place that may hold the file of a data set.

    Attributes
    ----------
    kind : where it is, as `mklbench data list` calls it.
    location : a path or an http(s) URL.
    layout : how the file is read there.
    cache_path : where a copy may be kept; None for what is local already.
    """

    kind: PlaceKind
    location: str
    layout: Layout
    cache_path: Path | None = None

    @property
    def remote(self) -> bool:
        """Whether reading it needs a network."""
        return _is_http(self.location)

    def describe(self) -> str:
        """The place as messages call it."""
        return (
            f"data.path={self.location}" if self.kind == "path" else f"{self.kind} {self.location}"
        )


@dataclass(frozen=True)
class Found(Generic[Accepted]):
    """The place a data set was found at, its bytes, and what they were accepted as."""

    place: Place
    content: bytes
    accepted: Accepted


def cache_directory(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The directory of downloaded files.

    It is `cache_dir`, else the environment variable MKLBENCH_CACHE, else ``datasets/cache`` of the
    checkout this package runs from, else the user's cache directory.
    """
    stated = cache_dir or os.environ.get(CACHE_VARIABLE)
    if stated:
        return Path(stated).expanduser()
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
    if _is_http(stated):
        return stated.rstrip("/")
    if "://" in stated and not stated.startswith("file://"):
        raise InputError(
            f"{MIRROR_VARIABLE}={stated} must be a directory or an http, https or file URL."
        )
    local = url2pathname(urlparse(stated).path) if stated.startswith("file://") else stated
    directory = Path(local).expanduser()
    if not directory.is_dir():
        raise InputError(f"{MIRROR_VARIABLE}={stated} is not a directory: correct it or unset it.")
    return str(directory)


def download_timeout(timeout: float | None = None) -> float:
    """Seconds to wait for a connection, and for each next byte: 20 unless MKLBENCH_TIMEOUT is set.

    Raises
    ------
    InputError
        It is not a positive number.
    """
    stated = timeout if timeout is not None else os.environ.get(TIMEOUT_VARIABLE, DEFAULT_TIMEOUT)
    with contextlib.suppress(ValueError):
        if 0.0 < float(stated) < float("inf"):
            return float(stated)
    raise InputError(f"{TIMEOUT_VARIABLE}={stated} must be a positive number of seconds.")


def places(
    config: FileConfig,
    cache_dir: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
) -> Iterator[Place]:
    """The places that may hold the file, in the order in which they are tried.

    A mirror that is a directory is read where it is; what a mirror or an upstream server sends is
    kept in the cache.

    Raises
    ------
    InputError
        The mirror is not usable (`mirror_location`).
    """
    mirror = mirror_location(mirror)
    for source in config.sources:
        if source.kind == "embedded":
            yield Place("embedded", _embedded_path(source), source.layout)
        elif source.kind == "path":
            yield Place("path", str(Path(source.location).expanduser()), source.layout)
    remote = [source for source in config.sources if source.kind in ("mirror", "url")]
    if not remote:
        return
    directory = cache_directory(cache_dir) / config.name
    kept: set[Path] = set()
    for source in remote:
        path = directory / source.basename
        if path not in kept:
            kept.add(path)
            yield Place("cache", str(path), source.layout)
    for source in remote:
        path = directory / source.basename
        if source.kind == "url":
            yield Place("upstream", source.location, source.layout, path)
        elif mirror is not None and _is_http(mirror):
            yield Place("mirror", f"{mirror}/{quote(source.location)}", source.layout, path)
        elif mirror is not None:
            # Kept only on request (`fetch`): reading a local directory again costs nothing.
            yield Place("mirror", str(Path(mirror, source.location)), source.layout, path)


def read(place: Place, timeout: float) -> bytes:
    """The bytes at a place.

    Raises
    ------
    AbsentError, UnreadableError
        The message is a reason in a few words, without the place's name.
    """
    if place.remote:
        return _download(place.location, timeout)
    try:
        return Path(place.location).read_bytes()
    except FileNotFoundError:
        raise AbsentError("not there") from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error


def resolve(
    config: FileConfig,
    accept: Callable[[bytes, Layout, str], Accepted],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> Found[Accepted]:
    """Find the first place whose content is accepted.

    Parameters
    ----------
    config : of the data set.
    accept : called with the bytes, the layout and the name of a place; returns what it makes of
        them, or raises `DataError` to refuse them.
    cache_dir, mirror, timeout : as `cache_directory`, `mirror_location`, `download_timeout`.

    Returns
    -------
    The place, its content, and what `accept` made of it. Nothing is written.

    Raises
    ------
    DataError
        No place has the data; the message lists what was tried.
    """
    seconds = download_timeout(timeout)
    tried: list[str] = []
    bad: list[str] = []
    for place in places(config, cache_dir, mirror):
        try:
            content = read(place, seconds)
            accepted = accept(content, place.layout, place.describe())
        except DataError as error:
            if place.kind == "path":
                raise _own_file_error(place, error) from error
            tried.append(_reason(place, error))
            if not isinstance(error, AbsentError):
                bad.append(tried[-1])
            continue
        if bad:
            logger.warning("data=%s passed over %s.", config.name, "; ".join(bad))
        return Found(place, content, accepted)
    raise DataError(_nowhere(config, tried, mirror))


def keep(content: bytes, path: Path) -> None:
    """Put verified content into the cache, whole or not at all.

    Written beside its final name and then renamed, so that a reader, or a second process that
    fetches the same file, sees the old file or the new one and nothing between.

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


def _embedded_path(source: Source) -> str:
    """Path of a file inside an installed package, found without importing the package."""
    package, _, inside = source.location.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return source.location  # which is not there, as the caller will say
    return str(Path(spec.origin).parent / inside)


def _download(url: str, timeout: float) -> bytes:
    """Fetch a URL into memory."""
    import pooch
    import requests

    buffer = io.BytesIO()
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=timeout)
    try:
        downloader(url, buffer, None)
    except requests.HTTPError as error:
        status = None if error.response is None else error.response.status_code
        kind = AbsentError if status in (404, 410) else UnreadableError
        raise kind(f"HTTP status {status}") from error
    except requests.Timeout as error:
        raise UnreadableError(f"no answer within {timeout:g} s") from error
    except requests.RequestException as error:
        raise UnreadableError(_network_reason(error, timeout)) from error
    return buffer.getvalue()


def _network_reason(error: Exception, timeout: float) -> str:
    """A broken transfer in a few words; requests wraps a stall in a general ConnectionError."""
    text = str(error)
    if "timed out" in text:
        return f"stalled for {timeout:g} s"
    if "IncompleteRead" in text or "InvalidChunkLength" in text:
        return "the transfer broke off before its end"
    if "Connection aborted" in text or "Connection broken" in text:
        return "the connection was cut"
    return "no connection"


def _reason(place: Place, error: DataError) -> str:
    """``place (reason)``, without saying the place twice when the parser has named it."""
    text = str(error).removeprefix(place.describe()).lstrip(" ,:").rstrip(".")
    return f"{place.describe()} ({text})"


def _own_file_error(place: Place, error: DataError) -> DataError:
    text = str(error)
    if text.startswith("data."):  # the parser's, which names the option already
        return error
    reason = "does not exist" if isinstance(error, AbsentError) else text
    return DataError(f"{place.describe()} {reason}: give the path of a readable CSV file.")


def _nowhere(config: FileConfig, tried: list[str], mirror: str | os.PathLike[str] | None) -> str:
    names = [source.location for source in config.sources if source.kind == "mirror"]
    remedy = (
        f"set {MIRROR_VARIABLE} to a directory or URL that has {names[0]}"
        if names and mirror_location(mirror) is None
        else "check the network or the mirror"
    )
    return f"data={config.name} could not be had from {'; '.join(tried)}: {remedy}."


def _is_http(location: str) -> bool:
    return location.startswith(("http://", "https://"))
