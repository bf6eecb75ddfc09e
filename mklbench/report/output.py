"""Writing the files of a report, with errors of one sentence."""

from __future__ import annotations

from pathlib import Path

from mklbench.errors import InputError
from mklbench.experiments import files


def write_result(path: Path, content: bytes) -> None:
    """Write `content` to `path`, whole or not at all; make its directory where there is none.

    Raises
    ------
    InputError
        If the directory cannot be made or written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(path, content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {files.reason(error)}.") from error
