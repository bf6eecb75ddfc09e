"""Ask every upstream server of the data sets for its files, and compare them with the digests.

No test, as it needs a network: ``python tests/upstream.py [NAME ...]``. It prints a line for each
data set, and keeps nothing. The exit status is 1 if a file differs or is gone, and 0 if a server
does not answer.
"""

from __future__ import annotations

import sys
from collections import Counter

from mklbench import resources
from mklbench.data import catalogue, sources
from mklbench.data.schema import FileConfig, parse_config

GONE = ("HTTP status 404", "HTTP status 410")


def asked(config: FileConfig) -> list[tuple[str, str, str]]:
    """Return each upstream place of a data set, in each edition, what it has, and the details."""
    found = [
        (place.location, catalogue._verified(edition, place))
        for edition in catalogue._editions(config)
        for place in sources.places(edition)
        if place.kind == "upstream"
    ]
    return [(location, said(one), one.detail) for location, one in found]


def said(found: catalogue.Verified) -> str:
    """Return what is printed of a place; one that is not gone may answer another time."""
    if found.status == "absent":
        return "gone" if found.detail in GONE else "no answer"
    return {"ok": "as published", "damaged": "differs"}[found.status]


def main(names: list[str]) -> int:
    """Ask for the data sets named, or for all; return the exit status."""
    files = resources.choices("data")
    configs = catalogue.read_files(files[name] for name in names or files)
    total: Counter[str] = Counter()
    for name, config in configs.items():
        parsed = None if catalogue._lacks_path(config) else parse_config(config)
        if not isinstance(parsed, FileConfig) or not (found := asked(parsed)):
            continue
        bad = [
            f"{location}: {what}, {detail}"
            for location, what, detail in found
            if what != "as published"
        ]
        n_ok = len(found) - len(bad)
        print("; ".join([f"{name}: {n_ok} of {len(found)} as published", *bad]), flush=True)
        total.update(what for _, what, _ in found)
    counts = ", ".join(f"{number} {what}" for what, number in total.items())
    print(f"{total.total()} files or groups of files: {counts}.")
    return 1 if total["differs"] or total["gone"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
