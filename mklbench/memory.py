"""The memory that is free, and the sentence for what does not fit into it.

What a computation needs is estimated beforehand by whoever knows it: the kernels
(`mklbench.kernels.contract`), the algorithms (`mklbench.optim.fit_memory`), the data sets. Free is
the least of what the system can give without swapping, what the control groups of this process
leave, and what its own limits (``ulimit -v``, ``ulimit -d``) leave. Where a system tells none of
these nothing is refused.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mklbench.errors import InputError

# Overrules what is found: a size such as 8GiB, or "unlimited".
VARIABLE = "MKLBENCH_MEMORY"

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# Less than the interpreter and its libraries take is not looked into.
_NEGLIGIBLE = 2**26
# From here on a limit of a control group (version 1) means none.
_NO_LIMIT = 2**62

_GROUPS = Path("/proc/self/cgroup")
_GROUP_ROOT = Path("/sys/fs/cgroup")


def free(jobs: int = 1) -> float | None:
    """Return the bytes that each of `jobs` processes may take, or None where nobody knows.

    The processes share what the system and the control groups have; their own limits they have
    each.

    Raises
    ------
    InputError
        If the environment variable MKLBENCH_MEMORY is set to what is no size.
    """
    stated = os.environ.get(VARIABLE)
    if stated:
        size = _size(stated)
        return None if size == math.inf else size / jobs
    shared = min([*_of_system(), *_of_groups()], default=math.inf)
    least = min([shared / jobs, *_of_process()])
    return None if least == math.inf else max(least, 0.0)


@dataclass(frozen=True)
class Shortage:
    """Memory that is not there.

    Attributes
    ----------
    needed, free : float
        bytes.
    fitting : int
        Number of rows that would fit, 0 for none.
    """

    needed: float
    free: float
    fitting: int

    def __str__(self) -> str:
        return f"about {in_words(self.needed)}, and {in_words(self.free)} are free"


def shortage(needs: Callable[[int], float], n: int, jobs: int = 1) -> Shortage | None:
    """Return what is short for `n` rows, or None where nothing is.

    Parameters
    ----------
    needs : callable
        The bytes that so many rows take, which grow with them.
    n : int
        Number of rows.
    jobs : int, default=1
        Processes that take so much each at the same time.
    """
    needed = needs(n)
    if needed <= _NEGLIGIBLE:
        return None
    there = free(jobs)
    if there is None or needed <= there:
        return None
    return Shortage(needed, there, most(needs, there, n))


def in_words(n_bytes: float) -> str:
    """Return a size as people say it: "149 GiB"."""
    for unit in ("GiB", "TiB", "PiB"):
        size = n_bytes / 2**30
        if size < 1024 or unit == "PiB":
            break
        n_bytes /= 1024
    if n_bytes < 2**30:
        return f"{n_bytes / 2**20:.3g} MiB"
    return f"{size:.3g} {unit}"


def most(needs: Callable[[int], float], limit: float, n: int) -> int:
    """Return the largest number below `n` whose need is at most `limit`, to two digits; 0 if none.

    Parameters
    ----------
    needs : callable
        The bytes that so many rows need, which grow with them.
    limit : float
        bytes.
    n : int
        A number whose need is larger.
    """
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needs(middle) <= limit else (low, middle)
    digits = 10 ** max(0, len(str(low)) - 2)
    return low // digits * digits


def _size(text: str) -> float:
    if text.strip().lower() == "unlimited":
        return math.inf
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:] in ("K", "M", "G", "T") else ""
    try:
        size = float(number.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        size = math.nan
    if not 0 < size < math.inf:
        raise InputError(
            f"{VARIABLE}={text} is no size: give the memory that may be used, such as 8GiB, or "
            "unlimited."
        )
    return size


def _of_system() -> Iterator[float]:
    """Yield the bytes that are available without swapping."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            yield from (1024.0 * int(x.split()[1]) for x in lines if x.startswith("MemAvailable"))
        return
    except (OSError, ValueError):
        pass
    try:
        # Other systems tell the pages that are installed, of which no more than these are free.
        yield float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return


def _of_groups() -> Iterator[float]:
    """Yield what the control groups of this process and those around them leave, of Linux."""
    try:
        lines = _GROUPS.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = _GROUP_ROOT, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = _GROUP_ROOT / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        # Inside a container the path may be that outside of it: then the root is the group.
        parts = Path(path.lstrip("/")).parts
        for depth in range(len(parts), -1, -1):
            yield from _left_in(root.joinpath(*parts[:depth]), *names)


def _left_in(group: Path, limit_name: str, usage_name: str, cache_name: str) -> Iterator[float]:
    """Yield the limit of a group less what it uses, but for cached files, which give way."""
    try:
        limit = float((group / limit_name).read_text(encoding="ascii"))
        if limit >= _NO_LIMIT:
            return
        usage = float((group / usage_name).read_text(encoding="ascii"))
        statistics = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):  # there is no such group here, or no limit ("max")
        return
    cached = [float(x.split()[1]) for x in statistics if x.split()[0] == cache_name]
    yield limit - usage + sum(cached)


def _of_process() -> Iterator[float]:
    """Yield what the limits of this process leave of its address space and its data."""
    try:
        import resource

        pages = [float(x) for x in Path("/proc/self/statm").read_text(encoding="ascii").split()]
    except (ImportError, OSError, ValueError):
        return
    for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY:
            yield soft - used * resource.getpagesize()
