"""No room to write: file size limits, full and read-only file systems; one sentence each."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

from faults.ground import Ground
from faults.tally import Tally


def run(place: Ground, tries: int) -> None:
    """Run into each limit, then run again without it."""
    for name, limit in (
        ("file size limit (ulimit -f)", _limited),
        ("full disk", _full),
        ("read-only folder", _read_only),
    ):
        with place.tally(name).counted() as tally:
            limit(place, tries, tally)


def _limited(place: Ground, tries: int, tally: Tally) -> None:
    for number in range(tries):
        most_bytes = place.random.choice((0, 1024, 3072, 4096))

        def limit(most_bytes: int = most_bytes) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

        with place.directory() as here:
            _refused(place, here, tally, 1 + number % 2, preexec_fn=limit)
            place.again(here, tally)


def _full(place: Ground, tries: int, tally: Tally) -> None:
    for number in range(tries):
        kilobytes = place.random.choice((4, 16, 32, 48))
        with place.directory() as here, _small_disk(here, kilobytes, tally) as mounted:
            if not mounted:
                break
            _refused(place, here, tally, 1 + number % 2)
            _mount(here, "remount,size=16m")
            place.again(here, tally)


def _read_only(place: Ground, tries: int, tally: Tally) -> None:
    for number in range(tries):
        with place.directory() as here, _small_disk(here, 16384, tally) as mounted:
            if not mounted:
                break
            if number % 2:  # something is finished
                place.again(here, tally)
                record = place.random.choice(sorted(here.glob("store/*/split-*.json")))
                record.unlink()
            _mount(here, "remount,ro")
            _refused(place, here, tally, 1 + number % 2)
            _mount(here, "remount,rw")
            place.again(here, tally)


def _refused(place: Ground, here: Path, tally: Tally, jobs: int, **how: object) -> None:
    """Run once where there is no room: one sentence, exit status 2, and no half of a file."""
    process = place.start(here, jobs, "progress=none", **how)
    _, said = process.communicate()
    tally.tries += 1
    tally.hear(said, tally.campaign)
    sentence = said.startswith("mklbench: error: ") and said.count("\n") == 1
    tally.check(
        (process.returncode == 2 and sentence) or (process.returncode, said) == (0, ""),
        f"{tally.campaign}: exit status {process.returncode}: {said.strip()[-200:]}",
    )
    left = [path.name for path in here.rglob(".*.tmp")]
    tally.check(not left, f"{tally.campaign}: {len(left)} temporary files were left behind")


@contextlib.contextmanager
def _small_disk(here: Path, kilobytes: int, tally: Tally) -> Iterator[bool]:
    """Mount a file system of so many kilobytes at a directory, if this user may."""
    mounted = os.geteuid() == 0 and _mount(here, f"size={kilobytes}k", "-t", "tmpfs", "tmpfs")
    if not mounted:
        tally.skipped = "needs the right to mount"
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(here)], check=False, capture_output=True)


def _mount(here: Path, options: str, *what: str) -> bool:
    command = ["mount", "-o", options, *what, str(here)]
    with contextlib.suppress(OSError):
        ended = subprocess.run(command, check=False, capture_output=True)
        return ended.returncode == 0
    return False
