"""Ctrl-C and SIGTERM at random moments: an end soon, with the right exit status."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from faults import ground
from faults.ground import Ground
from faults.tally import Tally

_LIMIT = 20.0  # generous, as the machine may be busy; how long it took is reported

# A long LIBSVM call and a dense eigenproblem, in which nothing of Python runs.
_LONG = (
    ("algo=svm", "kernel=gaussian", "kernel.gamma=0.001", "algo.C=1e7", "algo.svm_tol=1e-6"),
    ("algo=krr", "kernel=gaussian"),
)


def run(place: Ground, tries: int) -> None:
    """Interrupt the run, and calls that take long, at 1 to 3 jobs."""
    with place.tally("Ctrl-C and SIGTERM", slowest=0.0).counted() as tally:
        while tally.tries < tries:
            with place.directory() as here:
                process = place.start(here, 1 + tally.tries % 3)
                _interrupt(place, process, tally)
                ground.check_gone(here, tally, tally.campaign)
                place.again(here, tally)
    with place.tally("Ctrl-C in a long call", slowest=0.0).counted() as long:
        for number in range(max(1, tries // 4)):
            with place.directory() as here:
                options = [*_LONG[number % 2], "data=twonorm", "data.n_samples=5000"]
                options += ["split.n_splits=2", f"jobs={1 + number % 2}", "results_dir=store"]
                process = ground.start(["run", *options], here)
                _interrupt(place, process, long, 6.0)
                ground.check_gone(here, long, long.campaign)


def _interrupt(
    place: Ground, process: subprocess.Popen[str], tally: Tally, latest: float | None = None
) -> None:
    in_time = place.reaches(process, latest) and ground.has_begun(process)
    number = place.random.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM))
    began = time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        if place.random.random() < 0.5:  # as a terminal does
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        if place.random.random() < 0.3:  # somebody is impatient
            time.sleep(place.random.uniform(0.0, 0.05))
            process.send_signal(number)
    _, said = process.communicate()
    seconds = time.monotonic() - began
    tally.hear(said, tally.campaign)
    if not in_time:
        tally.check(process.returncode == 0, f"ended before: {said.strip()[-200:]}")
        return
    tally.tries += 1
    tally.slowest = max(tally.slowest or 0.0, seconds)
    right = process.returncode in (128 + number, 0)
    tally.check(right, f"exit status {process.returncode} after {number!r}")
    tally.check(seconds < _LIMIT, f"{seconds:.1f} s after {number!r}")
