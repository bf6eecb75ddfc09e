"""Kills at random moments: the whole run, the process that computes, a worker, the group."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from subprocess import Popen

import psutil

from faults import ground
from faults.ground import Ground
from faults.tally import Tally

# Seconds in which a run starts, and so do its workers; roughly, as that is another campaign.
_START = 0.8

Target = Callable[[Ground, "Popen[str]"], None]


def run(place: Ground, tries: int) -> list[Tally]:
    """Kill runners, workers and groups; a worker's death costs a run one split at most."""
    shares = {
        "kill the runner": (_kill_runner, 0.35, place.seconds),
        "kill the process that computes": (_kill_computing, 0.15, place.seconds),
        "kill the process group": (_kill_group, 0.15, place.seconds),
        "kill a worker": (_kill_worker, 0.2, place.seconds),
        "kill while starting": (_kill_any, 0.15, _START),
    }
    return [
        _campaign(place, name, target, max(1, round(share * tries)), latest)
        for name, (target, share, latest) in shares.items()
    ]


def _campaign(place: Ground, name: str, target: Target, tries: int, latest: float) -> Tally:
    tally = Tally(name)
    for number in range(tries):
        jobs = 2 + number % 2 if target is _kill_worker else 1 + number % 3
        with place.directory() as here:
            process = place.start(here, jobs)
            time.sleep(place.random.uniform(0.0, latest))
            target(place, process)
            _, said = process.communicate()
            tally.tries += 1
            tally.hear(said, name)
            ground.check_gone(here, tally, name)
            place.again(here, tally)
    return tally.end()


def _kill_runner(place: Ground, process: Popen[str]) -> None:
    process.kill()


def _kill_computing(place: Ground, process: Popen[str]) -> None:
    """Kill the child of the process that was started: it does the work or hands it out."""
    children = ground.family(process)[1:2]
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.kill()


def _kill_group(place: Ground, process: Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_worker(place: Ground, process: Popen[str]) -> None:
    """Kill one worker as soon as there is one."""
    while process.poll() is None:
        if found := ground.workers(process):
            with contextlib.suppress(psutil.Error):
                place.random.choice(found).kill()
            return
        time.sleep(0.01)


def _kill_any(place: Ground, process: Popen[str]) -> None:
    if members := ground.family(process):
        with contextlib.suppress(psutil.Error):
            place.random.choice(members).kill()
