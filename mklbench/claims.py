"""Claims: who has a piece of work in hand, told so that of many processes on one folder one has it.

A claim is a directory with one empty file, whose name says who holds it. Every change of hands is
one rename, which a file system does as a whole, also over a network:

- what is free is claimed by moving a directory with one's own file into the place of the claim,
  which succeeds where there is none or an empty one;
- a claim is taken over by renaming the file of its owner, which is there once;
- a claim is released by deleting one's own file, and then the empty directory.

So nobody can take, or release, what another holds. The modification time of the file is the
heartbeat, renewed by a thread. An owner on the same machine is gone when its process is; of any
other only its silence can be seen. Nobody compares clocks, which may differ between machines:
silent is who has not changed the heartbeat for so long as one has been watching.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import socket
import stat
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mklbench import interruption

# Seconds between two heartbeats, and without one until an owner is taken for gone. NFS may show
# what is a minute old, and a call of LAPACK may keep the thread from running for as long.
BEAT = 10.0
SILENT_AFTER = 120.0


# What the system says of what another machine has deleted.
GONE = (errno.ENOENT, errno.ESTALE)

_NAME = re.compile(
    r"([\w.-]{1,100})~([0-9a-f]{8}|)~(\d{1,10})~(\d{1,20})~(\d{1,12})~[0-9a-f]{12}", re.ASCII
)


@dataclass(frozen=True)
class Owner:
    """Who holds a claim, as the name of its file says.

    Attributes
    ----------
    host : str
        Name of the machine, for people.
    machine : str
        Digest of what process numbers are valid for: a machine since it was started, or a
        container; empty where there is no telling.
    pid, started : int
        The process, and when it was started, in units of the system.
    since : int
        When it was claimed, in seconds since 1970.
    """

    host: str
    machine: str
    pid: int
    started: int
    since: int

    @classmethod
    def of_this_process(cls) -> Owner:
        """Return this process as an owner from now on."""
        return cls(*_here(os.getpid()), int(time.time()))

    @classmethod
    def parse(cls, name: str) -> Owner | None:
        """Return the owner that the name of a file says, or None for a foreign file."""
        if (found := _NAME.fullmatch(name)) is None:
            return None
        return cls(found[1], found[2], *map(int, found.groups()[2:]))

    def new_name(self) -> str:
        """Return the name of the file of a new claim; no other has it."""
        parts = (self.host, self.machine, self.pid, self.started, self.since)
        return "~".join([*map(str, parts), uuid.uuid4().hex[:12]])

    def is_running(self) -> bool | None:
        """Tell whether the process runs on this machine; None if that is not for it to tell."""
        if not self.machine or self.machine != _machine():
            return None
        found = _process(self.pid)
        if found is None or found[0] != self.started:
            return False
        return None if found[1] in "tT" else True  # one that was stopped may never go on


class PathClaims:
    """The claims that one runner holds, by their places, and what it has seen of others'."""

    def __init__(self) -> None:
        self._held: dict[Path, Path] = {}  # own file by claim
        self._seen: dict[Path, tuple[int, float]] = {}  # last heartbeat and when it was new
        self._ended = threading.Event()
        self._beating = False
        self._sweeper = ThreadPoolExecutor(1)

    def take(self, path: Path) -> bool:
        """Take the claim at a place, also from who is gone; tell whether this runner holds it now.

        Raises
        ------
        OSError
            If no claim can be made there.
        """
        own = path / Owner.of_this_process().new_name()
        with interruption.whole_step():
            if not self._has_taken(path, own):
                return False
            self._held[path] = own
        if not self._beating:
            self._beating = True
            threading.Thread(target=self._beat, daemon=True).start()
        return True

    def release(self, path: Path) -> None:
        """Give up a claim, unless it was lost."""
        if (own := self._held.pop(path, None)) is not None:
            with contextlib.suppress(OSError):  # it was lost
                own.unlink()
            # Some file systems wait for the disk before a directory is gone.
            self._sweeper.submit(_remove_empty, own.parent)

    def release_all(self) -> None:
        """Give up every claim, and end."""
        self._ended.set()
        for own in list(self._held.values()):
            _remove(own)

    def close(self) -> None:
        """Give up every claim, and wait until nothing is left of any."""
        self.release_all()
        self._sweeper.shutdown()

    def _has_taken(self, path: Path, own: Path) -> bool:
        try:
            names = _names(path)
            if names is None:
                return self._clear_foreign(path) and _make(path, own)
            if not names:
                return _make(path, own)
            if not all(self._is_gone(path / name) for name in names):
                return False
            os.rename(path / min(names), own)  # of two who take over one finds nothing to rename
            os.utime(own)
            for name in names[1:]:  # put there by others than runners
                (path / name).unlink(missing_ok=True)
            return True
        except OSError as error:
            if error.errno in GONE:  # somebody was quicker, or a server's answer was lost
                return own.exists()
            raise

    def _is_gone(self, entry: Path) -> bool:
        owner = Owner.parse(entry.name)
        running = None if owner is None else owner.is_running()
        return self._is_silent(entry) if running is None else not running

    def _is_silent(self, entry: Path) -> bool:
        beat, now = entry.lstat().st_mtime_ns, time.monotonic()
        last, since = self._seen.setdefault(entry, (beat, now))
        if last != beat:
            self._seen[entry] = beat, now
            return False
        return now - since > SILENT_AFTER

    def _clear_foreign(self, path: Path) -> bool:
        """Delete what is no directory from the place of a claim once it is silent."""
        if not self._is_silent(path):
            return False
        path.unlink()  # never deletes a claim that has come into its place
        return True

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            for own in list(self._held.values()):
                with contextlib.suppress(OSError):  # it was lost, or the server is away
                    os.utime(own)


