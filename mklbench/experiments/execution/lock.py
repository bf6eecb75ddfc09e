"""One lock file a step: of many runners on one store, on any machine, one has a step in hand.

The file is a symbolic link that leads nowhere. What it says, its owner, is made together with it
in one call, which fails where there is one already, also over a network. Its modification time is
the heartbeat, renewed by a thread. An owner on the same machine is gone when its process is; of
any other only its silence can be seen. Clocks are not compared: silent is who has not changed the
heartbeat for so long as one has been watching.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import socket
import threading
import time
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Self

# Seconds between two heartbeats, and without one until an owner is taken for gone. NFS may show
# what is a minute old.
BEAT, SILENT_AFTER = 10.0, 120.0


@dataclass(frozen=True)
class Owner:
    """Who holds a lock.

    Attributes
    ----------
    host, job : str
        Name of the machine, and of the job on a cluster, for people; "" outside of jobs.
    machine : str
        Digest of what process numbers are valid for; "" where there is no telling.
    pid, started : int
        The process, and when it was started, in units of the system.
    since : float
        When it was locked, in seconds since 1970.
    token : str
        That no other lock has.
    """

    host: str
    job: str
    machine: str
    pid: int
    started: int
    since: float
    token: str

    def lock(self, path: Path) -> None:
        """Make the file; raise FileExistsError if there is one."""
        os.symlink(json.dumps(asdict(self)), path)

    def is_running(self) -> bool | None:
        """Tell whether the process runs on this machine; None if that is not for it to tell."""
        if not self.machine or self.machine != _machine():
            return None
        return _started(self.pid) == self.started


class Locks:
    """The locks that one runner holds, as a context that releases them, and what it sees of others.

    Parameters
    ----------
    job : str, default=""
        The job on a cluster that the runner is.
    """

    def __init__(self, job: str = "") -> None:
        self.job = job
        self._held: dict[Path, Owner] = {}
        self._seen: dict[tuple[Path, int], float] = {}  # when each heartbeat was new
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        for path in list(self._held):
            self.release(path)

    def take(self, path: Path) -> bool:
        """Lock a path, also if who had it is gone; tell whether this runner holds it now.

        Raises
        ------
        OSError
            If no lock can be made there.
        """
        pid, token = os.getpid(), uuid.uuid4().hex
        started = _started(pid) or 0
        host = socket.gethostname()
        own = Owner(host, self.job, _machine(), pid, started, time.time(), token)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            own.lock(path)
        except FileExistsError:
            if path.exists():  # a lock leads nowhere, so this is none
                raise OSError(errno.EEXIST, f"{path.name} is no lock, delete it") from None
            # Where it is ours it was made, and the answer of a server was lost.
            if owner_of(path) != own and not self._takes_over(path, own):
                return False
        self._held[path] = own
        return True

    def release(self, path: Path) -> None:
        """Give up a lock, unless it was lost."""
        own = self._held.pop(path, None)
        if own is not None and own == owner_of(path):
            with contextlib.suppress(OSError):
                path.unlink()

    def _takes_over(self, path: Path, own: Owner) -> bool:
        """Replace a lock whose owner is gone; of several who do so at once one succeeds."""
        owner = owner_of(path)
        if owner is None:  # it has just been released
            return False
        running = owner.is_running()
        if running or (running is None and not self._is_silent(path)):
            return False
        # Only who has made this file may replace the lock with just this owner.
        guard = path.with_name(f".{path.name}.{owner.token[:12]}.tmp")
        try:
            own.lock(guard)
        except FileExistsError:
            if self._is_silent(guard):  # who made it has died with it
                guard.unlink(missing_ok=True)
            return False
        if owner_of(path) != owner:  # somebody was quicker
            guard.unlink(missing_ok=True)
            return False
        guard.replace(path)
        return True

    def _is_silent(self, path: Path) -> bool:
        with contextlib.suppress(OSError):  # it has just been released
            beat, now = path.lstat().st_mtime_ns, time.monotonic()
            return now - self._seen.setdefault((path, beat), now) > SILENT_AFTER
        return False

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            for path in list(self._held):
                with contextlib.suppress(OSError):  # it was lost, or the server is away
                    os.utime(path, follow_symlinks=False)


def owner_of(path: Path) -> Owner | None:
    """Return who has locked a path, alive or not; None if nobody has."""
    with contextlib.suppress(OSError, ValueError, TypeError):  # none, or nobody of ours
        return Owner(**json.loads(os.readlink(path)))
    return None


def holder(path: Path) -> Owner | None:
    """Return who holds a lock, as far as one look tells; None if nobody alive."""
    owner = owner_of(path)
    running = owner and owner.is_running()
    if running is None:
        with contextlib.suppress(OSError):
            running = time.time() - path.lstat().st_mtime < SILENT_AFTER
    return owner if running else None


@cache
def _machine() -> str:
    with contextlib.suppress(OSError):  # not Linux
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        numbers = os.readlink("/proc/self/ns/pid")
        return hashlib.sha256(f"{started} {numbers}".encode()).hexdigest()[:8]
    return ""


def _started(pid: int) -> int | None:
    """Return when a process was started, on Linux; None if there is none."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rpartition(")")[2].split()  # a name may hold spaces and brackets
        return None if fields[0] in "ZX" else int(fields[19])
    return None
