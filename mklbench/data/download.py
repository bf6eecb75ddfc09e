"""Reading one file from a disk or a server, with the failure in a few words."""

from __future__ import annotations

import os
import stat

from mklbench.data.faults import AbsentError, TooLargeError, UnreadableError
from mklbench.data.limits import Limits, beyond, megabytes
from mklbench.data.settings import is_http
from mklbench.data.unpacking import read_within
from mklbench.errors import DataError

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


def read(location: str, limits: Limits) -> bytes:
    """The bytes at a path or an http(s) URL.

    Parameters
    ----------
    location : str
        Path or URL.
    limits : Limits
        What it may take.

    Raises
    ------
    AbsentError, UnreadableError, TooLargeError
        The message is a reason in a few words, without the location.
    """
    if is_http(location):
        from mklbench.data.transfer import fetch  # imports requests, which most runs do not need

        return fetch(location, limits)
    return read_file(location, limits.n_bytes)


def read_file(path: str, limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes.

    A pipe or a device is refused before it is opened: it may hang, or never end.

    Raises
    ------
    AbsentError, UnreadableError, TooLargeError
        The message is a reason in a few words, without the path.
    """
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            kind = _KINDS.get(stat.S_IFMT(mode), "something else")
            raise UnreadableError(f"is {kind} and not a regular file")
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > limit:
                raise TooLargeError(f"holds {megabytes(size)}, more than {beyond(limit)}")
            return read_within(stream, limit)
    except DataError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise AbsentError("not there") from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a path with a zero byte
        raise UnreadableError(f"cannot be read: {error}") from error
