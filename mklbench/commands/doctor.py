"""``mklbench doctor``: what this machine offers, what is wrong, and what to do about it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from mklbench import memory
from mklbench.data.files import MIRROR_VARIABLE, cache_directory, is_http, mirror_location
from mklbench.errors import InputError
from mklbench.experiments import provenance
from mklbench.experiments.store import Store

# Less free space than this on a disk, in bytes, is soon used up.
_LITTLE_SPACE = 2**30
# Seconds that a mirror may take to answer.
_PATIENCE = 5.0


class Diagnosis(NamedTuple):
    """What was looked at and found: "ok", "note" or "problem", with a remedy unless it is ok."""

    level: str
    what: str
    text: str
    remedy: str = ""


def doctor(store: Store) -> int:
    """Print what was found, with remedies; return 1 if something does not work, else 0.

    Parameters
    ----------
    store : Store
        Whose disk is looked at.

    Raises
    ------
    InputError
        If the store is no directory.
    """
    store.check()
    found = [versions(), compiler(), blas(), mirror()]
    found.append(space("cache", cache_directory(), "MKLBENCH_CACHE"))
    found.append(space("store", store.path, "--results-dir"))
    for each in found:
        remedy = f"\n{'':19}-> {each.remedy}" if each.remedy else ""
        print(f"{each.level:8}{each.what:10} {each.text}{remedy}", flush=True)
    levels = [each.level for each in found]
    n_problems, n_notes = levels.count("problem"), levels.count("note")
    print(f"problems: {n_problems}, notes: {n_notes}" if n_problems + n_notes else "All is well.")
    return 1 if n_problems else 0


def versions() -> Diagnosis:
    """Say which versions of what does the computing are installed."""
    named = [f"{name} {version}" for name, version in provenance.versions().items()]
    if commit := provenance.git_revision():
        named.append(f"revision {commit[:8]}{commit[40:]}")
    return Diagnosis("ok", "versions", ", ".join(named))


def compiler() -> Diagnosis:
    """Say which compiler there is."""
    if found := next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None):
        return Diagnosis("ok", "compiler", found)
    return Diagnosis(
        "note", "compiler", "there is no C++ compiler, which pip builds LIBSVM with",
        "apt install g++ (Debian), xcode-select --install (macOS), conda install cxx-compiler",
    )  # fmt: skip


def blas() -> Diagnosis:
    """Say which linear algebra there is, and whether its threads fit the processors."""
    import joblib
    from threadpoolctl import threadpool_info

    usable = int(joblib.cpu_count())
    threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    text = f"{provenance.blas() or 'unknown'}, threads: {threads}, processors: {usable}"
    free = memory.free()
    text += "" if free is None else f", free memory: {memory.in_words(free)}"
    if threads > usable:
        return Diagnosis("note", "BLAS", text, f"set OMP_NUM_THREADS={usable}")
    return Diagnosis("ok", "BLAS", text)


def mirror() -> Diagnosis:
    """Say which mirror is set, and whether it answers."""
    import requests

    try:
        source = mirror_location()
        if source is not None and is_http(source):
            requests.head(source, timeout=_PATIENCE)
        elif source is not None:
            next(Path(source).iterdir(), None)
        return Diagnosis("ok", "mirror", source or f"{MIRROR_VARIABLE} is not set")
    except (InputError, OSError) as error:  # requests raises kinds of the latter
        return Diagnosis("problem", "mirror", str(error), f"correct or unset {MIRROR_VARIABLE}")


def space(name: str, path: Path, option: str) -> Diagnosis:
    """Say how much room there is for `name`, which `option` moves elsewhere."""
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    text = f"{memory.in_words(free)} free ({path})"
    if not os.access(there, os.W_OK):
        text += ", which cannot be written"
    elif free >= _LITTLE_SPACE:
        return Diagnosis("ok", name, text)
    return Diagnosis("problem", name, text, f"make room there, or change {option}")
