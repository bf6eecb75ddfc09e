"""The licences of all that is installed with the program and its extras: `make licences`."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement

from mklbench import extras

# Licences under which a program of BSD-3-Clause may use a package and name it as a dependency, by
# what packages call them: a text that begins so, or a part of an SPDX expression.
ALLOWED = {
    "BSD": r"(new |modified |\d-clause )?bsd\b|0bsd",
    "MIT": r"(the )?mit\b|mit-0|mit-cmu|hpnd",
    "Apache": r"apache\b",
    "PSF": r"psf\b|python software foundation|psf-2\.0",
    "ISC": r"isc\b",
    "Zlib": r"zlib\b",
    "CC0": r"cc0\b",
    # Of files, and for who changes them: using them asks for nothing.
    "MPL": r"mpl[- ]2|mozilla public license 2",
}


@dataclass(frozen=True)
class Licence:
    """What a package says of its licence.

    Attributes
    ----------
    package, version : str
    needed_by : str
        The package that asks for it, the program itself if it does.
    said : tuple of str
        Licences, each by itself: of an SPDX expression, the classifiers or the short field.
    """

    package: str
    version: str
    needed_by: str
    said: tuple[str, ...]

    @property
    def families(self) -> tuple[str | None, ...]:
        """The allowed family of each licence; None for one that is not allowed."""
        return tuple(_family(said) for said in self.said)

    @property
    def is_allowed(self) -> bool:
        """Whether something is said, and all of it is allowed."""
        return bool(self.said) and None not in self.families


def of_all_dependencies() -> list[Licence]:
    """Return the licences of what the program, its extras and in turn these need here."""
    found: dict[str, Licence] = {}
    asked = [(Requirement(f"mklbench[{','.join(sorted(extras._PACKAGES))}]"), "")]
    visited = set()
    while asked:
        needed, by = asked.pop(0)
        name = re.sub(r"[-_.]+", "-", needed.name).lower()
        visit = (name, frozenset(needed.extras))
        if visit in visited:
            continue
        visited.add(visit)
        lines = importlib.metadata.requires(needed.name) or []
        asked += [
            (each, needed.name)
            for each in map(Requirement, lines)
            if _is_asked_for(each, needed.extras)
        ]
        if name != "mklbench" and name not in found:
            found[name] = Licence(name, importlib.metadata.version(name), by, tuple(_said(name)))
    return [found[name] for name in sorted(found)]


def _is_asked_for(needed: Requirement, of_extras: set[str]) -> bool:
    if needed.marker is None:
        return True
    return any(needed.marker.evaluate({"extra": extra}) for extra in ("", *of_extras))


def _said(name: str) -> Iterator[str]:
    """Yield the licences in the metadata, of the field that says it best."""
    said = importlib.metadata.metadata(name)
    classified = [
        line.rpartition(" :: ")[2]
        for line in said.get_all("Classifier") or []
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    if expressions := said.get_all("License-Expression"):
        # Of "A OR B" a user takes one; here all have to be allowed, which is more.
        yield from re.split(r"\s+(?:AND|OR)\s+", re.sub("[()]", "", expressions[0]))
    elif classified:
        yield from classified
    elif texts := said.get_all("License"):
        yield texts[0].strip().partition("\n")[0]


def _family(said: str) -> str | None:
    matching = (name for name, text in ALLOWED.items() if re.match(text, said.strip(), re.I))
    return next(matching, None)


def main() -> int:
    """Print the licences; return 1 if one is not allowed."""
    licences = of_all_dependencies()
    for licence in licences:
        verdict = "" if licence.is_allowed else "  NOT ALLOWED, or nothing is said"
        said = ", ".join(licence.said)
        print(f"{licence.package} {licence.version}: {said} (for {licence.needed_by}){verdict}")
    wrong = sum(not licence.is_allowed for licence in licences)
    print(f"{len(licences)} packages, {wrong} not allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
