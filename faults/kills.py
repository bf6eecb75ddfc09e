"""Kills at random moments: the runner, a worker, the group, whatever there is at the start."""

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


def run(place: Ground, tries: int) -> None:
    """Kill runners, workers and groups; a worker's death costs a run one split at most."""
    kinds = {
        "kill the runner": (_kill_runner, 0.4, None),
        "kill the process group": (_kill_group, 0.15, None),
        "kill a worker": (_kill_worker, 0.3, None),
        "kill while starting": (_kill_any, 0.15, _START),
    }
    shares = {name: max(1, round(share * tries)) for name, (_, share, _) in kinds.items()}
    order = [name for name, share in shares.items() for _ in range(share)]
    place.random.shuffle(order)
    tallies = {name: place.tally(name) for name in kinds}
    for name in order:
        target, _, latest = kinds[name]
        with tallies[name].counted():
            while not _kill(place, tallies[name], target, latest):
                pass


def _kill(place: Ground, tally: Tally, target: Target, latest: float | None) -> bool:
    """Kill once; False if the run had ended before."""
    jobs = 1 + tally.tries % 3
    with place.directory() as here:
        process = place.start(here, jobs)
        in_time = place.reaches(process, latest)
        if in_time:
            target(place, process)
        _, said = process.communicate()
        tally.hear(said, tally.campaign)
        ground.check_gone(here, tally, tally.campaign)
        place.again(here, tally)
    tally.tries += in_time
    return in_time


def _kill_runner(place: Ground, process: Popen[str]) -> None:
    process.kill()


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
