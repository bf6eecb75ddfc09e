"""How long a user waits before anything happens."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from time import perf_counter

from benchmarks.output import publish, table_of
from benchmarks.timing import FIGURES, Result


def run() -> list[Result]:
    """Return the time of the help, and of a whole run of one short split."""
    help_seconds = _median_seconds("--help")
    with tempfile.TemporaryDirectory() as folder:
        # Seeds give each run a run of its own, so that none is found finished.
        run_seconds = _median_seconds(
            "run", "algo=svm", "data=wdbc", "split.n_splits=1", f"results_dir={folder}"
        )
    # Of the processor: finding the runs of tables.
    everything = _cpu_seconds("reproduce", "--dry-run")
    one = _cpu_seconds("table", "picard2012_table1", "--recorded")
    results = [
        Result("mklbench --help", f"{help_seconds:.2f} s", "< 0.2 s", help_seconds < 0.2),
        Result(
            "mklbench run, start to end with one solve of 3 ms (until it solves: less)",
            f"{run_seconds:.2f} s",
            "< 2 s",
            run_seconds < 2.0,
        ),
        Result(
            "mklbench reproduce --dry-run, all tables, seconds of the processor",
            f"{everything:.1f} s",
            "< 5 s",
            everything < 5.0,
        ),
        Result(
            "mklbench table picard2012_table1 --recorded, seconds of the processor",
            f"{one:.2f} s",
            "< 1 s",
            one < 1.0,
        ),
    ]
    load = f"The load of the machine was {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors."
    publish("startup.md", "Before anything is run", load, table_of(results, FIGURES, n_labels=1))
    return results


def _cpu_seconds(*arguments: str) -> float:
    """Return the median of three runs, by the processor's clock, which is the quieter one."""
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            store = ["--results-dir", f"{folder}/store"]
            subprocess.run(
                [sys.executable, "-m", "mklbench", *arguments, *store],
                stdout=subprocess.DEVNULL,
                check=True,
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(seconds)


def _median_seconds(*arguments: str) -> float:
    seconds = []
    for repeat in range(5):
        own = [f"split.seed={repeat}"] if arguments[0] == "run" else []
        command = [sys.executable, "-m", "mklbench", *arguments, *own]
        started = perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        seconds.append(perf_counter() - started)
    return statistics.median(seconds)
