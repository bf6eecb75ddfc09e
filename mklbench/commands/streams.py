"""Standard output and standard error that may be closed, full, or left by their reader.

What a command prints is its result: if it cannot be written the user is told. What it says on
standard error is a courtesy: if nobody can hear it the work goes on.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from mklbench.errors import InputError


class _Stream:
    """A text stream of which only the writing is another."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def write(self, text: str) -> int:
        raise NotImplementedError


class Output(_Stream):
    """Standard output; writing that fails is an InputError, unless its reader has left."""

    def write(self, text: str) -> int:
        with _told():
            return self._stream.write(text)

    def flush(self) -> None:
        with _told():
            self._stream.flush()


class Courtesy(_Stream):
    """Standard error; writing that fails is of no consequence."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


@contextlib.contextmanager
def _told() -> Any:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise InputError(
            f"Standard output cannot be written: {(error.strerror or 'unknown error').lower()}."
        ) from error


def discard_output() -> None:
    """Send what is still to be printed nowhere, so that the interpreter ends without complaint."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def prepare() -> None:
    """Make the standard streams of this process safe to use; those that are closed are None.

    Raises
    ------
    InputError
        If standard output is closed.
    """
    sys.stderr = Courtesy(sys.stderr or _nowhere())
    if sys.stdout is None:
        sys.stdout = _nowhere()
        raise InputError("Standard output is closed: send it to a file, or to /dev/null.")
    sys.stdout = Output(sys.stdout)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
