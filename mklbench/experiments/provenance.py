"""Where and with what a record was made: versions, processor, BLAS, git revision, time.

What runs as a job of a cluster also says on which node and in which job. The runner of the job
knows both, and names them to the processes that it starts by `NODE_VARIABLE` and `JOB_VARIABLE`;
without these a record says nothing of either.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from mklbench import __version__, resources

NODE_VARIABLE = "MKLBENCH_NODE"
JOB_VARIABLE = "MKLBENCH_JOB"


def provenance() -> dict[str, Any]:
    """Return what a record says of its making; most of it is looked up once a process."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {**_fixed(), **place_in_cluster(), "time": now}


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


def place_in_cluster() -> dict[str, str]:
    """Return `node` and `job` as the runner of the job has named them; empty outside of jobs."""
    named = {"node": os.environ.get(NODE_VARIABLE), "job": os.environ.get(JOB_VARIABLE)}
    return {name: value for name, value in named.items() if value}


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the libraries that do the computing."""
    distributions = {"numpy": "numpy", "scipy": "scipy", "libsvm": "libsvm-official"}
    return {"python": platform.python_version(), "mklbench": __version__} | {
        name: _version(distribution) for name, distribution in distributions.items()
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # installed in some way that leaves no metadata
        return None


def cpu_model() -> str:
    """Return the processor's name, from the kernel where it says."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
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
    root = resources.checkout()
    if root is None:
        return None

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):  # no git, or no repository
        return None
    return f"{commit}+dirty" if changed else commit
