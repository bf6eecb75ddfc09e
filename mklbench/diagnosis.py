"""What this machine offers the program, what is wrong with it, and what slows it down.

Each check looks at one thing and returns what it found; none changes anything.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np

from mklbench import extras, memory
from mklbench._version import __version__
from mklbench.data.settings import MIRROR_VARIABLE, cache_directory, is_http, mirror_location
from mklbench.errors import InputError
from mklbench.experiments import provenance
from mklbench.experiments.execution.claims import heartbeat, holder
from mklbench.experiments.store import Store

Level = Literal["ok", "note", "slow", "problem"]

# Less free space than this on a disk is soon used up, and less memory.
_LITTLE_SPACE, _LITTLE_MEMORY = 2**30, 2**30
# A product of matrices by a tuned BLAS does at least so many operations a second on one core.
_SLOW_BLAS = 3e9
# Matrices (n, n) that an exact fit holds at once, about, with its kernels.
_MATRICES = 6
# The largest number of samples that is looked into.
_MOST_SAMPLES = 10**7
# Bytes of swapped memory that are nothing.
_SWAPPED = 2**28
# Seconds that a mirror may take to answer.
_PATIENCE = 5.0
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "lustre", "beegfs", "ceph")

_MOUNTS = Path("/proc/self/mounts")
_MEMINFO = Path("/proc/meminfo")
_GOVERNORS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    level : {"ok", "note", "slow", "problem"}
        "note" is worth knowing, "slow" costs time, with a "problem" something does not work.
    what : str
        What was looked at.
    said : str
        What was found.
    remedy : str
        What to do about it; empty if nothing has to be done.
    """

    level: Level
    what: str
    said: str
    remedy: str = ""


def findings(store: Store) -> Iterator[Finding]:
    """Yield what all checks find.

    Parameters
    ----------
    store : Store
        Whose claims and disk are looked at.
    """
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        versions,
        extra_packages,
        libsvm,
        blas,
        openmp,
        compiler,
        cache,
        mirror,
        lambda: disks(store),
        free_memory,
        lambda: claims(store),
        processors,
    )
    for check in checks:
        yield from check()


