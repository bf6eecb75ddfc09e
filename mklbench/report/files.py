"""Writing reports so that a reader never sees half a file."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from mklbench.errors import InputError


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to a temporary file beside `path` and move it there.

    Raises
    ------
    InputError
        If the directory cannot be made or written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _cannot_write(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written: {error.strerror}.")
