"""Where and with what a record was made: versions, processor, BLAS, git revision, time."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
import scipy

from mklbench import __version__, resources


def provenance() -> dict[str, Any]:
    """Return what a record says of its making; most of it is looked up once a process."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {**_fixed(), "time": now}


@cache
def _fixed() -> dict[str, Any]:
    return {
        "versions": versions(),
        "cpu": cpu_model(),
        "n_cpus": os.cpu_count(),
        "blas": blas(),
        "blas_kernels": blas_kernels(),
        "git": git_revision(),
        "platform": platform.platform(),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that do the computing."""
    return {
        "python": platform.python_version(),
        "mklbench": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "libsvm": metadata.version("libsvm-official"),
    }


def cpu_model() -> str:
    """Return the processor's name, from the kernel where it says."""
    # Elsewhere than on Linux there is no such file.
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def blas() -> str | None:
    """Return name and version of the BLAS that NumPy was built with."""
    described: Any = np.show_config(mode="dicts")
    found = described.get("Build Dependencies", {}).get("blas", {})
    return f"{found['name']} {found.get('version', '')}".strip() if found.get("name") else None


def blas_kernels() -> str | None:
    """Return for which processor the BLAS has chosen its kernels, such as "Haswell".

    Two machines with the same round alike, and two with others do not.
    """
    from threadpoolctl import threadpool_info

    found = {str(item["architecture"]) for item in threadpool_info() if "architecture" in item}
    return ", ".join(sorted(found)) or None


def git_revision() -> str | None:
    """Return the checkout's commit, with "+dirty" if files differ from it; None for a wheel."""
    if (root := resources.checkout()) is None:
        return None
    command = ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+dirty"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):  # no git, or no repository
        return subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
    return None
