"""Work in a fresh process that is ended when it takes too long, and what memory it needed."""

from __future__ import annotations

import multiprocessing
import resource
import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from threadpoolctl import threadpool_limits

Send = Callable[[Any], None]


def limited(
    work: Callable[..., None], *arguments: Any, seconds: float, threads: int = 1
) -> Iterator[Any]:
    """Run ``work(send, *arguments)`` in a fresh process and yield what it sends, as it comes.

    `work` is a function of a module, its arguments can be pickled, and BLAS has one thread, or so
    many as are given. The process is ended when nothing has come for `seconds`: what it has sent
    by then stands.

    Raises
    ------
    RuntimeError
        If the process fails.
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sending, work, arguments, threads), daemon=True)
    process.start()
    sending.close()
    try:
        while receiving.poll(seconds):
            try:
                yield receiving.recv()
            except EOFError:
                process.join()
                if process.exitcode:
                    raise RuntimeError(f"{work.__name__} failed, see above") from None
                return
    finally:
        process.kill()
        process.join()
        receiving.close()


def _run(sending: Any, work: Callable[..., None], arguments: tuple[Any, ...], threads: int) -> None:
    with threadpool_limits(limits=threads):
        work(sending.send, *arguments)


def forget_peak() -> None:
    """Let `peak_megabytes` count from now on, where the system can (Linux)."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
            handle.write("5")
    except OSError:
        pass


def cost_of(
    work: Callable[[], Any], clock: Callable[[], float] = process_time
) -> tuple[Any, float, float]:
    """Return what `work` returns, its seconds, and the gigabytes that the process had at most."""
    forget_peak()
    start = clock()
    result = work()
    return result, clock() - start, peak_megabytes() / 1e3


def peak_megabytes() -> float:
    """Return the largest resident memory of this process so far."""
    try:
        # getrusage() would count the process that started this one, too.
        with open("/proc/self/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except OSError:
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
