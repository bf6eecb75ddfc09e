"""Damaged files of a finished store: named, taken for missing, and made anew."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from faults.ground import Ground
from mklbench.experiments.files import DamagedError, read_verified

Damage = Callable[[Path, Random], None]


def flip_a_bit(path: Path, random: Random) -> None:
    """Flip one bit."""
    data = bytearray(path.read_bytes())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(bytes(data))


def cut_short(path: Path, random: Random) -> None:
    """Leave the beginning of the file."""
    path.write_bytes(path.read_bytes()[: random.randrange(path.stat().st_size)])


def put_zeros(path: Path, random: Random) -> None:
    """Put zeros in the place of the content, as some file systems do after a power cut."""
    path.write_bytes(bytes(path.stat().st_size))


def make_a_fifo(path: Path, random: Random) -> None:
    """Put a FIFO in the place of the file."""
    path.unlink()
    os.mkfifo(path)


def lead_nowhere(path: Path, random: Random) -> None:
    """Put a link to an endless device in the place of the file."""
    path.unlink()
    path.symlink_to("/dev/zero")


def take_another(path: Path, random: Random) -> None:
    """Put the whole file of another split or run in its place."""
    there = filter(_is_sound, path.parents[1].glob("*/*.json"))
    others = sorted(other for other in there if other.name != path.name)
    path.write_bytes(random.choice(others).read_bytes())


KINDS: tuple[Damage, ...] = (
    flip_a_bit, flip_a_bit, cut_short, put_zeros, make_a_fifo, lead_nowhere, take_another,
)  # fmt: skip


def flips(place: Ground, tries: int) -> None:
    """Flip one bit after the other: what is read of the store is the same, or counts as missing."""
    with place.tally("flipped bits").counted() as tally, place.directory() as here:
        place.again(here, tally, jobs=1)
        paths = sorted(path for path in here.glob("store/*/*.json") if path.is_file())
        whole = {path: read_verified(path) for path in paths}
        for _ in range(tries):
            path = place.random.choice(paths)
            data = path.read_bytes()
            flip_a_bit(path, place.random)
            tally.tries += 1
            with contextlib.suppress(DamagedError):
                tally.changed += read_verified(path) != whole[path]
            path.write_bytes(data)


def _is_sound(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def run(place: Ground, tries: int) -> None:
    """Damage one file after the other of a finished store, and run again after each."""
    with place.tally("damaged records").counted() as tally, place.directory() as here:
        place.again(here, tally, jobs=1)
        for number in range(tries):
            damage = KINDS[number % len(KINDS)]
            # A selection that no split waits for is not read, and stays as it is.
            sound = [path for path in here.glob("store/*/*.json") if _is_sound(path)]
            path = place.random.choice(sorted(sound))
            whole = path.read_bytes()
            damage(path, place.random)
            same = _is_sound(path) and path.read_bytes() == whole
            said = place.again(here, tally, jobs=1 + number % 2)
            tally.tries += 1
            # A bit that changes nothing, as that of E in 1E-5, is no damage.
            named = "is damaged and counts as missing" in said
            read = damage is flip_a_bit or path.name.startswith("selection-")
            tally.check(same or named or read, f"{damage.__name__} of {path.name} was not named")
