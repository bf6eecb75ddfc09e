"""The program runs in a process of its own, and its parent does nothing but listen.

Numerical libraries may keep Python from running for minutes, so nothing inside a process can be
relied on to end it. The parent passes SIGINT and SIGTERM on, gives the program a moment to say
goodbye, and ends it if it does not; it knows a program that vanished from one that ended; and it
leaves no process behind. Forked before anything is loaded, it costs a millisecond or two.

Only the standard library is imported here, and little of it, as signals are first held back here.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds that a program has for its goodbye.
_GRACE = 1.2

# Of <sys/prctl.h>.
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36

# What a program tells when it ends by itself.
_ENDS = b"."

_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"

_SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


def hold_signals() -> None:
    """Keep SIGINT and SIGTERM for who listens, so that none of them interrupts an import."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, _heard())


def supervise(program: Callable[[], int]) -> int:
    """Run `program` in a child process, where this returns its exit status, and end with that.

    130 after SIGINT and 143 after SIGTERM, within two seconds; 1 if it ended without a word; 128
    plus the number of the signal that killed it. SIGINT stays ignored where it is, as in the
    background jobs of a script.
    """
    if not hasattr(os, "fork"):
        return program()
    hold_signals()
    _open_standard_descriptors()
    signal.signal(signal.SIGCHLD, lambda number, frame: None)  # what is ignored is not waited for
    signal.pthread_sigmask(signal.SIG_BLOCK, _of_supervisor())
    supervisor = os.getpid()
    ending, report = os.pipe()
    try:
        child = os.fork()
    except OSError as error:
        _say(f"mklbench: error: no process can be started: {error.strerror}.")
        return 1
    if child == 0:
        os.close(ending)
        return _be_supervised(program, supervisor, report)
    os.close(report)
    os.set_blocking(ending, False)
    status = _listen(child, ending)
    _end_orphans()
    os._exit(status)  # there is nothing to be tidied up in this process


def end_with_parent(parent: int) -> None:
    """Have this process killed when the process `parent` that started it ends, however that ends.

    On Linux; elsewhere nothing is done.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _heard() -> set[signal.Signals]:
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    return {signal.SIGTERM} if ignored else {signal.SIGTERM, signal.SIGINT}


def _of_supervisor() -> set[signal.Signals]:
    return {signal.SIGCHLD, signal.SIGALRM}


def _listen(child: int, ending: int) -> int:
    """Pass signals on until the child has ended; return its exit status."""
    asked = None
    while True:
        heard = signal.sigwait(_heard() | _of_supervisor())
        if heard == signal.SIGCHLD:
            ended, how = os.waitpid(child, os.WNOHANG)
            if ended:
                return _status(os.waitstatus_to_exitcode(how), _read(ending), asked)
        elif heard == signal.SIGALRM:
            os.kill(child, signal.SIGKILL)
        else:
            if asked is None:
                _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what the program leaves behind comes here
                signal.setitimer(signal.ITIMER_REAL, _GRACE)
            asked = heard
            os.kill(child, heard)


def _read(ending: int) -> bytes:
    """Return what the program has told."""
    try:
        return os.read(ending, 100)
    except BlockingIOError:  # nothing; the program, or what it has left behind, may still tell
        return b""


def _status(code: int, said: bytes, asked: int | None) -> int:
    """Return the exit status that the program has told, or say what happened to it."""
    if _ENDS in said:
        return code
    if asked is not None:
        tidy = _SHOW_CURSOR if sys.stderr is not None and sys.stderr.isatty() else ""
        _say(f"{tidy}mklbench: {_SAID[signal.Signals(asked)]}; what was finished is kept.")
        return 128 + asked
    if code < 0:
        name = signal.Signals(-code).name
        memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
        _say(f"mklbench: error: the run was killed ({name}{memory}); what was finished is kept.")
        return 128 - code
    _say(f"mklbench: error: the code that was run ended the program (exit status {code}).")
    return code or 1


def _be_supervised(program: Callable[[], int], supervisor: int, report: int) -> int:
    """Run the program in the child; tell the supervisor that it has ended by itself."""
    import threading

    from mklbench import interruption

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _of_supervisor())
    end_with_parent(supervisor)
    threading.Thread(target=_leave_when_told, args=(report,), daemon=True).start()
    try:
        return program()
    finally:
        interruption.checkpoint()  # how it ended may come of the tidying up
        os.write(report, _ENDS)


def _leave_when_told(report: int) -> None:
    from mklbench import interruption

    heard = signal.sigwait(_heard())
    sentence = interruption.tidy_up()
    _say(f"mklbench: {_SAID[signal.Signals(heard)]}{f': {sentence}' if sentence else '.'}")
    os.write(report, _ENDS)
    os._exit(128 + heard)


def _say(text: str) -> None:
    """Say it on the standard error of the process, wherever sys.stderr leads just now."""
    try:  # noqa: SIM105 - importing contextlib takes longer
        os.write(2, f"{text}\n".encode())
    except OSError:  # full, or left by its reader
        pass


def _open_standard_descriptors() -> None:
    """See to it that no file opened later gets the number of a standard stream that is closed."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _end_orphans() -> None:
    """Kill what the program has left running, on Linux, where it became this process's."""
    own = os.getpid()
    while True:
        try:
            with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as children:
                left = [int(child) for child in children.read().split()]
            for child in left:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        except OSError:
            return
        if not left:
            return


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
