"""The licences of all that is installed with the program and its extras: `make licences`."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Sequence

from packaging.requirements import Requirement

from mklbench import errors

# Licences under which a program of BSD-3-Clause may use a package and name it as a dependency, by
# what packages call them: a text that begins so, or a part of an SPDX expression.
ALLOWED = re.compile(
    r"(new |modified |\d-clause )?bsd\b|0bsd|(the )?mit\b|mit-0|mit-cmu|hpnd|apache\b|psf\b"
    r"|python software foundation|isc\b|zlib\b|cc0\b"
    # Of files, and for who changes them: using them asks for nothing.
    r"|mpl[- ]2|mozilla public license 2",
    re.IGNORECASE,
)


def is_allowed(said: Sequence[str]) -> bool:
    """Tell whether something is said, and all of it is allowed."""
    return bool(said) and all(ALLOWED.match(each.strip()) for each in said)


def of_all_dependencies() -> dict[str, list[str]]:
    """Return what each package that the program, its extras and in turn these need says."""
    found: dict[str, list[str]] = {}
    asked = [Requirement(f"mklbench[{','.join(sorted(errors.EXTRAS))}]")]
    visited = set()
    while asked:
        needed = asked.pop()
        name = re.sub(r"[-_.]+", "-", needed.name).lower()
        visit = (name, frozenset(needed.extras))
        if visit in visited:
            continue
        visited.add(visit)
        for each in map(Requirement, importlib.metadata.requires(name) or []):
            chosen = ({"extra": extra} for extra in ("", *needed.extras))
            if each.marker is None or any(each.marker.evaluate(extra) for extra in chosen):
                asked.append(each)
        if name != "mklbench":
            found[name] = _said(name)
    return dict(sorted(found.items()))


def _said(name: str) -> list[str]:
    """Return the licences in the metadata, of the field that says it best."""
    said = importlib.metadata.metadata(name)
    if expressions := said.get_all("License-Expression"):
        # Of "A OR B" a user takes one; here all have to be allowed, which is more.
        return re.split(r"\s+(?:AND|OR)\s+", re.sub("[()]", "", expressions[0]))
    classifiers = [line for line in said.get_all("Classifier") or [] if line.startswith("License")]
    classified = [line.rpartition(" :: ")[2] for line in classifiers]
    classified = [text for text in classified if text != "OSI Approved"]
    return classified or [text.strip().partition("\n")[0] for text in said.get_all("License") or []]


def main() -> int:
    """Print the licences; return 1 if one is not allowed."""
    found = of_all_dependencies()
    for name, said in found.items():
        verdict = "" if is_allowed(said) else "  NOT ALLOWED, or nothing is said"
        print(f"{name} {importlib.metadata.version(name)}: {', '.join(said)}{verdict}")
    wrong = sum(not is_allowed(said) for said in found.values())
    print(f"{len(found)} packages, {wrong} not allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
