"""What has to be done when the process is told to end at once.

On the command line a signal is heard by a thread that waits for nothing else
(`mklbench.supervision`): the main thread may be in the middle of a long call that never looks. That
thread tidies up what was handed to `on_leaving`, says what `saying` has to say, and ends the
process; whatever else goes on meanwhile stands still at its next `checkpoint`. Elsewhere, as in a
notebook, Ctrl-C is Python's KeyboardInterrupt as ever, and only `saying` does something with it.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

_leaving = threading.Event()
_step = threading.Lock()

# Seconds that the end waits for a `whole_step`: a file system may not answer.
_LONGEST_STEP = 0.3

_actions: list[Callable[[], object]] = []
_sentences: list[Callable[[], str]] = []


@contextlib.contextmanager
def on_leaving(action: Callable[[], object]) -> Iterator[None]:
    """Within the context, have `action` called if the process is told to end at once."""
    _actions.append(action)
    try:
        yield
    finally:
        _actions.remove(action)


@contextlib.contextmanager
def whole_step() -> Iterator[None]:
    """Have what is done within the context done as a whole, or not at all, before the end.

    It has to be short: the end waits for it, though not for ever.
    """
    with _step:
        checkpoint()
        yield


@contextlib.contextmanager
def temporary_directory(prefix: str, parent: str | None = None) -> Iterator[str]:
    """Make a directory that is gone after the context, also if the process is ended within it.

    It is made in `parent`, or where the system has its temporary files.
    """
    import shutil
    import tempfile

    with contextlib.ExitStack() as stack:
        with whole_step():
            directory = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
            )
            gone = on_leaving(lambda: shutil.rmtree(directory, ignore_errors=True))
            stack.enter_context(gone)
        yield directory


@contextlib.contextmanager
def saying(sentence: Callable[[], str]) -> Iterator[None]:
    """Within the context, say `sentence()` to who interrupts: what is kept, and how to go on."""
    _sentences.append(sentence)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(sentence()) from interrupt
    finally:
        _sentences.remove(sentence)


def checkpoint() -> None:
    """Stand still if the process is being ended: what is half done must not be said or kept."""
    if _leaving.is_set():
        threading.Event().wait()


def tidy_up() -> str:
    """Do what has to be done before the end, and return the sentence to be said, if any."""
    alone = _step.acquire(timeout=_LONGEST_STEP)
    _leaving.set()
    if alone:
        _step.release()
    for action in reversed(list(_actions)):
        with contextlib.suppress(Exception):
            action()
    with contextlib.suppress(Exception):
        return _sentences[-1]() if _sentences else ""
    return ""


def is_users(error: BaseException) -> bool:
    """Tell whether an exception is the user's Ctrl-C, rather than raised by the code at work."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    held = getattr(signal, "pthread_sigmask", None)
    return held is None or signal.SIGINT not in held(signal.SIG_BLOCK, ())
