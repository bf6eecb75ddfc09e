"""A web server on this machine that misbehaves in every way a download has to survive.

`HostileServer` answers a path by the behaviour that its first part names, as in
``/trickled_body/toy.data``. What it does is bounded: a connection ends with the server, after
`SECONDS` or when the client has gone.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

SECONDS = 20.0
# Seconds between two bytes of what trickles.
INTERVAL = 0.02
_BOMB_PART = 2**22
_BOMB_PARTS = 240

_COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}

Step = bytes | float  # bytes to send, or seconds to wait
Behaviour = Callable[[bytes], Iterator[Step]]

OK = b"HTTP/1.1 200 OK\r\n"


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """A whole answer with its length."""
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join([*lines, b"Connection: close", b"", body])


@cache
def bomb(form: str) -> bytes:
    """A packed file of some kilobytes that unpacks to a gigabyte of zeros."""
    return _COMPRESSORS[form](bytes(_BOMB_PART)) * _BOMB_PARTS


def _trickle(start: bytes, piece: bytes) -> Iterator[Step]:
    yield start
    while True:
        yield piece
        yield INTERVAL


def _endless(start: bytes, piece: bytes) -> Iterator[Step]:
    yield start
    while True:
        yield piece


def _once(*steps: Step) -> Iterator[Step]:
    yield from steps


def _redirect(location: bytes, body: bytes = b"") -> bytes:
    return answer(body, b"Location: " + location, status=b"302 Found")


# What never ends by itself: only a deadline or a limit of size ends it.
ENDLESS: dict[str, Behaviour] = {
    "silent": lambda content: _once(SECONDS),
    "trickled_status": lambda content: _trickle(b"HTTP/1.1 200", b" "),
    "trickled_header": lambda content: _trickle(OK + b"X: ", b"x"),
    "trickled_headers": lambda content: _trickle(OK, b"X: x\r\n"),
    "trickled_body": lambda content: _trickle(OK + b"Content-Length: 90000\r\n\r\n", b"1"),
    "trickled_chunks": lambda content: _trickle(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n1\r\n"
    ),
    "trickled_trailers": lambda content: _trickle(
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n", b"X: x\r\n"
    ),
    "trickled_continues": lambda content: _trickle(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "endless_body": lambda content: _endless(OK + b"\r\n", b"1" * 2**16),
    "endless_chunks": lambda content: _endless(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"1" * 2**16 + b"\r\n"
    ),
    "endless_chunk_size": lambda content: _endless(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 2**16
    ),
    "endless_error_body": lambda content: _endless(b"HTTP/1.1 403 Forbidden\r\n\r\n", b"1" * 2**16),
}

# What ends, and is not the file.
BROKEN: dict[str, Behaviour] = {
    "terabyte": lambda content: _once(
        OK + b"Content-Length: 1000000000000\r\n\r\n" + content, SECONDS
    ),
    "length_of_letters": lambda content: _once(OK + b"Content-Length: abc\r\n\r\n" + content),
    "negative_length": lambda content: _once(OK + b"Content-Length: -5\r\n\r\n" + content),
    "long_length": lambda content: _once(
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + content
    ),
    "two_lengths": lambda content: _once(
        OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n" + content
    ),
    "truncated": lambda content: _once(
        OK + b"Content-Length: %d\r\n\r\n" % len(content) + content[: len(content) // 2]
    ),
    "truncated_chunks": lambda content: _once(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(content) + content[:5]
    ),
    "chunk_size_of_letters": lambda content: _once(
        OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n" + content
    ),
    "reset": lambda content: _once(OK + b"Content-Length: 90000\r\n\r\n", b"RESET"),
    "nothing": lambda content: _once(),
    "not_http": lambda content: _once(b"220 ftp.example.org ready\r\n"),
    "long_header": lambda content: _once(OK + b"X: " + b"x" * 2**17 + b"\r\n\r\n" + content),
    "many_headers": lambda content: _once(OK + b"X: x\r\n" * 1000 + b"\r\n" + content),
    "redirect_loop": lambda content: _once(_redirect(b"/redirect_loop/toy.data")),
    "redirect_to_file": lambda content: _once(_redirect(b"file:///etc/hostname")),
    "redirect_to_ftp": lambda content: _once(_redirect(b"ftp://127.0.0.1/toy.data")),
    "redirect_to_nothing": lambda content: _once(_redirect(b"http://")),
    "redirect_to_bytes": lambda content: _once(_redirect(b"\xff\xfe\x80")),
    "unknown_coding": lambda content: _once(answer(content, b"Content-Encoding: br")),
    "damaged_coding": lambda content: _once(
        answer(gzip.compress(content)[:-9], b"Content-Encoding: gzip")
    ),
    "coded_bomb": lambda content: _once(answer(bomb("gzip"), b"Content-Encoding: gzip")),
    "gzip_bomb": lambda content: _once(answer(bomb("gzip"))),
    "xz_bomb": lambda content: _once(answer(bomb("xz"))),
    "bzip2_bomb": lambda content: _once(answer(bomb("bzip2"))),
    "absent": lambda content: _once(answer(b"", status=b"404 Not Found")),
    "forbidden": lambda content: _once(answer(b"", status=b"403 Forbidden")),
    "no_content": lambda content: _once(answer(b"", status=b"204 No Content")),
    "failing": lambda content: _once(answer(b"", status=b"500 Internal Server Error")),
    "unavailable": lambda content: _once(
        answer(b"", b"Retry-After: 86400", status=b"503 Service Unavailable")
    ),
    "page": lambda content: _once(answer(b"<html><body>Please log in</body></html>\n")),
    "altered": lambda content: _once(answer(content.replace(b"2.25", b"2.26"))),
    "empty": lambda content: _once(answer(b"")),
}

# What is unusual, and is the file.
SOUND: dict[str, Behaviour] = {
    "good": lambda content: _once(answer(content)),
    "chunked": lambda content: _once(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(content) + content + b"\r\n0\r\n\r\n"
    ),
    "coded": lambda content: _once(answer(gzip.compress(content), b"Content-Encoding: gzip")),
    "without_length": lambda content: _once(OK + b"\r\n" + content),
    "redirected_with_endless_body": lambda content: _endless(
        b"HTTP/1.1 302 Found\r\nLocation: /good/toy.data\r\n\r\n", b"1" * 2**16
    ),
    "redirected_with_bomb": lambda content: _once(
        answer(
            bomb("gzip"), b"Location: /good/toy.data", b"Content-Encoding: gzip", status=b"302 X"
        )
    ),
    "redirected": lambda content: _once(_redirect(b"/good/toy.data")),
    "slow": lambda content: _once(
        OK + b"Content-Length: %d\r\n\r\n" % len(content), 0.05, content[:9], 0.05, content[9:]
    ),
}

BEHAVIOURS = {**ENDLESS, **BROKEN, **SOUND}


class HostileServer:
    """A server on 127.0.0.1, as a context manager.

    Parameters
    ----------
    content : the bytes of the file that it should serve.
    tls : wraps the connections; None: they are plain.

    Attributes
    ----------
    url : without a final slash.
    requests : how often each path was asked for.
    failing : requests that are answered with status 503 before the others are as they should be.
    """

    def __init__(self, content: bytes, tls: ssl.SSLContext | None = None) -> None:
        for form in _COMPRESSORS:  # beforehand: no answer is to wait for it
            bomb(form)
        self.content = content
        self._tls = tls
        self.requests: Counter[str] = Counter()
        self.failing = 0
        self._closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> HostileServer:
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.set()
        self._socket.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(1.0)
        end = time.monotonic() + SECONDS
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                path = _requested(connection)
                self.requests[path] += 1
                for step in self._behaviour(path)(self.content):
                    if self._closing.is_set() or time.monotonic() > end:
                        return
                    if step == b"RESET":
                        _reset(connection)
                    elif isinstance(step, bytes):
                        connection.sendall(step)
                    else:
                        self._closing.wait(step)
                # Until the client has gone: closing with unread input would reset the connection.
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)
        except OSError:
            """The client has gone."""

    def _behaviour(self, path: str) -> Behaviour:
        if self.failing > 0:
            self.failing -= 1
            return BROKEN["unavailable"]
        return BEHAVIOURS.get(path.split("/")[1], BROKEN["absent"])


def _requested(connection: socket.socket) -> str:
    text = b""
    while b"\r\n\r\n" not in text:
        received = connection.recv(2**12)
        if not received:
            raise ConnectionError("no request")
        text += received
        if text.startswith(b"\x16"):  # the client speaks TLS, and is answered as servers do
            connection.sendall(answer(b"", status=b"400 Bad Request"))
    return text.split(b" ", 2)[1].decode()


def _reset(connection: socket.socket) -> None:
    """Close so that the client sees a connection reset by its peer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
