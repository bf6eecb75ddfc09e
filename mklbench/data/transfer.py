"""One file from a web server within a total time and a size, whatever the server does.

`requests` limits the wait for each next byte, and nothing else: a server that sends one byte a
second, be it in its headers, holds it for ever. So every byte of a connection is counted here where
it leaves the socket, and the transfer is done in a thread that is left behind at the deadline,
since nothing else ends the search for a host's address or a handshake that trickles.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urljoin

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from mklbench.data.faults import AbsentError, DamagedError, TooLargeError, UnreadableError
from mklbench.data.limits import Limits, megabytes
from mklbench.data.settings import is_http
from mklbench.data.unpacking import inflate
from mklbench.errors import DataError

# Seconds before a second and a third attempt, where the fault may pass.
PAUSES = (0.5, 1.5)
_PASSING = (429, 500, 502, 503, 504)
_ABSENT = (404, 410)
_MOST_REDIRECTS = 10
_PIECE = 2**16
# Seconds within which an interrupt is heard.
_HEARING = 0.1
# Headers, redirects and the frames of chunks come on top of the file itself.
_MOST_OVERHEAD = 2**20


class _PassingError(UnreadableError):
    """A fault that a second attempt may not meet."""


def fetch(url: str, limits: Limits) -> bytes:
    """The bytes behind an http or https URL; a content coding of the transfer is undone.

    An interrupt ends it at once.

    Raises
    ------
    AbsentError, UnreadableError, TooLargeError
        The message is a reason in a few words, without the URL.
    """
    meter = _Meter(limits)
    outcome: SimpleQueue[bytes | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            outcome.put(_with_attempts(url, meter))
        except BaseException as error:
            outcome.put(error)

    threading.Thread(target=work, name="mklbench-download", daemon=True).start()
    try:
        result = _awaited(outcome, meter)
    finally:
        meter.abandon()
    if isinstance(result, BaseException):
        raise result
    return result


def _awaited(outcome: SimpleQueue[bytes | BaseException], meter: _Meter) -> bytes | BaseException:
    """What the thread hands over, or that it is late.

    The wait is cut into short ones: in between an interrupt is heard, to whichever thread the
    system has given it.
    """
    while not meter.is_over:
        with suppress(Empty):
            return outcome.get(timeout=_HEARING)
    return UnreadableError(meter.limits.late)


class _Meter:
    """What a transfer may still take: seconds to its deadline, bytes to its limit."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._end = time.monotonic() + limits.seconds
        self._bytes_left = 2 * limits.n_bytes + _MOST_OVERHEAD
        self._abandoned = threading.Event()

    def abandon(self) -> None:
        """Make the thread of the transfer end at its next byte."""
        self._abandoned.set()

    @property
    def is_over(self) -> bool:
        """Whether the deadline has come."""
        return time.monotonic() >= self._end

    def wait(self) -> float:
        """Seconds that the next byte may take.

        Raises
        ------
        UnreadableError
            There is no time left.
        """
        left = self._end - time.monotonic()
        if left <= 0 or self._abandoned.is_set():
            raise UnreadableError(self.limits.late)
        return min(self.limits.stall, left)

    def pause(self, seconds: float) -> None:
        """Wait before another attempt, if it can still be made."""
        self._abandoned.wait(min(seconds, self.wait()))
        self.wait()

    def count(self, n_bytes: int) -> None:
        """Take note of bytes that have come.

        Raises
        ------
        TooLargeError
            They are too many.
        """
        self._bytes_left -= n_bytes
        if self._bytes_left < 0:
            raise TooLargeError(f"sends more than {self.limits.beyond}")


class _MeteredStream(io.RawIOBase):
    """The bytes that come in at a socket, counted, with the time that is left to wait for them."""

    def __init__(self, connection: socket.socket, meter: _Meter) -> None:
        self._connection, self._meter = connection, meter
        # A file of the socket rather than the socket: it keeps it open until it is closed itself.
        self._stream: Any = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(self._meter.wait())
        n_bytes = int(self._stream.readinto(buffer) or 0)
        self._meter.count(n_bytes)
        return n_bytes

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Session(requests.Session):
    """A session that follows no redirect: it would read, and unpack, all that comes with it."""

    def resolve_redirects(self, *args: Any, **kwargs: Any) -> Iterator[requests.Response]:
        return iter(())


class _Adapter(HTTPAdapter):
    """Connections whose every incoming byte goes through the meter: headers and chunk sizes too."""

    def __init__(self, meter: _Meter) -> None:
        self._pools = _pools(meter)
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _pools(meter: _Meter) -> dict[str, Any]:
    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
            super().__init__(sock, *args, **kwargs)
            self.fp.close()
            self.fp = io.BufferedReader(_MeteredStream(sock, meter))

    class Plain(HTTPConnection):
        response_class = Response

    class Secure(HTTPSConnection):
        response_class = Response

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def _with_attempts(url: str, meter: _Meter) -> bytes:
    for seconds in PAUSES:
        try:
            return _attempt(url, meter)
        except _PassingError:
            meter.pause(seconds)
    return _attempt(url, meter)


