"""Kills at random moments: the runner, a worker, the group, on each of the three executors."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from subprocess import Popen

import psutil

from faults import ground
from faults.ground import ROOT, Ground
from faults.tally import Tally

# Seconds in which a run starts, and so do its workers; roughly, as that is another campaign.
_START = 0.8

Target = Callable[[Ground, "Popen[str]", Path], None]


def run(place: Ground, tries: int) -> None:
    """Kill runners, workers and groups; a worker's death costs a run one split at most.

    An eighth of the tries is on Dask and an eighth on Slurm, where there are such.
    """
    _on_one(place, "", tries - 2 * (tries // 8), {}, lambda jobs: ())
    dask = ("executor=dask",)
    _on_one(place, " on Dask", tries // 8, {}, lambda jobs: (*dask, f"executor.workers={jobs}"))
    slurm = ("executor=slurm", "executor.poll=0.5")
    with _slurm(place, tries // 8) as variables:
        if variables is not None:
            _on_one(
                place,
                " on Slurm",
                tries // 8,
                variables,
                lambda jobs: (*slurm, f"executor.array={jobs}"),
            )


def _on_one(
    place: Ground,
    where: str,
    tries: int,
    variables: Mapping[str, str],
    options: Callable[[int], tuple[str, ...]],
) -> None:
    kinds = {
        "kill the runner": (_kill_runner, 0.4, None),
        "kill the process group": (_kill_group, 0.15, None),
        "kill a worker": (_kill_worker, 0.3, None),
        "kill while starting": (_kill_any, 0.15, _START),
    }
    order = [name for name, (_, share, _) in kinds.items() for _ in range(round(share * tries))]
    place.random.shuffle(order)
    tallies = {name: place.tally(name + where) for name in dict.fromkeys(order)}
    for name in order:
        target, _, latest = kinds[name]
        tally = tallies[name]
        with tally.counted():
            while not _kill(place, tally, target, latest, variables, options):
                pass


def _kill(
    place: Ground,
    tally: Tally,
    target: Target,
    latest: float | None,
    variables: Mapping[str, str],
    options: Callable[[int], tuple[str, ...]],
) -> bool:
    """Kill once; False if the run had ended before."""
    jobs = 1 + tally.tries % 3
    with place.directory() as here:
        more = options(jobs)
        process = place.start(here, 1 if more else jobs, *more, environment=variables)
        in_time = place.reaches(process, latest)
        if in_time:
            target(place, process, here)
        _, said = process.communicate()
        tally.hear(said, tally.campaign)
        ground.check_gone(here, tally, tally.campaign)
        place.again(here, tally)
    tally.tries += in_time
    return in_time


def _kill_runner(place: Ground, process: Popen[str], here: Path) -> None:
    process.kill()


def _kill_group(place: Ground, process: Popen[str], here: Path) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_worker(place: Ground, process: Popen[str], here: Path) -> None:
    """Kill one worker, or a job's process, as soon as there is one."""
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            found = [each for each in ground.inside(here) if each.pid != process.pid]
            # The helper of multiprocessing, which Dask uses, prints a traceback of its own.
            found = [each for each in found if "resource_tracker" not in " ".join(each.cmdline())]
            if found:
                place.random.choice(found).kill()
                return
        time.sleep(0.01)


def _kill_any(place: Ground, process: Popen[str], here: Path) -> None:
    if members := ground.family(process):
        with contextlib.suppress(psutil.Error):
            place.random.choice(members).kill()


@contextlib.contextmanager
def _slurm(place: Ground, tries: int) -> Iterator[Mapping[str, str] | None]:
    """Start the Slurm of the tests, if it can be; give what tells its clients which it is."""
    sys.path.insert(0, str(ROOT / "tests" / "cluster"))
    import engines
    import slurm_cluster

    if tries == 0 or (reason := slurm_cluster.missing()):
        if tries:
            place.tally("kills on Slurm").skipped = reason or ""
        yield None
        return
    cluster = slurm_cluster.SlurmCluster(place.path / "slurm")
    with engines.stopped_with_us(Path(slurm_cluster.__file__), cluster.directory):
        cluster.start()
        yield cluster.variables
        cluster.stop()
