"""A worker process: takes the steps it is told to, one at a time, and stores their results.

Tasks come as JSON lines on standard input, answers go as JSON lines to standard output. When the
input closes, because the parent is done, was interrupted or was killed, the worker is gone at once.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from typing import Any, TextIO

from mklbench import resources
from mklbench.errors import InputError
from mklbench.experiments import files
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.steps import Step, take
from mklbench.experiments.stages import listening
from mklbench.experiments.store import Store, StoreError
from mklbench.supervision import end_with_parent


def main() -> None:
    """Serve tasks until standard input closes."""
    end_with_parent(int(sys.argv[1]))
    files.mark = sys.argv[2]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    if hasattr(signal, "pthread_sigmask"):  # the parent may hold it back, who listens for it
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    faulthandler.enable()  # a crash leaves its place on stderr, which the parent keeps
    answers = _private_stdout()
    tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(sys.stdin, tasks), daemon=True).start()
    _answer(answers, {"ready": True})
    while True:
        _answer(answers, _serve(tasks.get(), answers))


def _read_tasks(stream: TextIO, tasks: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in stream:
        tasks.put(json.loads(line))
    os._exit(0)  # the main thread may be in the middle of a fit that nobody waits for


def _serve(task: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    """Take a step, telling meanwhile how far its search is; return how it ended."""
    os.environ.update(task["environment"])
    resources.find_modules_in(task["modules"])
    try:
        with listening(lambda n_done, n_fits: _answer(answers, {"fits": [n_done, n_fits]})):
            take(Step(Cell(task["config"]), task["split"], task["selects"]), Store(task["store"]))
    except StoreError as error:
        return {"store_error": str(error)}
    except InputError as error:
        return {"input_error": str(error)}
    return {"ended": True}


def _private_stdout() -> TextIO:
    """Return the stream of answers, and send whatever else is printed to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer(stream: TextIO, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