def versions() -> Iterator[Finding]:
    """Compare the versions of what is installed with those that are needed."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    commit = provenance.git_revision()
    said = [f"mklbench {__version__}" + (f" ({commit[:8]}{commit[40:]})" if commit else "")]
    said.append(f"Python {platform.python_version()}")
    wrong = []
    for line in _requirements():
        needed = Requirement(line)
        if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(needed.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append((f"{needed.name} is not installed", needed))
            continue
        said.append(f"{needed.name} {version}")
        if not needed.specifier.contains(Version(version), prereleases=True):
            wrong.append((f"{needed.name} {version} is not {needed.specifier}", needed))
    yield Finding("ok", "versions", ", ".join(said))
    for sentence, needed in wrong:
        remedy = f"pip install '{needed.name}{needed.specifier}'"
        yield Finding("problem", "versions", sentence, remedy)


def _requirements() -> list[str]:
    try:
        return importlib.metadata.requires("mklbench") or []
    except importlib.metadata.PackageNotFoundError:  # it runs from where it was unpacked
        return []


def extra_packages() -> Iterator[Finding]:
    """Say which of the optional packages are there."""
    lacking = extras.lacking()
    there = [name for name, packages in lacking.items() if not packages]
    yield Finding("ok", "extras", ", ".join(there) or "none is installed")
    for name, packages in lacking.items():
        if packages:
            yield Finding(
                "note",
                "extras",
                f"{name} is not complete: {', '.join(packages)} missing",
                f"pip install 'mklbench[{name}]', if you want {extras.PURPOSES[name]}",
            )


def libsvm() -> Iterator[Finding]:
    """Solve a support vector machine of two samples, whose solution is known."""
    from mklbench.libsvm import SVM

    try:
        found = SVM(np.array([1.0, -1.0]), 10.0).solve(np.eye(2))
        works = bool(np.allclose(found.dual_coef, [1.0, -1.0], atol=1e-3))
    except Exception as error:  # whatever is wrong with a library of C
        yield Finding("problem", "libsvm", f"it fails: {error}", _REINSTALL)
        return
    if works:
        yield Finding("ok", "libsvm", "solves")
    else:
        yield Finding("problem", "libsvm", "it solves two samples wrongly", _REINSTALL)


_REINSTALL = "pip install --force-reinstall --no-binary libsvm-official libsvm-official"


def blas() -> Iterator[Finding]:
    """Say which linear algebra there is, with how many threads, and how fast it is."""
    from threadpoolctl import threadpool_info

    threads = max(
        (p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"), default=1
    )
    speed = _operations_a_second()
    kernels = provenance.blas_kernels()
    name = provenance.blas() or "unknown"
    said = f"{name}{f' for {kernels}' if kernels else ''}, {_count(threads, 'thread')}, "
    said += f"{speed / 1e9:.3g} GFLOP/s"
    if speed < _SLOW_BLAS:
        yield Finding(
            "slow",
            "BLAS",
            f"{said}: {_SLOW_BLAS / 1e9:.0f} and more are usual",
            "pip install --force-reinstall numpy scipy, whose wheels bring OpenBLAS; or wait until "
            "nothing else runs here",
        )
    else:
        yield Finding("ok", "BLAS", said)
    if threads > _usable():
        yield Finding(
            "slow",
            "BLAS",
            f"{threads} threads share {_count(_usable(), 'processor')}",
            f"set OMP_NUM_THREADS={_usable()}",
        )


def _operations_a_second(size: int = 1000, repeats: int = 3) -> float:
    """Return what a product of matrices does, the best of a few."""
    A = np.ones((size, size))
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        A @ A
        seconds.append(perf_counter() - start)
    return 2.0 * size**3 / min(seconds)


def openmp() -> Iterator[Finding]:
    """Say which runtimes of OpenMP are loaded; two of them get in each other's way."""
    import sklearn.svm  # noqa: F401  loads its own
    from threadpoolctl import threadpool_info

    loaded = [pool for pool in threadpool_info() if pool["user_api"] == "openmp"]
    names = sorted({str(pool["prefix"]) for pool in loaded})
    if len(names) > 1:
        yield Finding(
            "slow",
            "OpenMP",
            f"{' and '.join(names)} are loaded together",
            "install numpy, scipy and scikit-learn from one source, all by pip or all by conda",
        )
    else:
        yield Finding("ok", "OpenMP", names[0] if names else "not in use")


def compiler() -> Iterator[Finding]:
    """Say which compiler there is."""
    found = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if found:
        yield Finding("ok", "compiler", found)
    else:
        yield Finding(
            "note",
            "compiler",
            "there is no C++ compiler, which only an installation from source needs",
            "install g++ or clang++ if pip finds no wheel of libsvm-official",
        )


