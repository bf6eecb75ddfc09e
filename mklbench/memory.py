"""The memory that is free, and the sentence for what does not fit into it.

What a computation needs is estimated beforehand by whoever knows it: the kernels
(`mklbench.kernels.contract`), the algorithms (`mklbench.optim.fit_memory`), the data sets. Free is
the less of what the system can give without swapping and what the control groups (version 2) of
this process leave. Where a system tells neither nothing is refused.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mklbench.errors import InputError

# Overrules what is found: a size such as 8GiB, or "unlimited".
VARIABLE = "MKLBENCH_MEMORY"

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

_GROUPS = Path("/proc/self/cgroup")
_GROUP_ROOT = Path("/sys/fs/cgroup")


def free(jobs: int = 1) -> float | None:
    """Return the bytes that each of `jobs` processes may take, or None where nobody knows.

    Raises
    ------
    InputError
        If the environment variable MKLBENCH_MEMORY is set to what is no size.
    """
    stated = os.environ.get(VARIABLE)
    if stated:
        size = _size(stated)
        return None if size == math.inf else size / jobs
    found = [*_of_system(), *_of_groups()]
    return max(min(found), 0.0) / jobs if found else None


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
    needed, there = needs(n), free(jobs)
    if there is None or needed <= there:
        return None
    return Shortage(needed, there, most(needs, there, n))


def in_words(n_bytes: float) -> str:
    """Return a size as people say it: "149 GiB"."""
    power = min(max(int(math.log(max(n_bytes, 1.0), 1024)), 2), 5)
    return f"{n_bytes / 1024**power:.3g} {('MiB', 'GiB', 'TiB', 'PiB')[power - 2]}"


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
    found = max(0, bisect_right(range(n), limit, key=needs) - 1)
    digits = 10 ** max(0, len(str(found)) - 2)
    return found // digits * digits


def _size(text: str) -> float:
    if text.strip().lower() == "unlimited":
        return math.inf
    size = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?", text.strip(), flags=re.IGNORECASE)
    if size is None:
        raise InputError(
            f"{VARIABLE}={text} is no size: give the memory that may be used, such as 8GiB, or "
            "unlimited."
        )
    return float(size[1]) * _UNITS[size[2].upper()]


def _of_system() -> Iterator[float]:
    """Yield the bytes that are available without swapping, where Linux tells them."""
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as lines:
        yield from (1024.0 * int(x.split()[1]) for x in lines if x.startswith("MemAvailable"))


def _of_groups() -> Iterator[float]:
    """Yield what the control groups of this process and those around them leave, of Linux."""
    with contextlib.suppress(OSError, ValueError):
        lines = _GROUPS.read_text(encoding="ascii").splitlines()
        # Inside a container the path may be that outside of it: then the root is the group.
        for path in (Path(line[4:]) for line in lines if line.startswith("0::/")):
            for group in (path, *path.parents):
                yield from _left_in(_GROUP_ROOT / group)


def _left_in(group: Path) -> Iterator[float]:
    """Yield the limit of a group less what it uses, but for cached files, which give way."""
    with contextlib.suppress(OSError, ValueError):  # no such group here, or no limit ("max")
        limit = float((group / "memory.max").read_text(encoding="ascii"))
        usage = float((group / "memory.current").read_text(encoding="ascii"))
        statistics = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        cached = [float(x.split()[1]) for x in statistics if x.split()[0] == "inactive_file"]
        yield limit - usage + sum(cached)
