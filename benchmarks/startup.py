"""How long a user waits before anything happens."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from time import perf_counter

from benchmarks.timing import Result


def run() -> list[Result]:
    """Return the time of the help, and of a whole run of one short split."""
    help_seconds = _median_seconds("--help")
    with tempfile.TemporaryDirectory() as folder:
        # Seeds give each run a cell of its own, so that none is found finished.
        run_seconds = _median_seconds(
            "run", "algo=svm", "data=wdbc", "split.n_splits=1", f"results_dir={folder}"
        )
    return [
        Result("mklbench --help", f"{help_seconds:.2f} s", "< 0.2 s", help_seconds < 0.2),
        Result(
            "mklbench run, start to end with one solve of 3 ms (until it solves: less)",
            f"{run_seconds:.2f} s",
            "< 2 s",
            run_seconds < 2.0,
        ),
    ]


def _median_seconds(*arguments: str) -> float:
    seconds = []
    for repeat in range(5):
        own = [f"split.seed={repeat}"] if arguments[0] == "run" else []
        command = [sys.executable, "-m", "mklbench", *arguments, *own]
        started = perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        seconds.append(perf_counter() - started)
    return statistics.median(seconds)
