"""What computes: linear algebra and its threads, OpenMP, memory, processors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from mklbench import memory
from mklbench.diagnosis.finding import Finding, count
from mklbench.errors import InputError
from mklbench.experiments import provenance

# Less free memory than this is soon used up.
_LITTLE_MEMORY = 2**30
# A product of matrices by a tuned BLAS does at least so many operations a second on one core.
_SLOW_BLAS = 3e9
# Matrices (n, n) that an exact fit holds at once, about, with its kernels.
_MATRICES = 6
# The largest number of samples that is looked into.
_MOST_SAMPLES = 10**7
# Bytes of swapped memory that are nothing.
_SWAPPED = 2**28
# What sets the number of threads; a library obeys its own variable before that of OpenMP.
_OPENMP_THREADS = "OMP_NUM_THREADS"
_BLAS_THREADS = {
    "libopenblas": "OPENBLAS_NUM_THREADS",
    "libscipy_openblas": "OPENBLAS_NUM_THREADS",
    "mkl_rt": "MKL_NUM_THREADS",
    "libmkl_rt": "MKL_NUM_THREADS",
    "libblis": "BLIS_NUM_THREADS",
}

_MEMINFO = Path("/proc/meminfo")
_GOVERNORS = Path("/sys/devices/system/cpu")


def blas() -> Iterator[Finding]:
    """Say which linear algebra there is, with how many threads, and how fast it is."""
    pools = _pools("blas")
    threads = max((threads for _, threads in pools), default=1)
    speed = _operations_a_second()
    kernels = provenance.blas_kernels()
    name = provenance.blas() or "unknown"
    said = f"{name}{f' for {kernels}' if kernels else ''}, {count(threads, 'thread')}, "
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
    usable = _usable()
    variables = {_OPENMP_THREADS, *(_BLAS_THREADS.get(prefix, "") for prefix, _ in pools)}
    stated = {name: os.environ[name] for name in sorted(variables) if os.environ.get(name)}
    if threads > usable:
        names = [name for name in stated if name != _OPENMP_THREADS] or [_OPENMP_THREADS]
        yield _crowded("BLAS", threads, names)
    elif threads < usable and stated:
        yield Finding(
            "note",
            "BLAS",
            f"{count(threads, 'thread')} for {count(usable, 'processor')}, because of "
            f"{' and '.join(f'{name}={value}' for name, value in stated.items())}: one large fit "
            "takes no more",
            f"unset {' and '.join(stated)}, if one fit at a time is to have the whole machine; "
            "jobs=N needs nothing",
        )


def _crowded(what: str, threads: int, names: list[str]) -> Finding:
    """Return that there are more threads than processors; `names` are the variables to set."""
    usable = _usable()
    return Finding(
        "slow",
        what,
        f"{threads} threads share {count(usable, 'processor')}",
        " and ".join(f"set {name}={usable}" for name in names),
    )


def _pools(api: str) -> list[tuple[str, int]]:
    """Return name and threads of each library that has threads of its own, "blas" or "openmp"."""
    from threadpoolctl import threadpool_info

    return [
        (str(pool["prefix"]), int(pool["num_threads"]))
        for pool in threadpool_info()
        if pool["user_api"] == api
    ]


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

    loaded = _pools("openmp")
    names = sorted({prefix for prefix, _ in loaded})
    threads = max((threads for _, threads in loaded), default=1)
    if len(names) > 1:
        yield Finding(
            "slow",
            "OpenMP",
            f"{' and '.join(names)} are loaded together",
            "install numpy, scipy and scikit-learn from one source, all by pip or all by conda",
        )
    else:
        said = f"{names[0]}, {count(threads, 'thread')}" if names else "not in use"
        yield Finding("ok", "OpenMP", said)
    if threads > _usable():
        yield _crowded("OpenMP", threads, [_OPENMP_THREADS])


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


def processors() -> Iterator[Finding]:
    """Look for what slows down computing as such."""
    usable, there = _usable(), os.cpu_count() or 1
    said = f"{provenance.cpu_model()}, {count(usable, 'processor')}"
    if usable < there:
        said += f" of {there} may be used (control group or affinity)"
    yield Finding("ok", "processor", said)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > usable:
        yield Finding(
            "slow",
            "processor",
            f"{load:.1f} processes on average want {count(usable, 'processor')}",
            "wait for the others, or do not trust times that are measured now",
        )
    saving = [path for path in _governors() if path.read_text().strip() == "powersave"]
    # Drivers that choose the frequency themselves call their usual way so.
    if saving and not any("pstate" in driver for driver in _drivers(saving)):
        yield Finding(
            "slow",
            "processor",
            f"{count(len(saving), 'processor')} saving power at the lowest frequency",
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
