"""Starting worker processes, also before it is known what they are to do.

A worker imports for half a second, and so does the program before it knows its steps: the workers
that somebody asks for on the command line are started first of all, and load while it plans. Only
the standard library is imported here.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence

# Set before NumPy is loaded, which reads them once.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)

_MODULE = "mklbench.experiments.execution.worker"

# The flags of `mklbench run` with which it does run; with others it may only show something.
_RUNNING = ("-m", "--multirun")


class Started:
    """A process that takes tasks, or will as soon as it has loaded what it needs.

    Attributes
    ----------
    search_path : str
        Where it looks for modules.
    mark : str
        Part of the names of its temporary files.
    stderr : file
        What it prints.
    process : Popen
        The process; tasks go in and answers come out.
    """

    def __init__(self) -> None:
        self.search_path = search_path()
        self.mark = uuid.uuid4().hex[:12]
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE, str(os.getpid()), self.mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env=os.environ | _ONE_THREAD | {"PYTHONPATH": self.search_path},
            bufsize=0,
            process_group=0,  # Ctrl-C on the terminal is for the parent alone
        )

    def close(self) -> None:
        """End the process now; what it has printed can still be read."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


_ahead: list[Started] = []


def start_ahead(arguments: Sequence[str]) -> None:
    """Start the workers that the arguments of ``mklbench run`` ask for, as far as that is plain.

    At most one a processor: more would only be in the way of the program itself.
    """
    if any(text.startswith("-") and text not in _RUNNING for text in arguments):
        return
    typed = dict(text.split("=", 1) for text in arguments if "=" in text)
    jobs = typed.get("jobs", "")
    if not (jobs.isascii() and jobs.isdecimal()) or typed.get("executor", "local") != "local":
        return
    n_workers = min(int(jobs[:9]), os.cpu_count() or 1)
    if n_workers > 1:  # one job is done without
        atexit.register(_end_unused)
        with contextlib.suppress(OSError):  # it is said when a worker is needed
            _ahead.extend(Started() for _ in range(n_workers))


def started() -> Started:
    """Return a process for a worker: a new one, or one that was started ahead.

    Where modules are looked for may have changed since; that one is then of no use.

    Raises
    ------
    OSError
        If none can be started.
    """
    wanted = search_path()
    while _ahead:
        worker = _ahead.pop(0)
        if worker.search_path == wanted:
            return worker
        _discard(worker)
    return Started()


def _end_unused() -> None:
    while _ahead:
        _discard(_ahead.pop())


def _discard(worker: Started) -> None:
    worker.close()
    worker.stderr.close()


def search_path() -> str:
    """Return where this process looks for modules, for another one to look there, too."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)