def _attempt(url: str, meter: _Meter) -> bytes:
    with _Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Adapter(meter))
        try:
            with _answer(session, url, meter) as response:
                return _body(response, meter)
        except DataError:
            raise
        except Exception as error:  # of requests, urllib3, http.client, ssl or the socket
            raise _failure(error, meter) from error


def _answer(session: requests.Session, url: str, meter: _Meter) -> requests.Response:
    """The answer at the end of the redirects."""
    for _ in range(_MOST_REDIRECTS + 1):
        response = session.get(
            url,
            stream=True,
            allow_redirects=False,
            timeout=meter.wait(),
            headers={"Accept-Encoding": "gzip"},
        )
        target = session.get_redirect_target(response)
        if target is None:
            return response
        response.close()
        url = urljoin(url, target)
        if not is_http(url):
            raise UnreadableError(f"redirects to {url[:100]}, which is not http or https")
    raise UnreadableError(f"redirects more than {_MOST_REDIRECTS} times")


def _body(response: requests.Response, meter: _Meter) -> bytes:
    if response.status_code != 200:
        reason = f"HTTP status {response.status_code}"
        if response.status_code in _PASSING:
            raise _PassingError(reason)
        raise (AbsentError if response.status_code in _ABSENT else UnreadableError)(reason)
    limits = meter.limits
    announced = _announced(response.headers)
    if announced is not None and announced > limits.n_bytes:
        raise TooLargeError(f"announces {megabytes(announced)}, more than {limits.beyond}")
    content = bytearray()
    for piece in response.raw.stream(_PIECE, decode_content=False):
        content += piece
        if len(content) > limits.n_bytes:
            raise TooLargeError(f"sends more than {limits.beyond}")
    if announced is not None and len(content) < announced:
        raise _PassingError("the transfer broke off before its end")
    return _decoded(bytes(content), response.headers, limits)


def _announced(headers: Mapping[str, str]) -> int | None:
    stated = headers.get("Content-Length")
    if stated is None or "chunked" in headers.get("Transfer-Encoding", "").lower():
        return None
    if not (stated.isascii() and stated.isdecimal() and len(stated) < 20):
        raise UnreadableError(f"answers with Content-Length {stated[:40]!r}, no number of bytes")
    return int(stated)


def _decoded(content: bytes, headers: Mapping[str, str], limits: Limits) -> bytes:
    coding = headers.get("Content-Encoding", "identity").strip().lower()
    if coding in ("", "identity"):
        return content
    if coding not in ("gzip", "x-gzip"):
        raise UnreadableError(f"answers in the content coding {coding[:40]!r}, not asked for")
    try:
        return inflate(content, limits.n_bytes)
    except TooLargeError:
        raise TooLargeError(f"unpacks to more than {limits.beyond}") from None
    except DamagedError as error:
        raise UnreadableError(f"its gzip coding is damaged ({error})") from error


def _failure(error: Exception, meter: _Meter) -> DataError:
    """A transfer that broke in a few words, by what lies behind the error of the libraries."""
    causes = tuple(_causes(error))
    for cause in causes:
        if isinstance(cause, DataError):  # the meter's, in the wrapping of a library
            return cause
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UnreadableError(f"its certificate is not accepted: {cause.verify_message}")
    if meter.is_over:
        return UnreadableError(meter.limits.late)
    for kinds, build, reason in _FAILURES:
        if any(isinstance(cause, kinds) for cause in causes):
            return build(reason.format(stall=f"{meter.limits.stall:g}"))
    return UnreadableError("no connection")


# What lies behind an error, the more particular first, and what is said of it.
_FAILURES: tuple[tuple[tuple[type[BaseException], ...], type[DataError], str], ...] = (
    (
        (socket.gaierror, UnicodeError, urllib3.exceptions.LocationParseError),
        UnreadableError,
        "no connection, as the name of its host is not known",
    ),
    ((ssl.SSLError, urllib3.exceptions.SSLError), UnreadableError, "its TLS connection fails"),
    ((ConnectionRefusedError,), UnreadableError, "no connection"),
    ((requests.ConnectTimeout,), UnreadableError, "no answer within {stall} s"),
    ((TimeoutError, requests.ReadTimeout), UnreadableError, "stalled for {stall} s"),
    (
        (urllib3.exceptions.IncompleteRead, http.client.IncompleteRead),
        _PassingError,
        "the transfer broke off before its end",
    ),
    ((ConnectionError,), _PassingError, "the connection was cut"),
    (
        (
            http.client.HTTPException,
            urllib3.exceptions.ProtocolError,
            urllib3.exceptions.InvalidHeader,
        ),
        UnreadableError,
        "what it answers is not HTTP",
    ),
)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that is inside or behind it."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            waiting += [cause.__cause__, cause.__context__, getattr(cause, "reason", None)]
            waiting += [item for item in cause.args if isinstance(item, BaseException)]
