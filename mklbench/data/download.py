"""Reading one file from a disk or a server, with the failure in a few words."""

from __future__ import annotations

import io
from pathlib import Path

from mklbench.data.settings import is_http
from mklbench.errors import DataError


class AbsentError(DataError):
    """A place does not have the file."""


class UnreadableError(DataError):
    """A place may have the file, but it cannot be read: no permission, no network, a stall."""


def read(location: str, timeout: float) -> bytes:
    """The bytes at a path or an http(s) URL.

    Parameters
    ----------
    location : path or URL.
    timeout : seconds to wait for a connection, and then for each next byte.

    Raises
    ------
    AbsentError, UnreadableError
        The message is a reason in a few words, without the location.
    """
    if is_http(location):
        return _download(location, timeout)
    try:
        return Path(location).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise AbsentError("not there") from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error


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
