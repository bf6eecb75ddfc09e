"""Ctrl-C and SIGTERM end the program within two seconds, whatever it is doing.

Either raises KeyboardInterrupt in the main thread, so that contexts tidy up. Steps are computed in
worker processes, so the main thread seldom is in a call that keeps it from hearing; where it is, a
thread that only watches ends the process.

Only the standard library is imported here, and little of it, as nothing is heard before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

# Seconds that the main thread has for tidying up.
_GRACE = 1.5
_NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"

_heard: list[int] = []


def listen() -> None:
    """Have SIGINT and SIGTERM end this process; SIGINT stays ignored where a shell has it so."""
    for number in _NAMES:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # Written to by the interpreter's own handler, also while the main thread cannot run.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()


def leave(sentence: str = "") -> None:
    """End this process with the status of what it heard; its workers end with it."""
    number = _heard[0] if _heard else signal.SIGINT
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    tidy = _SHOW_CURSOR if sys.stderr is not None and sys.stderr.isatty() else ""
    said = f"{tidy}mklbench: {_NAMES[signal.Signals(number)]}{sentence and ': '}{sentence or '.'}\n"
    with contextlib.suppress(OSError):  # full, or left by its reader
        os.write(2, said.encode())
    os._exit(128 + number)


def was_heard() -> bool:
    """Tell whether a signal is to end this process."""
    return bool(_heard)


@contextlib.contextmanager
def saying(sentence: str) -> Iterator[None]:
    """Within the context, say a sentence to who interrupts: what is kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(sentence) from interrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    for other in _NAMES:
        signal.signal(other, signal.SIG_IGN)  # who is impatient does not disturb the tidying up
    _heard.append(number)
    raise KeyboardInterrupt


def _watch(reading: int) -> None:
    while (number := os.read(reading, 1)[0]) not in _NAMES:
        pass
    time.sleep(_GRACE)
    _heard.append(number)
    leave("what was finished is kept.")
