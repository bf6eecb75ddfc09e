"""Files that are whole or absent: written beside their place, synced, and moved into it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from mklbench.errors import InputError

# Of this process, in the names of its temporary files; a worker gets it from its parent, which
# tidies up after it.
mark = uuid.uuid4().hex[:12]

# A writer that was killed leaves its temporary file; after this many seconds nobody needs it.
_ABANDONED_AFTER = 24 * 3600

# How often it is looked at what changes hands meanwhile.
_TRIES = 3

# What it says where there are no hard links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

_Seen = TypeVar("_Seen")


def write_atomically(
    path: Path | str, content: str | bytes, *, keep: bool = False, durable: bool = True
) -> None:
    """Write a file (text as UTF-8) so that a reader, or a power cut, sees the old one or the new.

    With `keep` a file that is there, even one that another process has just written, stays. What
    is not `durable` a power cut may take, which saves some milliseconds of waiting for the disk.

    Raises
    ------
    OSError
        If it cannot be written; the old content is then untouched.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a link to a device is replaced, not the device
        target = Path(path)
        mode = target.lstat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise OSError(errno.EINVAL, "a device, not a file", str(path))
    temporary = target.with_name(f".{target.name[:40]}.{mark}-{uuid.uuid4().hex[:8]}.tmp")
    data = content.encode() if isinstance(content, str) else content
    try:
        with open(temporary, "xb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        if keep:
            _keep(temporary, target)
        else:
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        _sync_directory(target.parent)


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Read a regular file, and nothing else: a FIFO or a device might never end.

    Raises
    ------
    OSError
        If there is none, it cannot be read, is of another kind or larger.
    """
    return retried(partial(_read_regular, path, most_bytes))


def retried(look: Callable[[], _Seen]) -> _Seen:
    """Look again at a file or directory that another machine replaces at this moment.

    Over NFS the old one may be gone then, also for who has it open already (ESTALE).
    """
    for _ in range(_TRIES - 1):
        try:
            return look()
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    return look()


def _read_regular(path: Path, most_bytes: int) -> bytes:
    # Looked at before it is opened, as opening a device may set it going, and afterwards.
    _check_regular(os.stat(path), most_bytes)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        size = _check_regular(os.fstat(descriptor), most_bytes)
        data = os.read(descriptor, size + 1)
        while more := os.read(descriptor, size + 1):
            data += more
        return data
    finally:
        os.close(descriptor)


_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _check_regular(status: os.stat_result, most_bytes: int) -> int:
    """Return the size of a file, if it may be read."""
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise OSError(errno.EINVAL, f"{kind}, not a file")
    if status.st_size > most_bytes:
        raise OSError(errno.EFBIG, f"{status.st_size} bytes are too many")
    return status.st_size


def _keep(temporary: Path, target: Path) -> None:
    """Move a file to where there is none, else delete it."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.replace(temporary, target)
        return
    temporary.unlink(missing_ok=True)


def check_writable_file(option: str, path: Path | str) -> None:
    """Raise InputError unless a file can be created or replaced at `path`; change nothing."""
    target = Path(path)
    with _refused(option, path):
        if stat.S_ISDIR(mode := _mode(target)):
            raise InputError(f"{option}={path} is a directory: give the name of a file.")
        if mode and not stat.S_ISREG(mode):
            raise InputError(
                f"{option}={path} is {_KINDS.get(stat.S_IFMT(mode), 'no file')}: "
                "give the name of a file."
            )
        if not target.parent.is_dir():
            raise InputError(
                f"{option}={path} cannot be written: the directory {target.parent} does not exist."
            )
    _probe(option, path, Path(os.path.realpath(target)).parent)


def check_directory(option: str, path: Path | str) -> None:
    """Raise InputError if there is something at `path` that is no directory."""
    with _refused(option, path):
        mode = _mode(Path(path))
    if mode and not stat.S_ISDIR(mode):
        raise InputError(
            f"{option}={path} is {_KINDS.get(stat.S_IFMT(mode), 'a file')}: "
            "give the name of a directory."
        )


def check_writable_directory(option: str, path: Path | str) -> None:
    """Raise InputError unless files can be made below `path` (which may be absent)."""
    with _refused(option, path):
        existing = Path(path).absolute()
        while not _mode(existing) and existing != existing.parent:
            existing = existing.parent
        if not existing.is_dir():
            raise InputError(f"{option}={path} cannot be used: {existing} is not a directory.")
    _probe(option, path, existing)


@contextlib.contextmanager
def _refused(option: str, path: Path | str) -> Iterator[None]:
    """Turn what the system says of a name, such as that it is too long, into an InputError."""
    try:
        yield
    except OSError as error:
        name = (
            f"{str(path)[:60]}... ({len(str(path))} characters)" if len(str(path)) > 200 else path
        )
        raise InputError(
            f"{option}={name} cannot be used: {reason(error)}; name another place."
        ) from error


def _mode(path: Path) -> int:
    """Return the mode of what is at `path`, or 0 if there is nothing."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def remove_abandoned(directory: Path) -> None:
    """Delete the temporary files that writers killed long ago left in `directory`."""
    oldest = time.time() - _ABANDONED_AFTER
    for temporary in directory.glob(".*.tmp"):
        with contextlib.suppress(OSError):  # another process may be tidying up as well
            if temporary.lstat().st_mtime < oldest:
                temporary.unlink()


def remove_unfinished(directory: Path, mark_of_process: str) -> None:
    """Delete the temporary files in `directory` of a process that was killed."""
    for temporary in directory.glob(f".*.{mark_of_process}-*.tmp"):
        with contextlib.suppress(OSError):
            temporary.unlink()


def stamp(path: Path) -> int | None:
    """Return what changes when a file is replaced, its time; None if there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def reason(error: OSError) -> str:
    """Return what the system says of an error, in lower case and without file names."""
    return (error.strerror or type(error).__name__).lower()


def _probe(option: str, path: Path | str, directory: Path) -> None:
    probe = directory / f".mklbench-{uuid.uuid4().hex[:12]}.tmp"
    try:
        try:
            with open(probe, "x", encoding="utf-8") as stream:
                stream.write("\n")  # an empty file may find room where nothing else does
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{option}={path} cannot be written: {reason(error)} in {directory}."
        ) from error


def _sync_directory(directory: Path) -> None:
    """Make a rename durable, where the file system lets a directory be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