def cache() -> Iterator[Finding]:
    """Say where downloads are kept, and whether they can be."""
    directory = cache_directory()
    files = [path for path in directory.rglob("*") if path.is_file()] if directory.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    said = f"{directory}: {_count(len(files), 'file')}, {memory.in_words(size)}"
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
        yield Finding("problem", "mirror", str(error), f"correct or unset {MIRROR_VARIABLE}")
        return
    if place is None:
        yield Finding("ok", "mirror", f"none: {MIRROR_VARIABLE} is not set")
    elif is_http(place) and (why := _silence(place)):
        yield Finding(
            "problem",
            "mirror",
            f"{place} does not answer ({why})",
            f"correct or unset {MIRROR_VARIABLE}, or see to the network",
        )
    else:
        yield Finding("ok", "mirror", place)


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
    places = {
        "store": (store.path, "--results-dir"),
        "cache": (cache_directory(), "MKLBENCH_CACHE"),
        "temporary files": (Path(tempfile.gettempdir()), "TMPDIR"),
    }
    for name, (path, option) in places.items():
        there = _existing(path.absolute())
        free = shutil.disk_usage(there).free
        said = f"{memory.in_words(free)} free for the {name} ({path})"
        if free < _LITTLE_SPACE:
            yield Finding("problem", "disk", said, f"delete something, or change {option}")
        else:
            yield Finding("ok", "disk", said)
    kind = _file_system(_existing(store.path.absolute()))
    if kind in _NETWORK:
        yield Finding(
            "note",
            "disk",
            f"the store is on a network ({kind})",
            "nothing, if several machines share it; else --results-dir on a disk of this one",
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


def free_memory() -> Iterator[Finding]:
    """Say how much memory may be used, and for how many samples it suffices."""
    try:
        free = memory.free()
    except InputError as error:
        yield Finding("problem", "memory", str(error), f"correct or unset {memory.VARIABLE}")
        return
    if free is None:
        yield Finding("ok", "memory", "no limit is known")
        return
    n = memory.most(lambda n: 8.0 * _MATRICES * n * n, free, _MOST_SAMPLES)
    said = f"{memory.in_words(free)} may be used: Gram matrices of about {n:,} samples"
    if stated := os.environ.get(memory.VARIABLE):
        said += f" ({memory.VARIABLE}={stated})"
    if free < _LITTLE_MEMORY:
        yield Finding("slow", "memory", said, "end other programs, or use a larger machine")
    else:
        yield Finding("ok", "memory", said)
    swapped = _swapped()
    if swapped > _SWAPPED:
        yield Finding(
            "slow",
            "memory",
            f"{memory.in_words(swapped)} are swapped to disk",
            "end programs that are not needed",
        )


def _swapped() -> float:
    try:
        said = _MEMINFO.read_text(encoding="ascii")
    except (OSError, ValueError):
        return 0.0
    kilobytes = {
        name: 1024.0 * int(n) for name, n in re.findall(r"^(Swap\w+): +(\d+) kB", said, re.M)
    }
    return kilobytes.get("SwapTotal", 0.0) - kilobytes.get("SwapFree", 0.0)


def claims(store: Store) -> Iterator[Finding]:
    """Look for claims of runners that are gone."""
    places = sorted(store.path.glob("*/*.claim"))
    gone = [path for path in places if holder(path) is None and heartbeat(path) is not None]
    held = sum(holder(path) is not None for path in places)
    yield Finding("ok", "claims", f"{_count(held, 'step')} of {store.path} in hand")
    if gone:
        owner, _ = heartbeat(gone[0]) or (None, 0)
        where = f", the first of pid {owner.pid} on {owner.host}" if owner else ""
        yield Finding(
            "note",
            "claims",
            f"{_count(len(gone), 'claim')} of runners that are gone{where}: {gone[0]}",
            "run the same command again: it takes them over",
        )


def processors() -> Iterator[Finding]:
    """Look for what slows down computing as such."""
    usable, there = _usable(), os.cpu_count() or 1
    said = f"{provenance.cpu_model()}, {_count(usable, 'processor')}"
    if usable < there:
        said += f" of {there} may be used (control group or affinity)"
    yield Finding("ok", "processor", said)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > usable:
        yield Finding(
            "slow",
            "processor",
            f"{load:.1f} processes on average want {_count(usable, 'processor')}",
            "wait for the others, or do not trust times that are measured now",
        )
    saving = [path for path in _governors() if path.read_text().strip() == "powersave"]
    # Drivers that choose the frequency themselves call their usual way so.
    if saving and not any("pstate" in driver for driver in _drivers(saving)):
        yield Finding(
            "slow",
            "processor",
            f"{_count(len(saving), 'processor')} saving power at the lowest frequency",
            "cpupower frequency-set -g performance",
        )


def _governors() -> list[Path]:
    return sorted(_GOVERNORS.glob("cpu[0-9]*/cpufreq/scaling_governor"))


def _drivers(governors: list[Path]) -> list[str]:
    files = (path.with_name("scaling_driver") for path in governors)
    return [path.read_text() for path in files if path.is_file()]


def _usable() -> int:
    """Return how many processors this process may use."""
    import joblib

    return int(joblib.cpu_count())


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