@contextlib.contextmanager
def claiming_paths() -> Iterator[PathClaims]:
    """Give claims that are released at the end, also if the process is ended."""
    claims = PathClaims()
    with interruption.on_leaving(claims.release_all):
        try:
            yield claims
        finally:
            claims.close()


def holder(path: Path) -> Owner | None:
    """Return who holds the claim at a place, as far as one look tells; None if nobody alive."""
    for name in _names(path) or ():
        owner = Owner.parse(name)
        if owner is None:
            continue
        running = owner.is_running()
        if running is None:
            with contextlib.suppress(OSError):
                running = time.time() - (path / name).stat().st_mtime < SILENT_AFTER
        if running:
            return owner
    return None


def heartbeat(path: Path) -> tuple[Owner, int] | None:
    """Return who has claimed a path, alive or not, and the last heartbeat; None if nobody has.

    The heartbeat is a time by the clock of the file system, in nanoseconds: only that it changes
    means anything.
    """
    for name in _names(path) or ():
        if (owner := Owner.parse(name)) is not None:
            with contextlib.suppress(OSError):
                return owner, (path / name).lstat().st_mtime_ns
    return None


def clear(path: Path) -> None:
    """Delete a claim that means nothing any more: the work is done, or its owner is gone."""
    for name in _names(path) or ():
        _remove(path / name)
    _remove_empty(path)


def _make(path: Path, own: Path) -> bool:
    """Put a claim with one's own file where there is none, or an empty one."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:20]}.tmp")
    try:
        os.makedirs(temporary, exist_ok=True)  # the answer of a server may be lost
        (temporary / own.name).touch(exist_ok=False)
        os.rename(temporary, path)
        return True
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):  # somebody was quicker
            return own.exists()
        raise


def _remove(own: Path) -> None:
    with contextlib.suppress(OSError):  # it was lost
        own.unlink()
        own.parent.rmdir()


def _remove_empty(path: Path) -> None:
    with contextlib.suppress(OSError):  # somebody has claimed it
        path.rmdir()


def _names(path: Path) -> list[str] | None:
    """Return what there is in the place of a claim: names of files; None if it is no directory."""
    try:
        return sorted(os.listdir(path)) if stat.S_ISDIR(path.lstat().st_mode) else None
    except OSError as error:
        if error.errno in GONE:
            return []
        raise


@lru_cache(maxsize=1)
def _here(pid: int) -> tuple[str, str, int, int]:
    """Return what is said of this process as an owner; a fork has another number."""
    host = re.sub(r"[^\w.-]", "_", socket.gethostname(), flags=re.ASCII)[:100] or "unknown"
    started, _ = _process(pid) or (0, "")
    return host, _machine(), pid, started


@lru_cache(maxsize=1)
def _machine() -> str:
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        return ""
    return hashlib.sha256(f"{started} {numbers}".encode()).hexdigest()[:8]


def _process(pid: int) -> tuple[int, str] | None:
    """Return when a process was started and its state, or None if there is none (Linux)."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = said.rpartition(")")[2].split()  # a name may hold spaces and brackets
    return None if fields[0] in "ZX" else (int(fields[19]), fields[0])
