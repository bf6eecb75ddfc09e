"""Where things are kept: the cache, the mirror, disks, and the claims of a store."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mklbench import memory
from mklbench.data.cache import MIRROR_VARIABLE, cache_directory, is_http, mirror_location
from mklbench.diagnosis.finding import Finding, count
from mklbench.errors import InputError
from mklbench.experiments.execution.claims import heartbeat, holder
from mklbench.experiments.store import Store

# Less free space than this on a disk is soon used up, and fewer files.
_LITTLE_SPACE, _FEW_FILES = 2**30, 10_000
# Seconds that a mirror may take to answer.
_PATIENCE = 5.0
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "lustre", "beegfs", "ceph")
# Where the standard library looks for a directory for temporary files, in this order.
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")

_MOUNTS = Path("/proc/self/mounts")


def cache() -> Iterator[Finding]:
    """Say where downloads are kept, and whether they can be."""
    directory = cache_directory()
    files = [path for path in directory.rglob("*") if path.is_file()] if directory.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    said = f"{directory}: {count(len(files), 'file')}, {memory.in_words(size)}"
    if os.access(_existing(directory), os.W_OK):
        yield Finding("ok", "cache", said)
    else:
        yield Finding(
            "slow",
            "cache",
            f"{said}; it cannot be written, so that every run downloads again",
            "set MKLBENCH_CACHE to a directory that you can write to",
        )


def mirror() -> Iterator[Finding]:
    """Say which mirror is set, and whether it answers."""
    try:
        place = mirror_location()
    except InputError as error:
        said = str(error).removesuffix(".").removesuffix(": correct it or unset it")
        yield Finding("problem", "mirror", said, f"correct or unset {MIRROR_VARIABLE}")
        return
    if place is None:
        yield Finding("ok", "mirror", f"none: {MIRROR_VARIABLE} is not set")
    elif is_http(place):
        why = _silence(place)
        yield Finding(
            "problem" if why else "ok",
            "mirror",
            f"{place} does not answer ({why})" if why else place,
            f"correct or unset {MIRROR_VARIABLE}, or see to the network" if why else "",
        )
    else:
        yield _mirror_directory(Path(place))


def _mirror_directory(place: Path) -> Finding:
    try:
        held = sum(1 for _ in place.iterdir())
    except OSError as error:
        said = f"{place} cannot be read ({error.strerror})"
        return Finding("problem", "mirror", said, f"correct or unset {MIRROR_VARIABLE}")
    if held == 0:
        return Finding(
            "note",
            "mirror",
            f"{place} is empty, so that everything is downloaded from where it comes from",
            f"correct or unset {MIRROR_VARIABLE}; its folders are named as in `mklbench data list`",
        )
    return Finding("ok", "mirror", f"{place}: {count(held, 'folder')}")


def _silence(url: str) -> str:
    """Return why a server does not answer; empty if it does."""
    import requests

    try:
        requests.head(url, timeout=_PATIENCE)
    except requests.RequestException as error:
        return type(error).__name__
    return ""


def disks(store: Store) -> Iterator[Finding]:
    """Say how much room there is for records, downloads and temporary files."""
    yield _room("store", store.path, "--results-dir")
    if not os.access(_existing(store.path), os.W_OK):
        yield Finding(
            "problem",
            "disk",
            f"the store ({store.path}) cannot be written, so that nothing can be run",
            "change its permissions, or --results-dir",
        )
    yield _room("cache", cache_directory(), "MKLBENCH_CACHE")
    yield from _temporary_files()
    kind = _file_system(_existing(store.path))
    if kind in _NETWORK:
        yield Finding(
            "note",
            "disk",
            f"the store is on a network ({kind})",
            "nothing, if several machines share it; else --results-dir on a disk of this one",
        )


def _room(name: str, path: Path, option: str) -> Finding:
    there = _existing(path)
    free = shutil.disk_usage(there).free
    said = f"{memory.in_words(free)} free for the {name} ({path})"
    if free < _LITTLE_SPACE:
        return Finding("problem", "disk", said, f"delete something, or change {option}")
    files = _free_files(there)
    if files is not None and files < _FEW_FILES:
        said = f"{said}, and no more than {count(files, 'file')}"
        return Finding("problem", "disk", said, f"delete some files, or change {option}")
    return Finding("ok", "disk", said)


def _free_files(path: Path) -> int | None:
    """Return how many files a disk has room for; None where it sets no limit, or tells none."""
    if not hasattr(os, "statvfs"):
        return None
    told = os.statvfs(path)
    return told.f_favail if told.f_files else None


def _temporary_files() -> Iterator[Finding]:
    """Look at the directory for temporary files, which is another one if that is full."""
    stated = next(((name, os.environ[name]) for name in _TEMPORARY if os.environ.get(name)), None)
    try:
        directory = Path(tempfile.gettempdir())
    except FileNotFoundError:
        yield Finding(
            "problem",
            "disk",
            "no directory for temporary files can be written",
            "set TMPDIR to a directory that you can write to, with free space",
        )
        return
    yield _room("temporary files", directory, "TMPDIR")
    if stated and Path(os.path.abspath(stated[1])) != directory:
        name, value = stated
        yield Finding(
            "note",
            "disk",
            f"{name}={value} is not there, full or cannot be written: {directory} has the "
            "temporary files",
            f"correct or unset {name}",
        )


def _existing(path: Path) -> Path:
    """Return a path, or the nearest directory above that is there."""
    return next(each for each in (path, *path.absolute().parents) if each.exists())


def _file_system(path: Path) -> str:
    """Return the kind of the file system of a path; empty where nobody says."""
    try:
        lines = [line.split()[1:3] for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError):
        return ""
    real = path.resolve()
    above = [(len(place), kind) for place, kind in lines if real.is_relative_to(place)]
    return max(above)[1] if above else ""


def claims(store: Store) -> Iterator[Finding]:
    """Look for claims of runners that are gone."""
    places = sorted(store.path.glob("*/*.claim"))
    gone = [path for path in places if holder(path) is None and heartbeat(path) is not None]
    held = sum(holder(path) is not None for path in places)
    yield Finding("ok", "claims", f"{count(held, 'step')} of {store.path} in hand")
    if gone:
        owner, _ = heartbeat(gone[0]) or (None, 0)
        where = f", the first of pid {owner.pid} on {owner.host}" if owner else ""
        where += f" since {_day_and_hour(owner.since)}" if owner else ""
        yield Finding(
            "note",
            "claims",
            f"{count(len(gone), 'claim')} of runners that are gone{where}: {gone[0]}",
            "run the same command again: it takes them over",
        )


def _day_and_hour(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
