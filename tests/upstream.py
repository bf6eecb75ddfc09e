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

SAID = {"ok": "as published", "damaged": "differs", "absent": "gone", "unreadable": "no answer"}


def asked(config: FileConfig) -> list[catalogue.Verified]:
    """Return what each upstream place of a data set has, in each of its editions."""
    return [
        catalogue._verified(edition, place, None)
        for edition in catalogue._editions(config)
        for place in sources.places(edition)
        if place.kind == "upstream"
    ]


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
            f"{one.location}: {SAID[one.status]}, {one.detail}"
            for one in found
            if one.status != "ok"
        ]
        n_ok = len(found) - len(bad)
        print("; ".join([f"{name}: {n_ok} of {len(found)} as published", *bad]), flush=True)
        total.update(one.status for one in found)
    counts = ", ".join(f"{total[status]} {said}" for status, said in SAID.items())
    print(f"{total.total()} files or groups of files: {counts}.")
    return 1 if total["damaged"] or total["absent"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
