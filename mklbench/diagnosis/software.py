"""What is installed: versions, extras, LIBSVM, a compiler."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mklbench import extras
from mklbench._version import __version__
from mklbench.diagnosis.finding import Finding
from mklbench.experiments import provenance

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_REINSTALL = "pip install --force-reinstall --no-binary libsvm-official libsvm-official"


def versions() -> Iterator[Finding]:
    """Compare the versions of what is installed with those that are needed.

    What the extras need may be absent, and of another version it may not be.
    """
    from packaging.requirements import Requirement
    from packaging.version import Version

    commit = provenance.git_revision()
    said = [f"mklbench {__version__}" + (f" ({commit[:8]}{commit[40:]})" if commit else "")]
    said.append(f"Python {platform.python_version()}")
    wrong = []
    for line in _requirements():
        needed = Requirement(line)
        asked_for_by = _asked_for_by(needed)
        if not asked_for_by:
            continue
        always = "" in asked_for_by
        try:
            version = importlib.metadata.version(needed.name)
        except importlib.metadata.PackageNotFoundError:
            if always:
                wrong.append((f"{needed.name} is not installed", needed))
            continue
        if always:
            said.append(f"{needed.name} {version}")
        if not needed.specifier.contains(Version(version), prereleases=True):
            wrong.append((f"{needed.name} {version} is not {needed.specifier}", needed))
    yield Finding("ok", "versions", ", ".join(said))
    for sentence, needed in wrong:
        remedy = f"pip install '{needed.name}{needed.specifier}'"
        yield Finding("problem", "versions", sentence, remedy)


def _asked_for_by(needed: Requirement) -> list[str]:
    """Return the extras that a user may want and that need it; "" where it is always needed."""
    wanted = ["", *extras.PURPOSES]
    return [name for name in wanted if not needed.marker or needed.marker.evaluate({"extra": name})]


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


def compiler() -> Iterator[Finding]:
    """Say which compiler there is."""
    found = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if found:
        yield Finding("ok", "compiler", found)
    else:
        yield Finding(
            "note",
            "compiler",
            "there is no C++ compiler, which LIBSVM is built with when it is installed",
            "nothing while LIBSVM solves; to build it anew: apt install g++ (Debian), "
            "xcode-select --install (macOS), the Build Tools of Visual Studio (Windows), or "
            "conda install cxx-compiler",
        )
