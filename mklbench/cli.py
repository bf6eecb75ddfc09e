"""The command line: from arguments to an exit status, and what a user sees of an error.

The sub-commands and what they take stand in `mklbench.commands.grammar`.

Only the standard library is imported here, so that ``mklbench --help`` answers at once; each
command imports what it needs when it runs.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mklbench.commands import grammar
from mklbench.errors import InputError, reason

INPUT_ERROR, FAILED = 2, 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status.

    0: done; 1: a run or a check failed; 2: something the user can mend, said in one sentence on
    stderr; 130: interrupted; 143: terminated.

    Parameters
    ----------
    argv : sequence of str or None, default=None
        The arguments, to be run in this process. Without them this is the program: it takes
        those of the process, and `mklbench.__main__` ends it when it is interrupted.
    """
    if argv is not None:
        return _main(list(argv))
    # In the place of one that is closed, which a file would take.
    sys.stdout, sys.stderr = (
        stream or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr)
    )
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    if sys.argv[1:2] in (["table"], ["report"]) or "--dry-run" in sys.argv[1:]:
        # All that these read is in use to their end: to look for garbage takes a quarter of it.
        gc.disable()
    return _main(sys.argv[1:])


def _main(arguments: list[str]) -> int:
    try:
        status = _dispatch(arguments)
        print(end="", flush=True)
    except InputError as error:
        return _refuse(error)
    except MemoryError as error:
        print(f"mklbench: error: the memory did not suffice: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader of stdout has gone, as in `mklbench list data | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except OSError as error:  # of the system that we run on, such as a full disk
        name = f"{error.filename}: " if error.filename is not None else _output(error)
        return _refuse(InputError(f"{name}{reason(error)}."))
    return status


def _output(error: OSError) -> str:
    """Return the start of the sentence on an error of standard output; "" for another."""
    if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF):
        return ""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the interpreter ends without complaint
    return "Standard output cannot be written: "


def _refuse(error: InputError) -> int:
    print(f"mklbench: error: {error}", file=sys.stderr)
    return INPUT_ERROR


def _show_warning(message: Warning | str, *where: Any) -> None:
    """Print a warning as it is to be read by a user: in one line."""
    print(f"mklbench: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _dispatch(arguments: list[str]) -> int:
    # Hydra parses what follows `run` itself; argparse would refuse its flags.
    if arguments[:1] == ["run"]:
        from mklbench.commands.run import run

        return run(arguments[1:])
    if arguments[:1] in (["-sc"], ["--shell-completion"]):
        return grammar.complete(arguments)
    if arguments in ([], ["list"]):
        arguments = [*arguments, "--help"]
    function, given = grammar.read(arguments)
    found = function(**given)
    if isinstance(found, int):
        return found
    print(f"Wrote {found}" if isinstance(found, Path) else found)
    return 0
