"""What many processes on one cache lack is made by one of them, and the others wait for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mklbench.claims import claiming_paths, holder

logger = logging.getLogger(__name__)

# Seconds between two looks of a process that waits.
LOOK_AGAIN = 0.5

Made = TypeVar("Made")


def made_once(
    files: Sequence[Path], read: Callable[[], Made | None], make: Callable[[], Made], what: str
) -> Made:
    """Return what `read` finds; where it finds nothing, one process makes it and the others wait.

    If the one that makes it is gone or fails, the next one makes it. Where no claim can be made,
    as in a directory that cannot be written, each process makes it for itself.

    Parameters
    ----------
    files : sequence of Path
        That `make` writes, in one directory; a claim beside them says who does.
    read : callable
        Returns what the files hold, or None while they do not hold it.
    make : callable
        Writes the files and returns what they hold.
    what : str
        What is done meanwhile, for who has to wait, such as ``"data=iris is being downloaded"``.
    """
    seen = _state(files)
    if (found := read()) is not None:
        return found
    claim = files[0].with_name(f"{files[0].name}.claim")
    waits = False
    with claiming_paths() as claims:
        while not _has_turn(claims.take, claim):
            if not waits:
                _say(what, claim)
                waits = True
            time.sleep(LOOK_AGAIN)
            # Reading may take seconds: only what has changed is read again.
            if (state := _state(files)) != seen:
                seen = state
                if (found := read()) is not None:
                    return found
        # Another may have finished just before. A claim is made in the directory of the files, so
        # that also a network file system shows what is there now.
        if _state(files) != seen and (found := read()) is not None:
            return found
        return make()


def _has_turn(take: Callable[[Path], bool], claim: Path) -> bool:
    """Whether this process may make it: it has the claim, or there can be none."""
    try:
        return take(claim)
    except OSError:
        return True


def _state(files: Sequence[Path]) -> list[tuple[int, ...] | None]:
    """Something that changes when a file is replaced."""
    return [_state_of(path) for path in files]


def _state_of(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _say(what: str, claim: Path) -> None:
    owner = holder(claim)
    where = "elsewhere" if owner is None else f"on {owner.host} (pid {owner.pid})"
    logger.warning("%s %s, which is waited for.", what, where)
